"""Who solves: the rules that ``minimize`` follows where no solver is named. The first one that applies decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.views import View
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.determinant.determinant_branch_and_bound import DeterminantBranchAndBound
from dsprog.exact.determinant.determinant_problem import rewards_definite_determinants
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound
from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound, has_definite_loss
from dsprog.functions.mutual_information import MutualInformation
from dsprog.presolve.quadratic import free_form_of
from dsprog.run.run import Run
from dsprog.run.solver import Solver

LARGE = 80  # elements beyond which bounds from the parts of terms beat bounds from values
MOST_ENTRIES = 300_000  # of groups: a programme of more rows takes minutes to build
MANY_COLUMNS = 30  # of data, beyond which pairs of rows beat the monotone bound


def is_quadratic(problem: Problem) -> bool:
    """A sum of cuts, ``Pairwise`` and modular functions, without constraints."""
    return free_form_of(problem) is not None


def rewards_class_information(problem: Problem) -> bool:
    """Mutual information of many columns with a class is subtracted, and all else is costs on the columns."""
    if problem.n <= MANY_COLUMNS:
        return False
    terms = problem.objective.terms
    rewards = [h for a, h in terms if a < 0 and informs_about_class(h)]
    costs = [h for _, h in terms if h.knows.modular]
    return len(rewards) == 1 and len(costs) == len(terms) - 1


def informs_about_class(h: SetFunction) -> bool:
    """Whether a function, seen through restrictions, is information with a class."""
    while isinstance(h, View):
        h = h.function
    return isinstance(h, MutualInformation) and h.y is not None


def is_large_and_structured(problem: Problem) -> bool:
    """Many elements, and every term is a sum of parts that become columns, not too many of them."""
    if problem.n <= LARGE or not problem.objective.has_columns:
        return False
    return sum(map(len, problem.objective.groups())) <= MOST_ENTRIES


@dataclass(frozen=True)
class Rule:
    """When a solver is the one to take, and why, in words for the log."""

    applies: Callable[[Problem], bool]
    solver: Callable[[], Solver]
    why: str


RULES = (
    Rule(is_quadratic, QuadraticBranchAndBound, "a quadratic function without constraints"),
    Rule(rewards_definite_determinants, DeterminantBranchAndBound, "log determinants against modular costs"),
    Rule(has_definite_loss, PerspectiveBranchAndBound, "least squares with a submodular penalty"),
    Rule(rewards_class_information, CompactModel, "information with a class against the costs of many columns"),
    Rule(is_large_and_structured, CompactModel, f"more than {LARGE} elements, and every term is a sum of parts"),
    Rule(lambda problem: True, BranchAndBound, "f - g in general, with or without constraints"),
)


@dataclass(frozen=True)
class Choice:
    """A solver, why it was taken, and who steps in if a programme fails that it rests on."""

    solver: Solver
    why: str
    instead: Solver | None = None


def choose(problem: Problem, run: Run) -> Choice:
    """The first rule that applies and whose solver can do what the run wants: resume, list several sets."""
    for rule in RULES:
        if rule.applies(problem):
            solver = rule.solver()
            able = (solver.resumes or run.checkpoint is None) and (solver.lists or not run.lists)
            if able and all(need.holds(problem) for need in solver.needs()):
                instead = None if rule is RULES[-1] else RULES[-1].solver()
                return Choice(solver, rule.why, instead)
    raise AssertionError("the last rule always applies")
