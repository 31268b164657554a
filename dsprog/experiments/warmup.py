"""Compile every kernel once, so that no later run waits for it: `dsprog warmup`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dsprog.applications import max_cut, minimize_labels
from dsprog.applications.features.recipes import feature_selection_objective, logistic_selection_objective
from dsprog.applications.vision import grid_pairs
from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality, Knapsack
from dsprog.core.kernel import compilations
from dsprog.core.problem import as_problem
from dsprog.core.set_function import SetFunction
from dsprog.exact.budget.budget_branch_and_bound import BudgetBranchAndBound
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.functions.spectral import GaussianEntropy
from dsprog.generators import (
    FAMILIES,
    coverage_rewards,
    facility_rewards,
    influence_rewards,
    pairwise_energy,
    sparse_linear_model,
    station_covariance,
)
from dsprog.run.run import Run
from dsprog.solve.enumerate import enumerate_best
from dsprog.solve.maximize import maximize
from dsprog.solve.minimize import minimize
from dsprog.submodular import minimize_submodular

Path = tuple[str, Callable[[], object]]


def paths() -> Iterator[Path]:
    """Small problems of every kind: a name and what to run."""
    for name, family in FAMILIES.items():
        yield name, lambda family=family: minimize(family(9, 0))  # type: ignore[misc]
    concave, coverage = FAMILIES["concave"](12, 0), FAMILIES["coverage"](12, 0)
    yield "budgets", lambda: minimize(concave, BudgetBranchAndBound(), constraints=[Cardinality(max=4)])
    for kind, reward in (
        ("facilities", facility_rewards),
        ("coverage", coverage_rewards),
        ("influence", influence_rewards),
    ):
        rewards = reward(60, 0)  # as sparse as larger ones: their clients are searched in another way than dense ones
        yield f"budgets, {kind}", lambda rewards=rewards: maximize(rewards, constraints=[Cardinality(max=3)])  # type: ignore[misc]
        yield f"exchanges, {kind}", lambda rewards=rewards: exchanges(rewards)  # type: ignore[misc]
    covariance = station_covariance(np.random.default_rng(0), 40)
    yield "stations", lambda: maximize(GaussianEntropy(covariance), constraints=[Cardinality(exactly=6)])
    rows = [Knapsack(np.arange(12) + 1.0, 40.0), Cardinality(min=2)]
    yield "intervals", lambda: minimize(concave, BranchAndBound())
    yield "intervals with rows", lambda: minimize(concave, BranchAndBound(), constraints=rows)
    yield "the best sets", lambda: enumerate_best(concave, 3)
    yield "submodular minimisation", lambda: minimize_submodular(coverage.f + -1.0)
    yield "compact models", lambda: minimize(coverage, CompactModel())
    yield "dense QUBO", lambda: minimize(FAMILIES["pairwise"](45, 0), node_limit=2000)
    yield "QUBO of one size", lambda: minimize(pairwise_energy(40, 0), constraints=[Cardinality(exactly=10)])
    yield "sparse max-cut", lambda: minimize(max_cut(torus(14)), node_limit=1)
    yield "labels", labels
    yield "feature selection", lambda: minimize(regression())
    yield "features within a budget", lambda: minimize(regression(), constraints=[Cardinality(max=5)])
    yield "logistic regression", logistic
    yield "classifiers", classifier


def regression() -> Difference:
    """Penalised least squares that needs a search."""
    X, y, _, _ = sparse_linear_model(np.random.default_rng(0), 60, 30, 8)
    return feature_selection_objective(X, y, lam=0.02)


def exchanges(rewards: SetFunction) -> None:
    """The exchanges that a budgeted search makes when it lasts."""
    problem = as_problem(-1.0 * rewards, (Cardinality(max=3),))
    method = BudgetBranchAndBound().method(problem, Run(problem))
    method.start()
    method.look_further()  # type: ignore[attr-defined]


def torus(size: int) -> np.ndarray:
    """A grid whose sides meet, with signs."""
    rng, A = np.random.default_rng(0), np.zeros((size, size, size, size))
    i, j = np.indices((size, size))
    A[i, j, (i + 1) % size, j] = rng.choice((-1.0, 1.0), (size, size))
    A[i, j, i, (j + 1) % size] = rng.choice((-1.0, 1.0), (size, size))
    flat = A.reshape(size**2, size**2)
    return flat + flat.T


def labels() -> object:
    """Labels of an image, for which moves are made."""
    levels = np.digitize(np.mgrid[:8, :12][1], [3, 6, 9]) + 0.6 * np.random.default_rng(0).normal(size=(8, 12))
    costs = (levels.ravel()[:, None] - np.arange(4)) ** 2
    return minimize_labels(costs, grid_pairs((8, 12), 0.7), 1.0 - np.eye(4))


def logistic() -> object:
    """A penalised logistic regression."""
    X, y, _, _ = sparse_linear_model(np.random.default_rng(0), 60, 10, 3)
    return minimize(logistic_selection_objective(X, np.sign(y), lam=0.02, ridge=0.01), node_limit=20)


def classifier() -> object:
    """A classifier on a few columns, where scikit-learn is installed."""
    try:
        from dsprog.applications.tan.classifier import TANClassifier
    except ImportError:
        return None
    rng = np.random.default_rng(0)
    return TANClassifier().fit(rng.integers(0, 3, (60, 5)), rng.integers(0, 2, 60))


def warm_up() -> str:
    """Run all paths behind a progress bar; what it cost."""
    from rich.progress import track

    before = compilations()
    for _, run in track(list(paths()), description="compiling kernels"):
        run()
    now = compilations()
    count, seconds = now.count - before.count, now.seconds - before.seconds
    return f"{count} kernels compiled in {seconds:.1f} s" if count else "all kernels were there already"
