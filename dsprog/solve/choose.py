"""Who solves: the rules that ``minimize`` follows where no solver is named. The first one that applies decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.views import View
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.budget.budget_branch_and_bound import BudgetBranchAndBound, suits, suits_lazily
from dsprog.exact.budget.budget_rows import budget_of
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.compact.maxima import maxima_of
from dsprog.exact.determinant.determinant_branch_and_bound import DeterminantBranchAndBound
from dsprog.exact.determinant.determinant_problem import rewards_definite_determinants
from dsprog.exact.elimination.bucket_elimination import WIDEST, BucketElimination, order_of
from dsprog.exact.elimination.elimination_order import is_too_wide
from dsprog.exact.few_sets import few_sets
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import SMALL, QuadraticBranchAndBound
from dsprog.exact.quadratic.sized_search import sizes_of
from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound, has_definite_loss
from dsprog.functions.from_callable import FromCallable
from dsprog.functions.mutual_information import MutualInformation
from dsprog.presolve.quadratic import form_of, free_form_of
from dsprog.run.run import Run
from dsprog.run.solver import Solver

LARGE = 80  # elements beyond which bounds from the parts of terms beat bounds from values
MOST_ENTRIES = 300_000  # of groups: a programme of more rows takes minutes to build
MANY_COLUMNS = 30  # of data, beyond which pairs of rows beat the monotone bound
VERY_FEW, FEW = 1 << 12, 1 << 16  # sets that are all looked at: whatever the family, and if no engine is apt
MANY_POINTS, MANY_CHOSEN = 150, 10  # elements, and those that are chosen, from which on they are branched on
FEW_FEASIBLE = 200_000  # sets that constraints leave, where no engine is apt
MOST_WORK = 25_000_000  # sets times numbers in the data of their functions: some 50 milliseconds


# elements up to which intervals list the best sets sooner, and beyond which a semidefinite bound takes seconds
FEW_SIGNS, MOST_SIGNS = 36, 250
FEW_SETS = 100_000  # feasible sets that are enumerated
FEW_STATES = 1 << 22  # entries of tables that elimination fills in less time than a quadratic search may take


def is_narrow(problem: Problem) -> bool:
    """A polynomial whose elements have few neighbours in a good order; a quadratic one only if tables are small."""
    if problem.constraints or problem.n == 0 or not problem.objective.has_gain_table:
        return False
    form = problem.derived(form_of)
    if form is not None and (form.submodular or form.n <= SMALL or form_is_wide(form)):
        return False
    order = problem.derived(order_of)
    if order is None or order.width > WIDEST:
        return False
    return form is None or (2 * order.width <= problem.n and order.states <= FEW_STATES)


def form_is_wide(form: QuadraticForm) -> bool:
    """Whether no order can have tables that are small enough; it takes less than looking for one."""
    indptr, indices = form.pairs.indptr.tolist(), form.pairs.indices.tolist()
    near = [set(indices[start:end]) for start, end in pairwise(indptr)]
    return is_too_wide(near, min(form.n // 2, FEW_STATES.bit_length() - 1))


def is_quadratic(problem: Problem) -> bool:
    """A sum of cuts, ``Pairwise`` and modular functions, without constraints."""
    return free_form_of(problem) is not None


def is_quadratic_of_some_sizes(problem: Problem) -> bool:
    """The same with limits on |S|, and so many sets of these sizes that a search must not look at each."""
    form = problem.derived(form_of)
    if form is None or form.n > MOST_SIGNS or not form.pairs.nnz:
        return False
    sizes = problem.derived(sizes_of)  # by a set of every size, so only where there are few elements
    return sizes is not None and sum(comb(form.n, k) for k in range(max(0, sizes[0]), sizes[1] + 1)) > FEW_SETS


def has_many_signs(problem: Problem) -> bool:
    """Quadratic, not submodular, and of a size at which the semidefinite bound without persistency beats intervals."""
    form = problem.derived(form_of)
    return form is not None and FEW_SIGNS <= form.n <= MOST_SIGNS and not form.submodular


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


def rewards_best_benefits(problem: Problem) -> bool:
    """Costs less best benefits (facility location, k-medoids, coverage) under rows that share no element: a budget, a
    knapsack, one of each group. Thresholds then nearly reach the linear relaxation in milliseconds; measured against
    the programme: facilities and k-medoids of 60 to 300 elements, budgets of 5 to 15, 14 to 220 times sooner; coverage
    by 100 sets, whose relaxation is weaker, between 30 times sooner and a third slower.
    """
    return problem.rows.disjoint and problem.derived(maxima_of) is not None


def has_large_table_of_benefits(problem: Problem) -> bool:
    """The same, where most elements have a benefit for most clients, elements are many and the budget is not small.

    Branching on elements is then better than including one after the other. Measured on k-medoids of 300 to 1,500
    points with k = 10 to 50: 1.1 to 8 times sooner in 17 of 18 rows, four times later in the other; with 60 elements,
    or sparse benefits as in coverage, it mostly is not.
    """
    if problem.n < MANY_POINTS or not problem.constraints or not rewards_best_benefits(problem):
        return False
    budget, maxima = problem.derived(budget_of), problem.derived(maxima_of)
    if budget is None or maxima is None or budget.most < MANY_CHOSEN:
        return False
    return bool(2 * np.count_nonzero(maxima.benefits) > maxima.benefits.size)


def is_large_and_structured(problem: Problem) -> bool:
    """Many elements, and every term is a sum of parts that become columns, not too many of them."""
    if problem.n <= LARGE or not problem.objective.has_columns:
        return False
    return sum(map(len, problem.objective.groups())) <= MOST_ENTRIES


def rewards_determinants_of_some_sizes(problem: Problem) -> bool:
    """Log determinants against modular costs under a budget; measured, the 39,711 sets of 60 among 63 elements take a
    twentieth of the time of their values.
    """
    return len(problem.rows) > 0 and rewards_definite_determinants(problem)


def sets_left(problem: Problem) -> int:
    """How many sets there are, as far as rows that count elements say it."""
    return problem.derived(few_sets).count if len(problem.rows) else 1 << problem.n


def has_very_few_sets(problem: Problem) -> bool:
    """So few that no engine would be quicker."""
    return are_quick(problem, VERY_FEW, MOST_WORK)


def has_few_sets(problem: Problem) -> bool:
    """So few sets, of functions so small, that the values of all of them take milliseconds; a little longer where
    constraints leave few of many, which bounds find harder.

    A search takes as long to begin, and in a first run on a machine has far more to compile.
    """
    if len(problem.rows) and are_quick(problem, FEW_FEASIBLE, 10 * MOST_WORK):
        return True
    return are_quick(problem, FEW, MOST_WORK)


def are_quick(problem: Problem, most: int, work: int) -> bool:
    """At most so many sets, of functions whose data are so small that their values are no more than so much work."""
    if not problem.objective.is_certifiable:
        return False
    count = sets_left(problem)
    return count <= most and count * sum(map(data_size, problem.objective.inner())) <= work


def data_size(value: object) -> float:
    """How many numbers a family was given, which is about what a value costs; infinity for code that is not ours."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, SetFunction):
        if isinstance(value, FromCallable) or not type(value).__module__.startswith("dsprog."):
            return math.inf
        try:
            return value.n + sum(map(data_size, value.parameters().values()))
        except AttributeError:  # it does not store its arguments
            return math.inf
    if isinstance(value, (tuple, list)):
        return sum(map(data_size, value))
    if hasattr(value, "nnz"):
        return float(value.nnz)
    return math.inf if callable(value) else 0


