"""Choosing within a budget: ``python -m benchmarks.budgets [--limit 20] [--quick] [--without BranchAndBound]``.

Every row is one instance and one budget; every column a solver, CPU seconds of one run, ``open`` at the limit.
Published instances are read where the data folder has them, generated ones of the same flavour always. SubModST and
submodKC are C++ codes that are not run here: their figures are quoted from an earlier measurement, and only beside rows
that are known to be the same instance. Their knapsack runs are not among these: the weights used there are not at hand,
and two kinds are drawn here.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import RESULTS, print_machine, save, table
from dsprog.core.constraints import Constraint
from dsprog.core.packages import importable
from dsprog.experiments.data_folder import data_folder
from dsprog.generators import clustered_points, coverage_rewards, facility_rewards, influence_rewards

# SubModST, submodKC, where the optimum that was quoted with the figure says which instance it was
QUOTED = {
    ("facility 60_0", 5): (0.013, 0.05), ("facility 60_0", 8): (0.32, 0.89), ("facility 60_0", 10): (2.2, 4.4),
    ("coverage C.100.8.1", 5): (0.002, 0.003), ("coverage C.100.8.1", 8): (0.078, 0.41),
    ("coverage C.100.8.1", 10): (0.003, 0.003), ("influence I.100.8.1", 5): (0.003, 0.003),
    ("influence I.100.8.1", 8): (0.005, 0.004), ("influence I.100.8.1", 10): (0.018, 0.026),
    ("influence I.100.8.1", 15): (1.5, 2.3),
}  # fmt: skip
SOLVERS: dict[str, Callable[[], ds.Solver | None]] = {
    "default": lambda: None,
    "BudgetBranchAndBound": ds.BudgetBranchAndBound,
    "BranchAndBound": ds.BranchAndBound,
    "CompactModel": ds.CompactModel,
}
QUICK = ("default", "BudgetBranchAndBound")


def medoids(points: np.ndarray) -> ds.FacilityLocation:
    """The largest distance minus distances."""
    d = np.linalg.norm(points[:, None] - points[None], axis=2)
    return ds.FacilityLocation(d.max() - d)


def numbers(path: Path) -> list[np.ndarray]:
    """Lines of numbers."""
    return [np.array(line.strip(",").split(","), dtype=float) for line in path.read_text().split()]


def published(folder: Path) -> Iterator[tuple[str, ds.SetFunction, tuple[int, ...]]]:
    """Instances of the data folder, with their budgets."""
    yield "facility 60_0", ds.FacilityLocation(np.loadtxt(folder / "facility/60_0.txt").T), (5, 8, 10, 15)
    for name in ("C.100.5.1", "C.100.8.1"):
        weights, *members = numbers(folder / f"coverage/{name}.csv")
        yield f"coverage {name}", ds.Coverage(np.array(members), weights), (5, 8, 9, 10)
    for name in ("I.100.5.1", "I.100.8.1"):
        p = np.array(numbers(folder / f"influence/{name}.csv"))
        yield f"influence {name}", ds.ProbabilisticCoverage(p), (5, 8, 10, 15, 20, 25, 30)
    for name, budgets in (
        ("skewed", (5, 8, 10, 20)),
        ("asymmetric", (5, 8, 10, 20, 50)),
        ("a1", (5, 20, 50)),
        ("s1", (10,)),
    ):
        yield f"points {name}", medoids(np.loadtxt(folder / f"points/{name}.txt")), budgets


def generated() -> Iterator[tuple[str, ds.SetFunction, tuple[int, ...]]]:
    """Instances of the same flavour."""
    yield "generated facility 60", facility_rewards(60), (5, 8, 10, 15)
    yield "generated coverage 100", coverage_rewards(100), (5, 8, 10)
    yield "generated influence 100", influence_rewards(100), (5, 8, 10)
    yield "generated points 300", medoids(clustered_points(300)), (5, 10)
    rng = np.random.default_rng(0)
    for n, budgets in ((379, (5, 20)), (889, (5, 10, 20))):
        near = (rng.random((n, n)) < 2.0 / n) | np.eye(n, dtype=bool)
        yield f"generated dominating set {n}", ds.Coverage(near | near.T), budgets


def knapsacks(folder: Path) -> Iterator[tuple[str, ds.SetFunction, ds.Knapsack, str]]:
    """Weights uniform on 1, ..., 100 and on 100, ..., 300."""
    rng = np.random.default_rng(0)
    kinds = {
        "100 to 300": rng.integers(100, 301, 100).astype(float),
        "1 to 100": rng.integers(1, 101, 100).astype(float),
    }
    for kind, weights in kinds.items():
        made = [
            ("generated facility 60", facility_rewards(60), 800),
            ("generated coverage 100", coverage_rewards(100), 800),
        ]
        if folder.exists():
            g = ds.FacilityLocation(np.array(numbers(folder / "facility/L.60.5.1.csv")))
            made += [("facility L.60.5.1", g, 500), ("facility L.60.5.1", g, 800)]
            w, *members = numbers(folder / "coverage/C.100.8.1.csv")
            made.append(("coverage C.100.8.1", ds.Coverage(np.array(members), w), 500))
            p = np.array(numbers(folder / "influence/I.100.8.1.csv"))
            made.append(("influence I.100.8.1", ds.ProbabilisticCoverage(p), 800))
        for name, g, capacity in made:
            yield name, g, ds.Knapsack(weights[: g.n], float(capacity)), f"W = {capacity}, weights {kind}"


def rows() -> Iterator[tuple[str, ds.SetFunction, Constraint, Any]]:
    """Name, reward, constraint, and the budget in words."""
    folder = data_folder() / "choose"
    for source in (published(folder) if folder.exists() else (), generated()):
        for name, g, budgets in source:
            yield from ((name, g, ds.Cardinality(max=k), k) for k in budgets)
    yield from knapsacks(folder)


def natural_model(g: ds.SetFunction, k: Any, limit: float) -> tuple[float, bool]:
    """HiGHS on y_ij <= x_j, Σ_j y_ij <= 1 (facility location) or z_i <= Σ_j x_j (coverage): value, and if proved."""
    import scipy.sparse as sp
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = g.n
    if isinstance(g, ds.Coverage):
        items = len(g.weights)
        A = sp.vstack([sp.hstack([-g.members, sp.eye_array(items)]), row_of_ones(n, items)])
        costs, high = np.append(np.zeros(n), -g.weights), np.append(np.zeros(items), k)
    else:
        i, j = np.nonzero(g.similarity)
        m = len(i)
        here = sp.csr_array((-np.ones(m), (np.arange(m), j)), shape=(m, n))
        once = sp.csr_array((np.ones(m), (i, np.arange(m))), shape=(len(g.similarity), m))
        A = sp.vstack(
            [sp.hstack([here, sp.eye_array(m)]), sp.hstack([sp.csr_array((once.shape[0], n)), once]), row_of_ones(n, m)]
        )
        costs, high = (
            np.append(np.zeros(n), -g.similarity[i, j]),
            np.concatenate([np.zeros(m), np.ones(once.shape[0]), [k]]),
        )
    whole = np.append(np.ones(n), np.zeros(A.shape[1] - n))
    limits = LinearConstraint(sp.csr_array(A), -np.inf, high)
    options = {"time_limit": limit, "mip_rel_gap": 0.0}
    found = milp(costs, integrality=whole, bounds=Bounds(0, 1), constraints=limits, options=options)
    return (np.inf if found.x is None else float(found.fun)), found.status == 0


def row_of_ones(n: int, others: int) -> Any:
    import scipy.sparse as sp

    return sp.csr_array(np.append(np.ones(n), np.zeros(others))[None, :])


def run_row(name: str, g: ds.SetFunction, constraint: Constraint, budget: Any, solvers: Any, limit: float) -> dict:
    """CPU seconds of each solver on one instance; values of all that proved theirs must agree."""
    row: dict[str, Any] = {"instance": name, "k": budget}
    best = np.inf
    for solver in solvers:
        began = time.process_time()
        if solver == "HiGHS, natural model":
            if not isinstance(budget, int) or isinstance(g, ds.ProbabilisticCoverage) or g.n > 300:
                continue
            value, proved = natural_model(g, budget, limit)
        else:
            try:
                result = ds.minimize(-g, SOLVERS[solver](), constraints=[constraint], time_limit=limit)
            except (RuntimeError, ArithmeticError) as error:
                row[solver] = type(error).__name__
                continue
            value, proved = result.value, result.certified
        row[solver] = round(time.process_time() - began, 3) if proved else "open"
        if proved:
            assert np.isinf(best) or abs(value - best) <= 1e-6 * max(1.0, abs(best)), (
                name,
                budget,
                solver,
                value,
                best,
            )
            best = value
    quoted = QUOTED.get((name, budget), (None, None))
    row["SubModST"], row["submodKC"] = ("" if figure is None else figure for figure in quoted)
    return row


def profile(made: list[dict[str, Any]], path: Path, limit: float) -> None:
    """How many rows each solver closes within a factor of the fastest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [key for key in made[0] if key not in ("instance", "k", "SubModST", "submodKC")]
    seconds = np.array(
        [[row.get(name, np.nan) if row.get(name) != "open" else np.inf for name in names] for row in made], dtype=float
    )
    seconds = np.where(np.isnan(seconds), np.inf, np.maximum(seconds, 1e-3))
    with np.errstate(invalid="ignore"):  # rows that nobody closes
        ratios = seconds / seconds.min(axis=1, keepdims=True)
    figure, axes = plt.subplots(figsize=(6, 4))
    for k, name in enumerate(names):
        finite = np.sort(ratios[np.isfinite(ratios[:, k]), k])
        axes.step(
            np.append(1.0, finite), np.append(0, np.arange(1, len(finite) + 1)) / len(made), where="post", label=name
        )
    axes.set(
        xscale="log", xlabel="CPU seconds, as a multiple of the fastest", ylabel=f"part of {len(made)} rows closed"
    )
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--quick", action="store_true", help="only the solvers of this engine")
    parser.add_argument("--without", nargs="*", default=[], help="solvers that are left out")
    options = parser.parse_args()
    if importable("pyscipopt"):
        SOLVERS["Scip"] = ds.Scip
    solvers = QUICK if options.quick else (*SOLVERS, "HiGHS, natural model")
    solvers = tuple(solver for solver in solvers if solver not in options.without)
    print_machine()
    for make in (facility_rewards, coverage_rewards, influence_rewards):  # compiles
        for constraint, k in ((ds.Cardinality(max=4), 4), (ds.Knapsack(np.arange(1.0, 21.0), 30.0), "")):
            run_row("warm", make(20), constraint, k, solvers, 5.0)
    made = []
    for name, g, constraint, budget in rows():
        made.append(run_row(name, g, constraint, budget, solvers, options.limit))
        print(made[-1], flush=True)
    save("budgets", made)
    print(table(made))
    profile(made, RESULTS / "budgets.png", options.limit)


if __name__ == "__main__":
    main()
