"""Choosing within a budget, by a compiled depth-first search on gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.exact.budget.budget_rows import Budget, budget_of
from dsprog.exact.budget.budget_search import BudgetSearch
from dsprog.run.needs import Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

LARGEST = 100_000_000  # numbers of a stack


def fits(problem: Problem) -> bool:
    """Whether a stack of candidates for every level can be kept."""
    budget = problem.derived(budget_of)
    return budget is None or (budget.most + 2) * problem.n <= LARGEST


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
