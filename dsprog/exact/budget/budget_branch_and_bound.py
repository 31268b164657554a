"""Choosing within a budget, by a compiled depth-first search on gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.core.gain_model import GainModel
from dsprog.core.problem import Problem
from dsprog.exact.budget.budget_rows import Budget, budget_of
from dsprog.exact.budget.budget_search import BudgetSearch
from dsprog.exact.budget.by_client import prices_of
from dsprog.exact.budget.lazy_search import LazySearch
from dsprog.run.driver import Method
from dsprog.run.needs import Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

FEW, SEVERAL = 5, 15  # elements that are chosen, with costs, and with rewards without thresholds or prices
FEW_ASKED = 6  # elements that are chosen, without costs but modular ones, where gains are not compiled
LARGEST = 100_000_000  # numbers of a stack


def fits(problem: Problem) -> bool:
    """Whether a stack of candidates for every level can be kept."""
    budget = problem.derived(budget_of)
    return budget is None or (budget.most + 2) * problem.n <= LARGEST


def has_lazy_gains(problem: Problem) -> bool:
    """Whether only |S| is limited, and both sides are known to be submodular: old gains are then upper bounds."""
    budget = problem.derived(budget_of)
    limits_size = budget is not None and not budget.knapsack and len(budget.caps) == 0
    return limits_size and problem.objective.is_certifiable


def suits(problem: Problem) -> bool:
    """Whether this is the search to take: a budget that binds, rewards and modular terms whose gains are compiled.

    Measured: costs are bounded by their least marginals alone, which intervals of sets do better beyond few elements,
    and so are rewards without thresholds or prices beyond more.
    """
    budget = problem.derived(budget_of) if problem.constraints and problem.objective.has_gains else None
    if budget is None or not budget.binds or not fits(problem):
        return False
    model = GainModel(problem.n)
    model.enter(problem.objective, np.arange(problem.n), -1.0)
    if model.costs.best or model.costs.alive or model.costs.first:
        return budget.most <= FEW
    if budget.most <= SEVERAL or not (model.rewards.alive or model.rewards.first):
        return True
    return prices_of(model.compiled(), problem.n) > 0


def suits_lazily(problem: Problem) -> bool:
    """Whether gains that are asked for one by one are the way to take: a few elements of many, gains not compiled.

    Measured on callables, entropies and log determinants of 30 to 60 elements: mostly 6 to 30 times fewer values
    than the search of intervals asks for, and less time up to so many chosen elements.
    """
    if not problem.constraints or problem.objective.has_gains or not has_lazy_gains(problem):
        return False
    budget = problem.derived(budget_of)
    assert budget is not None
    return budget.binds and budget.most <= (FEW_ASKED if problem.objective.f.knows.modular else FEW)


BUDGET = Need(
    "constraints that are a budget: Cardinality, Partition or one Knapsack",
    lambda problem: problem.derived(budget_of) is not None,
    "use BranchAndBound",
)
GAINS = Need(
    "terms whose gains are compiled (facility location, coverage, concave functions of weights, modular functions), "
    "or limits on |S| alone and sides that are known to be submodular",
    lambda problem: problem.objective.has_gains or has_lazy_gains(problem),
    "use BranchAndBound",
)
SMALL_STACK = Need(f"n times the budget below {LARGEST:,}", fits, "use CompactModel")


@dataclass(frozen=True)
class BudgetBranchAndBound(SearchSolver):
    """Branch and bound for a budget: |S| <= k, |S| = k, so many of each block, or a knapsack.

    A depth-first search that includes one element after the other, the best gain first, with bounds from gains of
    rewards, from the least marginals of costs, and from thresholds and prices of clients; see
    :mod:`dsprog.exact.budget.depth_first`, :mod:`dsprog.exact.budget.threshold_bound` and
    :mod:`dsprog.exact.budget.price_bound`. Functions whose gains are not
    compiled (callables, entropies, log determinants) are searched in the same way under limits on |S|, with few
    marginals asked for: :mod:`dsprog.exact.budget.lazy_search`.

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

    def method(self, problem: Problem, run: Run) -> Method:
        """The compiled search, or the lazy one where gains are not compiled."""
        budget = problem.derived(budget_of)
        assert isinstance(budget, Budget)
        if problem.objective.has_gains:
            return BudgetSearch(problem, run, budget)
        return LazySearch(problem, run, budget)
