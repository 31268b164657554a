"""Compile every kernel once, so that no later run waits for it: `dsprog warmup`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dsprog.applications.features.recipes import feature_selection_objective
from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality
from dsprog.core.kernel import compilations
from dsprog.exact.budget.budget_branch_and_bound import BudgetBranchAndBound
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.generators import FAMILIES, coverage_rewards, facility_rewards, influence_rewards, sparse_linear_model
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
    yield "intervals", lambda: minimize(concave, BranchAndBound())
    yield "the best sets", lambda: enumerate_best(concave, 3)
    yield "submodular minimisation", lambda: minimize_submodular(coverage.f + -1.0)
    yield "compact models", lambda: minimize(coverage, CompactModel())
    yield "dense QUBO", lambda: minimize(FAMILIES["pairwise"](45, 0), node_limit=2000)
    yield "feature selection", lambda: minimize(regression())
    yield "classifiers", classifier


def regression() -> Difference:
    """Penalised least squares that needs a search."""
    X, y, _, _ = sparse_linear_model(np.random.default_rng(0), 60, 30, 8)
    return feature_selection_objective(X, y, lam=0.02)


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
