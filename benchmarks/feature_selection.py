"""Exact feature selection: ``python -m benchmarks.feature_selection``.

Sizes and weights of the paper, a smaller p with a smaller weight, many rows, and, on the number of features as penalty,
a comparison with forward selection, the lasso and (where it is installed) l0bnb, which solves the same problem.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import dsprog as ds
from benchmarks.harness import print_machine, save, table
from dsprog.applications import feature_path, feature_selection_objective
from dsprog.generators import sparse_linear_model

Row = dict[str, Any]


def data(seed: int, rows: int, p: int, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
    return sparse_linear_model(np.random.default_rng(seed), rows, p, k)[:2]


def exact_row(
    what: str, seed: int, rows: int, p: int, lam: float, penalty: str, time_limit: float, ridge: float = 0.0
) -> Row:
    objective = feature_selection_objective(*data(seed, rows, p), lam, penalty, ridge)
    cpu = time.process_time()
    result = ds.minimize(objective, time_limit=time_limit)
    seconds = {"seconds": result.seconds, "cpu": time.process_time() - cpu}
    proof = {"certified": result.certified, "gap": result.gap, "nodes": result.nodes}
    answer = {"value": objective(result.S), "size": len(result.S), "S": result.S}
    return {"what": what, "seed": seed, "lam": lam, "ridge": ridge, **answer, **seconds, **proof}


def size_rows(seeds: int, time_limit: float) -> list[Row]:
    settings = [("p=120, n=150", 150, 120, lam) for lam in (0.1, 0.05, 0.03, 0.02, 0.01)] + [
        ("p=60, n=150", 150, 60, 0.003)
    ]
    return [exact_row(w, s, n, p, lam, "nuclear", time_limit) for w, n, p, lam in settings for s in range(seeds)]


def path_rows(time_limit: float) -> list[Row]:
    X, y = data(0, 1000, 100)
    cpu = time.process_time()
    lams = [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003]
    results = feature_path(X, y, lams, time_limit=time_limit)
    total = time.process_time() - cpu
    return [
        {"what": "p=100, n=1000, path", "seed": 0, "lam": lam, "value": r.value, "size": len(r.S), "seconds": r.seconds}
        | {"cpu": total, "certified": r.certified, "gap": r.gap, "nodes": r.nodes}
        for lam, r in zip(lams, results)
    ]


def comparison_rows(seeds: int, time_limit: float) -> list[Row]:
    """min (1/2n) ‖y - X_S w‖² + (ridge/2) ‖w‖² + λ|S|: the value of the set that each method returns."""
    rows = []
    for seed, lam, ridge in itertools.product(range(seeds), (0.3, 0.15), (0.0, 0.1)):
        X, y = data(seed, 150, 120)
        objective = feature_selection_objective(X, y, lam, "cardinality", ridge)
        ours = exact_row("cardinality: dsprog", seed, 150, 120, lam, "cardinality", time_limit, ridge)
        rows.append(ours)
        for name, select in (("forward selection", forward), ("lasso path", lasso)):
            started, cpu = time.perf_counter(), time.process_time()
            value, S = min((objective(S), tuple(S)) for S in select(X, y, objective))
            row = {"what": f"cardinality: {name}", "seed": seed, "lam": lam, "ridge": ridge, "value": value}
            rows.append(
                row | {"size": len(S), "seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
            )
        rows += l0bnb_rows(X, y, objective, ours, time_limit)
    return rows


def forward(X: np.ndarray, y: np.ndarray, objective: ds.Difference) -> list[Any]:
    return [ds.minimize(objective, ds.Greedy()).S]


def lasso(X: np.ndarray, y: np.ndarray, objective: ds.Difference) -> list[Any]:
    from sklearn.linear_model import lasso_path

    return [np.flatnonzero(column) for column in lasso_path(X, y, max_iter=10_000)[1].T]


def l0bnb_rows(X: np.ndarray, y: np.ndarray, objective: ds.Difference, ours: Row, time_limit: float) -> list[Row]:
    """l0bnb with all that helps it: our set as a start, and 1.1 times its largest coefficient for the bound M it needs.

    It minimises ½ ‖y - Xw‖² + λ₀ |S| + λ₂ ‖w‖² over |w| <= M, up to a relative gap of 1 % as it does by default.
    """
    setattr(np, "Inf", np.inf)  # noqa: B010  # l0bnb was written for NumPy 1
    try:
        from l0bnb import BNBTree
    except ImportError:
        return []
    n, S = len(y), list(ours["S"])
    w = np.zeros(X.shape[1])
    w[S] = np.linalg.solve(X[:, S].T @ X[:, S] + n * ours["ridge"] * np.eye(len(S)), X[:, S].T @ y)
    started, cpu = time.perf_counter(), time.process_time()
    limits = {"warm_start": w, "time_limit": time_limit}
    solution = BNBTree(X, y).solve(n * ours["lam"], n * ours["ridge"] / 2, 1.1 * np.abs(w).max(), **limits)
    cost = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
    support = np.flatnonzero(solution.beta)
    row = {key: ours[key] for key in ("seed", "lam", "ridge")} | {"what": "cardinality: l0bnb"}
    return [row | {"value": objective(support), "size": len(support), **cost, "gap": solution.gap}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    parts: list[Callable[[], list[Row]]] = [
        lambda: size_rows(options.seeds, options.time_limit),
        lambda: path_rows(options.time_limit),
        lambda: comparison_rows(options.seeds, options.time_limit),
    ]
    rows: list[Row] = []
    with threadpool_limits(limits=1):
        exact_row("compile", 0, 30, 12, 0.03, "nuclear", 1.0)
        for part in parts:
            rows += part()
            save("feature_selection", rows)
    print_machine()
    print(table(rows))


if __name__ == "__main__":
    main()
