"""Which solver proves a problem best: the choice that ``minimize`` makes where none is named."""

from __future__ import annotations

from dsprog.compact.terms import has_model
from dsprog.functions.mutual_information import MutualInformation, joined
from dsprog.problem import Problem
from dsprog.solvers.branch_and_bound import BranchAndBound
from dsprog.solvers.compact_model import CompactModel
from dsprog.solvers.solver import Solver

LARGE = 80  # elements beyond which bounds from the parts of terms beat bounds from values
MANY_COLUMNS = 30  # of data, beyond which pairs of rows beat the monotone bound


def default_solver(problem: Problem) -> Solver:
    """The first rule that applies, and interval branch and bound where none does."""
    rules = ((rewards_class_information, CompactModel()), (is_large_and_structured, CompactModel()))
    return next((solver for applies, solver in rules if applies(problem)), BranchAndBound())


def rewards_class_information(problem: Problem) -> bool:
    """Mutual information of many columns with a class is subtracted, and all else has a model."""
    if problem.n <= MANY_COLUMNS:
        return False
    terms = joined(problem.objective).terms
    rewarded = any(a < 0 and isinstance(h, MutualInformation) and h.y is not None for a, h in terms)
    return rewarded and all(has_model(h) for _, h in terms)


def is_large_and_structured(problem: Problem) -> bool:
    """Many elements, and every term is a sum of parts that become columns."""
    return problem.n > LARGE and has_model(problem.objective)
