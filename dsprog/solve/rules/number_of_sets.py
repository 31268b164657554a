"""Are there so few sets that all of them are looked at?"""

from __future__ import annotations

import math

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.exact.few_sets import few_sets
from dsprog.functions.from_callable import FromCallable

VERY_FEW, FEW = 1 << 12, 1 << 16  # sets that are all looked at: whatever the family, and if no engine is apt
FEW_FEASIBLE = 200_000  # sets that constraints leave, where no engine is apt
MOST_WORK = 25_000_000  # sets times numbers in the data of their functions: some 50 milliseconds


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


def sets_left(problem: Problem) -> int:
    """How many sets there are, as far as rows that count elements say it."""
    return problem.derived(few_sets).count if len(problem.rows) else 1 << problem.n


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
