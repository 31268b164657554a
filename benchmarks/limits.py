"""Whether time limits hold: ``python -m benchmarks.limits``.

Problems that are far too large for their limit. Seconds of the clock beyond it, how the run was left, and its bound;
kernels are compiled before.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import dsprog as ds
from benchmarks.harness import print_machine, save, table
from dsprog.applications import feature_selection_objective
from dsprog.generators import FAMILIES, facility_difference

RNG = np.random.default_rng


def large_qubo() -> ds.SetFunction:
    """3,000 variables, a tenth of all pairs."""
    rng, n = RNG(0), 3000
    pairs = np.triu(rng.integers(-100, 101, (n, n)) * (rng.random((n, n)) < 0.1), 1)
    return ds.Pairwise(pairs, rng.integers(-100, 101, n))


def dense_cut() -> ds.SetFunction:
    """Max-cut of a random graph of 100 vertices."""
    upper = np.triu(RNG(0).random((100, 100)) < 0.5, 1).astype(float)
    return -1.0 * ds.Cut(upper + upper.T)


def blocks() -> ds.SetFunction:
    """100 components of twelve elements."""
    import scipy.linalg

    rng = RNG(0)
    sides = [scipy.linalg.block_diag(*[rng.random((8, 12)) for _ in range(100)]) for _ in range(2)]
    return ds.ConcaveOfModular(sides[0]) - ds.ConcaveOfModular(sides[1])


def wide_regression() -> ds.SetFunction:
    """300 features and 200 rows."""
    X = RNG(0).normal(size=(200, 300))
    return feature_selection_objective(X, X[:, :5].sum(axis=1) + RNG(1).normal(size=200), lam=0.01)


PROBLEMS: dict[str, tuple[Callable[[], ds.SetFunction], float]] = {
    "QUBO, n = 3000": (large_qubo, 1.0),
    "facility, n = 1000": (lambda: facility_difference(1000, 0), 1.0),
    "100 components": (blocks, 1.0),
    "least squares, p = 300 > rows": (wide_regression, 5.0),
    "max-cut, n = 100": (dense_cut, 5.0),
    "concave, n = 80": (lambda: FAMILIES["concave"](80, 0), 2.0),
    "log det, n = 60": (lambda: FAMILIES["logdet"](60, 0), 2.0),
    "callable, n = 40": (lambda: FAMILIES["callable"](40, 0), 2.0),
}


def run_row(name: str) -> dict[str, object]:
    """One problem to its limit."""
    make, limit = PROBLEMS[name]
    objective = make()
    began = time.perf_counter()
    result = ds.minimize(objective, time_limit=limit)
    taken = time.perf_counter() - began
    return {
        "problem": name,
        "limit": limit,
        "over": round(taken - limit, 2),
        "status": result.status,
        "value": round(result.value, 4),
        "bound": round(result.lower_bound, 4),
        "solver": result.solver,
    }


def main() -> None:
    for name in ("concave", "facility", "logdet", "pairwise", "coverage", "callable"):
        ds.minimize(FAMILIES[name](10, 0))
    ds.minimize(dense_cut(), node_limit=3)
    print_machine()
    rows = [run_row(name) for name in PROBLEMS]
    save("limits", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
