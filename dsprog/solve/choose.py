"""Which solver proves a problem best: the choice that ``minimize`` makes where none is named."""

from __future__ import annotations

from collections.abc import Callable

from dsprog.core.problem import Problem
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.compact.terms import has_model
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound, form_of
from dsprog.functions.mutual_information import MutualInformation, joined
from dsprog.run.solver import Solver

LARGE = 80  # elements beyond which bounds from the parts of terms beat bounds from values
MANY_COLUMNS = 30  # of data, beyond which pairs of rows beat the monotone bound


def default_solver(problem: Problem, checkpoint: bool = False) -> Solver:
    """The first rule that applies, and interval branch and bound where none does.

    Penalised least squares is handed on by ``BranchAndBound`` itself. Where the run is to be saved, only solvers that
    keep checkpoints come into question.
    """
    rules: tuple[tuple[Callable[[Problem], bool], Solver], ...] = (
        (is_quadratic, QuadraticBranchAndBound()),
        (rewards_class_information, CompactModel()),
        (is_large_and_structured, CompactModel()),
    )
    fitting = (solver for applies, solver in rules if applies(problem) and (solver.keeps_checkpoints or not checkpoint))
    return next(fitting, BranchAndBound())


def is_quadratic(problem: Problem) -> bool:
    """An unconstrained sum of cuts, ``Pairwise`` and modular functions."""
    return form_of(problem) is not None


def rewards_class_information(problem: Problem) -> bool:
    """Mutual information of many columns with a class is subtracted, and all else is costs on the columns."""
    if problem.n <= MANY_COLUMNS:
        return False
    terms = joined(problem.objective).terms
    rewards = [h for a, h in terms if a < 0 and isinstance(h, MutualInformation) and h.y is not None]
    costs = [h for _, h in terms if h.knows.modular]
    return len(rewards) == 1 and len(costs) == len(terms) - 1


def is_large_and_structured(problem: Problem) -> bool:
    """Many elements, and every term is a sum of parts that become columns."""
    return problem.n > LARGE and has_model(problem.objective)
