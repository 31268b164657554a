"""Exact solvers side by side: ``python -m benchmarks.exact_solvers``.

A solver that reaches the time limit on every seed of a size is not tried on larger ones. Kernels are compiled before
anything is timed. Rows are saved as they come; ``--draw`` only draws what was saved.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from typing import Any

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import RESULTS, referee, save, table

OURS = "BranchAndBound"
CONTESTANTS: dict[str, tuple[ds.Solver, int]] = {  # with the largest n that is tried
    OURS: (ds.BranchAndBound(), 1000),
    "SCIP branch and cut": (ds.Scip(), 30),
    "Prismatic, optimum": (ds.Prismatic(subdivision="optimum", no_goods=True), 20),
    "BruteForce": (ds.BruteForce(), 20),
}


def run_row(letter: str, name: str, n: int, seed: int, time_limit: float) -> dict[str, Any]:
    """One solver on one instance: wall and CPU seconds of the solve alone, value recomputed."""
    family = BENCHMARK_FAMILIES[letter]
    objective, solver = family.build(n, seed), CONTESTANTS[name][0]
    started, cpu = time.perf_counter(), time.process_time()
    result = ds.minimize(objective, solver, constraints=family.constraints(n), time_limit=time_limit)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    row = {"family": f"{letter} {family.name}", "n": n, "seed": seed, "solver": name, "status": result.status}
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    numbers = {"seconds": seconds, "cpu_seconds": cpu, "nodes": result.nodes, "peak_MB": round(megabytes)}
    return {**row, **numbers, **referee(objective, result.S, result.lower_bound)}


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for letter in options.families.split(","):
        done: set[str] = set()
        for name in CONTESTANTS:  # compile
            run_row(letter, name, 6, 0, 5.0)
        for n in [n for n in BENCHMARK_FAMILIES[letter].sizes if n <= options.largest]:
            for name, (_, largest) in CONTESTANTS.items():
                if n > largest or name in done:
                    continue
                limit = options.time_limit if name == OURS else options.others_limit
                fresh = [run_row(letter, name, n, seed, limit) for seed in range(options.seeds)]
                if all(row["status"] == "time_limit" for row in fresh):
                    done.add(name)
                rows += fresh
                save("exact", rows)
                print(table(summary(fresh)).splitlines()[-1], flush=True)
    return rows


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over seeds, and the speed of BranchAndBound over each other solver where both finished."""
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["family"], row["n"], row["solver"]), []).append(row)
    lines = []
    for (family, n, solver), group in groups.items():
        ours = {row["seed"]: row["cpu_seconds"] for row in groups.get((family, n, OURS), [])}
        solved = [row for row in group if row["status"] == "optimal"]
        ratios = [row["cpu_seconds"] / ours[row["seed"]] for row in solved if row["seed"] in ours]
        lines.append(
            {
                "family": family,
                "n": n,
                "solver": solver,
                "solved": f"{len(solved)}/{len(group)}",
                "wall s": round(statistics.median(row["seconds"] for row in group), 3),
                "cpu s": round(statistics.median(row["cpu_seconds"] for row in group), 3),
                "worst cpu s": round(max(row["cpu_seconds"] for row in group), 3),
                "nodes": int(statistics.median(row["nodes"] for row in group)),
                "slower than ours": f"{statistics.median(ratios):.3g} times" if ratios and solver != OURS else "",
            }
        )
    return lines


def draw(rows: list[dict[str, Any]]) -> None:
    """Nodes and CPU seconds of BranchAndBound against n, a line for each family."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lines = [line for line in summary(rows) if line["solver"] == OURS]
    for family in sorted({line["family"] for line in lines}):
        own = [line for line in lines if line["family"] == family]
        for axis, key, least in zip(axes, ("nodes", "cpu s"), (1, 1e-3)):
            axis.plot(
                [line["n"] for line in own], [max(line[key], least) for line in own], marker="o", ms=4, label=family
            )
    for axis, name in zip(axes, ("nodes", "CPU seconds")):
        axis.set(yscale="log", xlabel="n", ylabel=name)
        axis.grid(alpha=0.3)
    axes[1].legend(frameon=False, fontsize=8)
    figure.suptitle("BranchAndBound: cost as n grows (median of the seeds)")
    figure.savefig(RESULTS.parent / "growth.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=180.0, help="seconds for BranchAndBound")
    parser.add_argument("--others-limit", type=float, default=60.0, help="seconds for the others")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--families", default=",".join(BENCHMARK_FAMILIES), help="letters with commas between")
    parser.add_argument("--largest", type=int, default=1000, help="largest n")
    parser.add_argument("--draw", action="store_true", help="only draw the saved rows")
    options = parser.parse_args()
    rows = json.loads((RESULTS / "exact.json").read_text())["rows"] if options.draw else run(options)
    print(table(sorted(summary(rows), key=lambda line: line["family"])))
    draw(rows)


if __name__ == "__main__":
    main()
