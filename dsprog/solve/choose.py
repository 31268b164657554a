"""Who solves: the rules that ``minimize`` follows where no solver is named. The first one that applies decides.

What a rule asks of a problem is in ``solve/rules``, or beside the engine if it alone can say it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsprog.core.problem import Problem
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.budget.budget_branch_and_bound import BudgetBranchAndBound, suits, suits_lazily
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.determinant.determinant_branch_and_bound import DeterminantBranchAndBound
from dsprog.exact.determinant.determinant_problem import rewards_definite_determinants
from dsprog.exact.elimination.bucket_elimination import BucketElimination
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound
from dsprog.exact.race import Race
from dsprog.exact.regression.perspective_branch_and_bound import (
    PerspectiveBranchAndBound,
    has_definite_loss,
    has_definite_loss_of_all,
)
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.solve.rules.number_of_sets import has_few_sets, has_very_few_sets
from dsprog.solve.rules.parts_of_terms import LARGE, is_large_and_structured
from dsprog.solve.rules.polynomials import has_many_signs, is_narrow, is_quadratic, is_quadratic_of_some_sizes
from dsprog.solve.rules.rewards import (
    has_large_table_of_benefits,
    rewards_best_benefits,
    rewards_class_information,
    rewards_determinants_of_some_sizes,
)


def always(problem: Problem) -> bool:
    """Every problem."""
    return True


@dataclass(frozen=True)
class Rule:
    """When a solver is the one to take, and why, in words for the log; and when also for the K best sets."""

    applies: Callable[[Problem], bool]
    solver: Callable[[], Solver]
    why: str
    for_lists: Callable[[Problem], bool] = always


LOOK_AT_ALL = "so few sets that all are looked at"
MANY_PARTS = f"more than {LARGE} elements, and every term is a sum of parts"
RULES = (
    Rule(has_very_few_sets, BruteForce, LOOK_AT_ALL),
    Rule(is_narrow, BucketElimination, "few elements are joined at a time"),
    Rule(is_quadratic, QuadraticBranchAndBound, "a quadratic function without constraints", has_many_signs),
    Rule(is_quadratic_of_some_sizes, QuadraticBranchAndBound, "a quadratic function over the sets of some sizes"),
    Rule(
        has_definite_loss,
        PerspectiveBranchAndBound,
        "least squares with a submodular penalty",
        has_definite_loss_of_all,
    ),
    Rule(has_large_table_of_benefits, CompactModel, "best benefits of many elements, and a budget that is not small"),
    Rule(suits, BudgetBranchAndBound, "a budget, and gains that are compiled"),
    Rule(rewards_determinants_of_some_sizes, DeterminantBranchAndBound, "log determinants over the sets of some sizes"),
    Rule(has_few_sets, BruteForce, LOOK_AT_ALL),
    Rule(rewards_definite_determinants, DeterminantBranchAndBound, "log determinants against modular costs"),
    Rule(rewards_class_information, CompactModel, "information with a class against the costs of many columns"),
    Rule(rewards_best_benefits, CompactModel, "costs less best benefits, under rows that share no element"),
    Rule(is_large_and_structured, Race, MANY_PARTS),
    Rule(is_large_and_structured, CompactModel, MANY_PARTS),  # which keeps checkpoints
    Rule(suits_lazily, BudgetBranchAndBound, "a few of many elements, and gains that are asked for where they matter"),
    Rule(always, BranchAndBound, "f - g in general, with or without constraints"),
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
            able = (solver.resumes or run.checkpoint is None) and (
                not run.lists or (solver.lists and rule.for_lists(problem))
            )
            if able and all(need.holds(problem) for need in solver.needs()):
                instead = None if rule is RULES[-1] else RULES[-1].solver()
                return Choice(solver, rule.why, instead)
    raise AssertionError("the last rule always applies")
