"""What the constraints let one do to a feasible set: leave an element out, add one, put one in place of another.

For sets of an interval [I, U], a side of a row lo <= a·S <= hi is *binding* unless every set of the interval keeps it.
An element may be left out of any feasible set if a_k >= 0 where hi binds and a_k <= 0 where lo binds, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.constraints import TOLERANCE, Cardinality, Constraint, LinearConstraint, LinearRows
from dsprog.core.validation import Ints, Masks


@dataclass(frozen=True)
class Moves:
    """The rows of which a side binds on an interval, and that which they allow."""

    rows: LinearRows
    low: Masks  # whether lo binds, row by row
    high: Masks

    @property
    def removable(self) -> Masks:
        """Elements k such that S∖k is feasible if S is."""
        return self._never_wrong(-self.rows.A)

    @property
    def addable(self) -> Masks:
        """Elements j such that S ∪ j is feasible if S is."""
        return self._never_wrong(self.rows.A)

    def replaceable(self) -> Masks:
        """[j, k]: whether S∖k ∪ j is feasible if S is, for S with k, with or without j."""
        n = self.rows.A.shape[1]
        allowed = np.repeat(self.removable[None, :], n, axis=0)
        for a, low, high in zip(self.rows.A, self.low, self.high):
            change = a[:, None] - a[None, :]
            allowed &= ~(high & (change > 0)) & ~(low & (change < 0))
        return allowed

    def _never_wrong(self, change: np.ndarray) -> Masks:
        """Whether a change of the rows by a column keeps every side that binds."""
        wrong = (self.high[:, None] & (change > 0)) | (self.low[:, None] & (change < 0))
        return np.asarray(~wrong.any(axis=0))


def moves(rows: LinearRows, I: Masks, U: Masks) -> Moves:
    """Of an interval."""
    free = U & ~I
    inside = rows.A @ I
    least, most = (inside + (np.minimum(sign * rows.A, 0.0) @ free) * sign for sign in (1.0, -1.0))
    lo, hi = rows.relaxed
    low, high = least < lo, most > hi
    binding = low | high
    return Moves(LinearRows(rows.A[binding], rows.lo[binding], rows.hi[binding]), low[binding], high[binding])


def restricted(rows: LinearRows, I: Masks, component: Ints) -> tuple[Constraint, ...]:
    """The rows as constraints on a component, the elements of I being there and all others not.

    The limits are those with their tolerance, since what is taken off changes what a tolerance is relative to.
    """
    found: list[Constraint] = []
    for a, lo, hi in zip(rows.A, *rows.relaxed):
        if a[component].any():
            taken = float(a @ I)
            found.append(constraint(a[component], lo - taken, hi - taken))
    return tuple(found)


def constraint(a: np.ndarray, lo: float, hi: float) -> Constraint:
    """A row as the constraint that solvers know best."""
    smallest, largest = max(0.0, np.ceil(lo - TOLERANCE)), min(float(len(a)), np.floor(hi + TOLERANCE))
    if (a == 1.0).all() and smallest <= largest:
        return Cardinality(int(smallest), int(largest))
    return LinearConstraint(a, lo, hi)
