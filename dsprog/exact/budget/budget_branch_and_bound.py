"""Choosing within a budget, by a compiled depth-first search on gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.core.gain_model import GainModel
from dsprog.core.problem import Problem
from dsprog.exact.budget.budget_rows import Budget, budget_of
from dsprog.exact.budget.budget_search import BudgetSearch
from dsprog.run.needs import Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

FEW, SEVERAL = 5, 15  # elements that are chosen, with costs, and with rewards that have no thresholds
LARGEST = 100_000_000  # numbers of a stack


def fits(problem: Problem) -> bool:
    """Whether a stack of candidates for every level can be kept."""
    budget = problem.derived(budget_of)
    return budget is None or (budget.most + 2) * problem.n <= LARGEST


def suits(problem: Problem) -> bool:
    """Whether this is the search to take: a budget that binds, rewards and modular terms whose gains are compiled.

    Measured: costs are bounded by their least marginals alone, which intervals of sets do better beyond few elements,
    and so are rewards without thresholds beyond more.
    """
    budget = problem.derived(budget_of) if problem.constraints and problem.objective.has_gains else None
    if budget is None or not budget.binds or not fits(problem):
        return False
    model = GainModel(problem.n)
    model.enter(problem.objective, np.arange(problem.n), -1.0)
    if model.costs.best or model.costs.alive or model.costs.first:
        return budget.most <= FEW
    return budget.most <= SEVERAL or not (model.rewards.alive or model.rewards.first)


BUDGET = Need(
    "constraints that are a budget: Cardinality, Partition or one Knapsack",
    lambda problem: problem.derived(budget_of) is not None,
    "use BranchAndBound",
)
GAINS = Need(
    "terms whose gains are compiled (facility location, coverage, concave functions of weights, modular functions)",
    lambda problem: problem.objective.has_gains,
    "use BranchAndBound",
)
SMALL_STACK = Need(f"n times the budget below {LARGEST:,}", fits, "use CompactModel")


@dataclass(frozen=True)
class BudgetBranchAndBound(SearchSolver):
    """Branch and bound for a budget: |S| <= k, |S| = k, so many of each block, or a knapsack.

    A depth-first search that includes one element after the other, the best gain first, with bounds from gains of
    rewards, from the least marginals of costs, and from thresholds of clients; see
    :mod:`dsprog.exact.budget.depth_first` and :mod:`dsprog.exact.budget.threshold_bound`.

    Examples
    --------
    >>> import dsprog as ds
    >>> benefits = ds.FacilityLocation([[3.0, 1.0, 2.0], [0.0, 2.0, 2.0], [4.0, 0.0, 3.0]])
    >>> result = ds.minimize(-benefits, ds.BudgetBranchAndBound(), constraints=[ds.Cardinality(max=1)])
    >>> result.S, result.value, result.certified
    ((0,), -7.0, True)
    """

    lists: ClassVar[bool] = True
    presolved: ClassVar[bool] = True

    def needs(self) -> tuple[Need, ...]:
        """A budget, and gains."""
        return BUDGET, GAINS, SMALL_STACK

    def method(self, problem: Problem, run: Run) -> BudgetSearch:
        """The search."""
        budget = problem.derived(budget_of)
        assert isinstance(budget, Budget)
        return BudgetSearch(problem, run, budget)
