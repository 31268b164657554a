"""The budget of the perspective bound: at most so many of the free features.

With val_j what feature j can gain at the point of the bound (:mod:`dsprog.exact.regression.perspective_bound`), a set
of at most k free features gains no more than the k largest positive val_j, so that

    LB = c - ½ w'Hw - (the sum of the k largest max(0, val_j))

bounds every set that keeps the budget, at any w. With j in, k - 1 others are left: LB rises by what the k-th largest
value is above val_j. With j out, the next one steps in: LB rises by what val_j is above the largest outside the k.

A good w belongs to the right price of a feature. For every price λ >= 0, value(S) >= value(S) + λ (|S| - k): the
problem without a budget and with d + λ in place of d, whose relaxation is descended. Feature j is then taken to the
part z_j = min(1, |w_j| / s_j), s_j its knee, and the price rises or falls with Σ z_j / k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats


class Capped(NamedTuple):
    """What a budget leaves of the gains: the sum of the largest, and the gains that LB rises against."""

    gain: float
    last: float  # the least gain inside the budget: LB rises by (last - val_j)+ with j in
    next: float  # the largest gain outside: LB rises by (val_j - next)+ with j out


def capped(val: Floats, most: int) -> Capped:
    """The gains of at most ``most`` >= 1 features.

    >>> capped(np.array([3.0, -1.0, 2.0, 1.0]), 2)
    Capped(gain=5.0, last=2.0, next=1.0)
    """
    gains = np.maximum(val, 0.0)
    if most >= len(val):
        return Capped(float(gains.sum()), 0.0, 0.0)
    inside = len(val) - most
    gains.partition([inside - 1, inside])
    return Capped(float(gains[inside:].sum()), float(gains[inside]), float(gains[inside - 1]))


def budget_of(problem: Problem) -> int:
    """The most features that a feasible set can have, as rows that count all features alike say it; -1: none can."""
    most = problem.n
    for a, hi in zip(problem.rows.A, problem.rows.relaxed[1]):
        if problem.n and a[0] > 0 and (a == a[0]).all() and hi < a[0] * problem.n:
            most = min(most, -1 if hi < 0.0 else int(np.floor(hi / a[0] * (1 + 1e-12))))
    return most


def only_budgets(problem: Problem) -> bool:
    """Whether every row is a budget from above, which the capped bound takes in full."""
    A, lo = problem.rows.A, problem.rows.lo
    return bool((A[:, :1] == A).all() and (A > 0).all() and (lo <= 0).all()) if problem.n else True
