"""Do the terms consist of parts that become columns of a programme, and is that worth while?"""

from __future__ import annotations

from dsprog.core.problem import Problem

LARGE = 80  # elements beyond which bounds from the parts of terms may beat bounds from values
MOST_ENTRIES = 300_000  # of groups: a programme of more rows takes minutes to build


def is_large_and_structured(problem: Problem) -> bool:
    """Many elements, and every term is a sum of parts that become columns, not too many of them."""
    if problem.n <= LARGE or not problem.objective.has_columns:
        return False
    return sum(map(len, problem.objective.groups())) <= MOST_ENTRIES
