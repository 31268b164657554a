"""The loss that bounds a search for few features: the loss itself, or one that is below it on all sets of that size.

Where the columns are dependent or nearly so, the quadratic form of the loss is replaced by G + t (U - kρ I) with
0 < t <= 1, which is definite, and below it at every vector of at most k nonzeros
(:mod:`dsprog.exact.regression.sparse_certificate`). A small t gives away little at the sets that matter, a large one
leaves room for the diagonal: the one of the best bound at the root is taken. Bounds, boxes and fixings that rest on it
hold for the loss; sets are valued by the loss itself.

The programme raises the least eigenvalue until many are equal, so that the identity is nearly the best direction for D.
What a step of the diagonal gains at the root beyond it is lost many times at nodes below, whose point is another:
D stays near the identity (200 × 300, k = 8: 100 nodes instead of 800).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dsprog.core.problem import Problem
from dsprog.exact.regression.budget import budget_of
from dsprog.exact.regression.losses import loss_of
from dsprog.exact.regression.relaxation import SMALLEST, Loss
from dsprog.exact.regression.sparse_certificate import SparseEigenvalue, shifted
from dsprog.exact.regression.worthwhile import most_worthwhile

MOST_PRICED = 500  # features up to which a price is asked for a budget, by several such programmes
MOST_FEATURES = 1000  # beyond which an eigenvalue decomposition takes too long
WORK = 12 * 300**3  # steps times n³ that may be spent to learn whether there is a definite form at all
WEAK, FEW_FEATURES = 0.012, 400  # an eigenvalue below which a definite loss is compared with forms below it
LEAST_STEPS, MOST_STEPS = 4, 40
FLAT = 0.4  # least D_j in units of the least eigenvalue of such a form, half of which is D at first
PARTS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.08)  # t


def most_features_of(problem: Problem) -> int:
    """The most features of a set worth finding: by the budget or, where dependent columns want one, by their price."""
    loss, k = problem.derived(loss_of), budget_of(problem)
    if not isinstance(loss, Loss) or loss.is_definite or k < problem.n:
        return k
    if len(problem.rows) or not 0 < problem.n <= MOST_PRICED:
        return k
    return most_worthwhile(problem, loss, steps_for(problem.n))


def can_be_programmed(problem: Problem) -> bool:
    """Whether there are so few features that a semidefinite programme of them ends soon."""
    return problem.n <= MOST_FEATURES


def steps_for(n: int) -> int:
    """Steps that may be spent to learn whether there is a definite form at all."""
    return max(LEAST_STEPS, min(MOST_STEPS, WORK // n**3))


def sparse_eigenvalue_of(problem: Problem) -> SparseEigenvalue | None:
    """The search for a definite form, continued until it has one; None if there is none to be had in little time."""
    loss, k = problem.derived(loss_of), problem.derived(most_features_of)
    if not isinstance(loss, Loss) or not 2 <= k < problem.n or not can_be_programmed(problem):
        return None
    programme = SparseEigenvalue(loss.G, k)
    programme.advance(steps_for(problem.n), enough=SMALLEST)
    return programme if programme.best.eigenvalue >= SMALLEST else None


def is_weak(loss: Loss) -> bool:
    """Whether a definite loss bounds so badly, and has so few features, that a form below it is worth a look."""
    return loss.least_eigenvalue < WEAK and len(loss.b) <= FEW_FEATURES


def bounding_loss(
    loss: Loss, programme: SparseEigenvalue, bound: Callable[[Loss], float], stop: Callable[[], bool]
) -> Loss:
    """The form of the best bound; the programme has its last steps first, unless it is told to stop."""
    programme.advance(MOST_STEPS, stop=stop)
    best, highest = (loss, bound(loss)) if loss.is_definite else (None, -np.inf)
    for part in PARTS:
        low = replace(loss, G=shifted(loss.G, programme.best, part), floor=FLAT)
        if stop() and best is not None:
            break
        lower = bound(low) if low.is_definite else -np.inf
        if lower > highest:
            best, highest = low, lower
    return best or replace(loss, G=shifted(loss.G, programme.best, 1.0), floor=FLAT)
