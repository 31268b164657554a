"""The prismatic algorithm: time of a programme, and the largest n solved: ``python -m benchmarks.prismatic_sizes``."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import print_machine, save, table
from dsprog.exact.prismatic import prism
from dsprog.generators import FAMILIES

CHOSEN = ("concave", "coverage", "logdet", "cut")
SETTINGS = {
    "the paper's": ds.Prismatic(),
    "optimum": ds.Prismatic(subdivision="optimum"),
    "no-goods": ds.Prismatic(no_goods=True),
}


def recorded(objective: ds.Difference, iterations: int) -> list[tuple[Any, ...]]:
    """The programmes of a run: vertices, ĝ there, and the rows that were new."""
    seen, rows, real = [], [0], prism.prism_bound

    def record(model: Any, vertices: Any, g_hat: Any, time_limit: float) -> Any:
        seen.append((vertices, g_hat, model.R[rows[0] :], model.r[rows[0] :], model.lower[-1]))
        rows[0] = len(model.r)
        return real(model, vertices, g_hat, time_limit)

    prism.prism_bound = record
    try:
        ds.minimize(objective, ds.Prismatic(), node_limit=iterations)
    finally:
        prism.prism_bound = real
    return seen


def replayed(programmes: list[tuple[Any, ...]], n: int, backend: str) -> tuple[float, list[float]]:
    """Milliseconds a programme, and the bounds."""
    model, bounds = prism.prism_programme(n, programmes[0][-1], "bilp", backend), []
    started = time.perf_counter()
    for vertices, g_hat, R, r, _ in programmes:
        model.require(R, r)
        bounds.append(prism.prism_bound(model, vertices, g_hat).beta)
    return 1e3 * (time.perf_counter() - started) / len(programmes), bounds


def programme_rows(iterations: int = 40) -> list[dict[str, Any]]:
    """HiGHS changed in place against the plain call of scipy.optimize.milp, on the programmes of the same runs."""
    rows = []
    for n in (10, 20):
        for family in CHOSEN:
            programmes = recorded(FAMILIES[family](n, 0), iterations)
            fast, bounds = min(replayed(programmes, n, "highs") for _ in range(3))
            plain, others = min(replayed(programmes, n, "scipy") for _ in range(3))
            np.testing.assert_allclose(bounds, others, atol=1e-4)
            row = {"family": family, "n": n, "programmes": len(programmes), "HiGHS in place, ms": fast}
            rows.append({**row, "scipy milp, ms": plain, "ratio": plain / fast})
    return rows


def size_rows(time_limit: float, largest: int = 20) -> list[dict[str, Any]]:
    """The largest n that each setting proves within the limit, with its seconds and iterations."""
    rows = []
    for family in CHOSEN:
        row: dict[str, Any] = {"family": family}
        for name, solver in SETTINGS.items():
            ds.minimize(FAMILIES[family](4, 0), solver, node_limit=3)
            row[name] = "-"
            for n in range(3, largest + 1):
                result = ds.minimize(FAMILIES[family](n, 0), solver, time_limit=time_limit)
                if not result.certified:
                    break
                row[name] = f"{n} ({result.seconds:.2g} s, {result.nodes:,})"
            print(family, name, row[name], flush=True)
        rows.append(row)
        save("prismatic-sizes", rows)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    rows = programme_rows()
    save("prismatic-programmes", rows)
    print_machine()
    print(table(rows), "\n", flush=True)
    print(table(size_rows(options.time_limit)))


if __name__ == "__main__":
    main()
