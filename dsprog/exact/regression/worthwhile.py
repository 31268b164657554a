"""How many features an optimum can have at all: a price makes a budget, where the columns are dependent.

Let v be the value of some set. As no loss is below 0, and the penalty is submodular with what each feature adds to all
others m_j = penalty(j | V∖j), a set S that is no worse has

    penalty(∅) + Σ_{j∈S} m_j <= v - loss(S) <= v - LB,    so that |S| <= k

for the largest k whose k least m_j fit. LB is 0 at first. Any k columns may be independent though all of them are not
(:mod:`dsprog.exact.regression.sparse_certificate`), and then the perspective bound of the loss alone over the sets of
at most k features is a better LB, and k may become smaller, until it does not. The set of value v has no more than k
features itself, so that bounds over the sets of at most k features are bounds over all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dsprog.core.algebra import Sum
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats
from dsprog.exact.regression.forward_swaps import forward_and_swaps
from dsprog.exact.regression.relaxation import SMALLEST, Loss
from dsprog.exact.regression.root_node import root_bound
from dsprog.exact.regression.sparse_certificate import SparseEigenvalue, shifted
from dsprog.functions.nuclear import NuclearNorm

MOST_FOUND = 30  # features of the set that is known
MOST_NUCLEAR = 150  # features beyond which what each adds to all others costs seconds
MOST_WORTHWHILE = 40  # beyond which so many columns are hardly independent


def most_worthwhile(problem: Problem, loss: Loss, steps: int) -> int:
    """The most features that a set as good as a known one can have, 2 at least; n where prices do not say it."""
    n = problem.n
    if n > MOST_NUCLEAR and any(isinstance(term.function, NuclearNorm) for term in loss.penalty.terms):
        return n
    known = forward_and_swaps(loss, np.zeros(n, dtype=bool), min(n, MOST_FOUND))
    value = float(problem.objective.values(known[None])[0]) + problem.slack
    none, everything = np.zeros((1, n), dtype=bool), np.ones((1, n), dtype=bool)
    room = value - float(loss.penalty.values(none)[0])
    sums = np.cumsum(np.sort(loss.penalty.marginals(everything)[0]))
    most = fitting(sums, room)
    while 2 < most <= MOST_WORTHWHILE:
        programme = SparseEigenvalue(loss.G, most)
        programme.advance(steps, enough=np.inf)
        fewer = fitting(sums, room - loss_bound(loss, programme, most))
        if fewer >= most:
            break
        most = fewer
    return min(n, max(2, most)) if most <= MOST_WORTHWHILE else n


def fitting(sums: Floats, room: float) -> int:
    """The largest k whose sum is within the room.

    >>> fitting(np.array([-1.0, 0.5, 2.0]), 1.0), fitting(np.array([-1.0, 0.5, 2.0]), -0.5)
    (2, 1)
    """
    fits = np.flatnonzero(np.append(0.0, sums) <= room)
    return int(fits[-1]) if len(fits) else 0


def loss_bound(loss: Loss, programme: SparseEigenvalue, most: int) -> float:
    """A bound on the loss of all sets of at most so many features; 0 if the form below it is not definite."""
    low = replace(loss, G=shifted(loss.G, programme.best, 1.0), penalty=Sum(len(loss.b), []))
    if programme.best.eigenvalue < SMALLEST or not low.is_definite:
        return 0.0
    return max(0.0, root_bound(low, np.zeros(len(loss.b)), most))
