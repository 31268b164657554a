"""Exact solvers side by side: ``python -m benchmarks.exact``."""

from __future__ import annotations

import argparse

from benchmarks.harness import modules, run_row, save, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for instance in modules("benchmarks.instances"):
        for n in instance.SIZES:
            for seed in range(options.seeds):
                for solver in modules("benchmarks.solvers"):
                    rows.append(run_row(instance, solver, n, seed, options.time_limit))
                    save("exact", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