@dataclass(frozen=True)
class Rule:
    """When a solver is the one to take, and why, in words for the log; and when also for the K best sets."""

    applies: Callable[[Problem], bool]
    solver: Callable[[], Solver]
    why: str
    for_lists: Callable[[Problem], bool] = lambda problem: True


LOOK_AT_ALL = "so few sets that all are looked at"
RULES = (
    Rule(has_very_few_sets, BruteForce, LOOK_AT_ALL),
    Rule(is_narrow, BucketElimination, "few elements are joined at a time"),
    Rule(is_quadratic, QuadraticBranchAndBound, "a quadratic function without constraints", has_many_signs),
    Rule(is_quadratic_of_some_sizes, QuadraticBranchAndBound, "a quadratic function over the sets of some sizes"),
    Rule(has_definite_loss, PerspectiveBranchAndBound, "least squares with a submodular penalty"),
    Rule(has_large_table_of_benefits, CompactModel, "best benefits of many elements, and a budget that is not small"),
    Rule(suits, BudgetBranchAndBound, "a budget, and gains that are compiled"),
    Rule(rewards_determinants_of_some_sizes, DeterminantBranchAndBound, "log determinants over the sets of some sizes"),
    Rule(has_few_sets, BruteForce, LOOK_AT_ALL),
    Rule(rewards_definite_determinants, DeterminantBranchAndBound, "log determinants against modular costs"),
    Rule(rewards_class_information, CompactModel, "information with a class against the costs of many columns"),
    Rule(rewards_best_benefits, CompactModel, "costs less best benefits, under rows that share no element"),
    Rule(is_large_and_structured, CompactModel, f"more than {LARGE} elements, and every term is a sum of parts"),
    Rule(suits_lazily, BudgetBranchAndBound, "a few of many elements, and gains that are asked for where they matter"),
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
            able = (solver.resumes or run.checkpoint is None) and (
                not run.lists or (solver.lists and rule.for_lists(problem))
            )
            if able and all(need.holds(problem) for need in solver.needs()):
                instead = None if rule is RULES[-1] else RULES[-1].solver()
                return Choice(solver, rule.why, instead)
    raise AssertionError("the last rule always applies")
