"""Is it a polynomial of few neighbours, or a quadratic function, with limits on |S| or without?"""

from __future__ import annotations

from itertools import pairwise

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import count_sizes
from dsprog.exact.elimination.bucket_elimination import WIDEST, order_of
from dsprog.exact.elimination.elimination_order import is_too_wide
from dsprog.exact.quadratic.quadratic_branch_and_bound import SMALL
from dsprog.exact.quadratic.sized_search import sizes_of
from dsprog.presolve.quadratic import form_of, free_form_of

FEW_STATES = 1 << 22  # entries of tables that elimination fills in less time than a quadratic search may take
FEW_SETS = 100_000  # feasible sets that are enumerated
# elements up to which intervals list the best sets sooner, and beyond which a semidefinite bound takes seconds
FEW_SIGNS, MOST_SIGNS = 36, 250


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
    return sizes is not None and count_sizes(form.n, *sizes) > FEW_SETS


def has_many_signs(problem: Problem) -> bool:
    """Quadratic, not submodular, and of a size at which the semidefinite bound without persistency beats intervals."""
    form = problem.derived(form_of)
    return form is not None and FEW_SIGNS <= form.n <= MOST_SIGNS and not form.submodular
