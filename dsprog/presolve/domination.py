"""Elements that another does better: duplicates, and those that are dominated.

j *spans* k in h if h(S ∪ jk) = h(S ∪ j) for every S. For increasing submodular h this holds if h(jk) = h(j), since
0 <= h(S ∪ jk) - h(S ∪ j) <= h(jk) - h(j); for information with a class, which is not submodular, if column j tells
column k. Let every term be increasing, except modular costs c. If

- j spans k in every term that is subtracted:  h(S ∪ j) = h(S ∪ jk) >= h(S ∪ k),
- k spans j in every term that is added:       h(S ∪ j) <= h(S ∪ jk) = h(S ∪ k),
- c_k >= c_j and c_k >= 0,

then k is dominated by j, and some optimum omits k: without j in the set, k is replaced by j; with j there, leaving k
out changes no subtracted term, lowers or keeps the others, and saves c_k. Constraints must allow both. Elements that
dominate each other are duplicates, of which one stays.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from dsprog.core.algebra import Term
from dsprog.core.modular import Modular
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.presolve.exchange import moves
from dsprog.presolve.fixing import everything
from dsprog.presolve.quadratic import free_form_of
from dsprog.presolve.step import Interval, Step, Wishes

MOST = 1000  # elements up to which all pairs are looked at


class Dominated(Step):
    """Duplicates, and elements that another does better."""

    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether all pairs can be looked at, and roof duality has not done more."""
        return free_form_of(problem) is None and problem.objective.is_certifiable and 0 < problem.n <= MOST

    def seconds(self, problem: Problem) -> float:
        """All marginals at every single element, from those at two."""
        began = time.perf_counter()
        problem.objective.marginals(np.eye(min(problem.n, 2), problem.n, dtype=bool))
        return 0.5 * problem.n * (time.perf_counter() - began)

    def apply(self, problem: Problem) -> Interval | None:
        """Leave out what some optimum omits."""
        worse = dominated(problem)
        if not worse.any():
            return None
        return Interval(problem, np.zeros_like(worse), ~worse, f"{int(worse.sum())} dominated or duplicate")


def dominated(problem: Problem) -> Masks:
    """Elements that some optimum omits because another takes their place."""
    n, objective = problem.n, problem.objective
    better = dominations(objective.terms, n)
    if better is None:
        return np.zeros(n, dtype=bool)
    I, U = everything(n)
    better &= moves(problem.rows, I, U).replaceable()
    costs = modular_part(objective.terms, n)
    kept = np.ones(n, dtype=bool)
    for k in np.lexsort((np.arange(n), costs))[::-1]:
        kept[k] = not (better[:, k] & kept).any()
    return ~kept


def dominations(terms: Iterable[Term], n: int) -> Masks | None:
    """[j, k]: whether k is dominated by j; None where a term does not say what spans what."""
    terms = list(terms)
    costs = modular_part(terms, n)
    better = (costs[None, :] >= np.maximum(costs[:, None], 0.0)) & ~np.eye(n, dtype=bool)
    for a, h in terms:
        if not isinstance(h, Modular):
            spanned = h.spans()
            if spanned is None:
                return None
            better &= spanned.T if a > 0 else spanned
    return better


def modular_part(terms: Iterable[Term], n: int) -> Floats:
    """The weights of the modular terms."""
    parts = (a * h.weights for a, h in terms if isinstance(h, Modular))
    return sum(parts, np.zeros(n))
