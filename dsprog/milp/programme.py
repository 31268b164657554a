"""Small dense programmes with binary columns, as prisms have them, solved to a gap of zero.

A programme is

    min  c·z + d·λ    such that    L z + W λ = b,    R z >= r,    z in its box, some of z integer,    λ >= 0.

It is built once. Afterwards rows R z >= r are added and (W, d) are exchanged, in place where the solver can do that.
What comes back is the *dual* bound, lowered by what the solver's own tolerances may hide: a set that the solver has
missed by rounding is not lost. The arrays are kept beside the solver's object, so a programme can be pickled and
built again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import Floats


class ProgrammeFailed(RuntimeError):
    """No solver could treat a programme; what was proved before stands."""


@dataclass(frozen=True)
class Optimum:
    """What a solver found.

    ``status`` is "optimal", "infeasible" or "limit" (out of time); ``bound`` is valid in each case, +inf if there is no
    feasible point; ``z`` and ``weights`` (λ) are there if it is optimal.
    """

    status: str
    bound: float
    z: Floats | None = None
    weights: Floats | None = None


class Programme(ABC):
    """The arrays of a programme; a subclass adds a solver."""

    tolerance: ClassVar[float]

    def __init__(
        self,
        c: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        integer: ArrayLike,
        L: Floats,
        b: ArrayLike,
        threads: int,
    ) -> None:
        self.c = np.asarray(c, dtype=float)
        self.lower, self.upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        self.integer = np.broadcast_to(np.asarray(integer, dtype=bool), self.c.shape)
        self.L, self.b, self.threads = np.asarray(L, dtype=float), np.asarray(b, dtype=float), threads
        self.R, self.r = np.zeros((0, len(self.c))), np.zeros(0)
        self.W, self.d = np.zeros((len(self.b), 0)), np.zeros(0)

    def require(self, R: ArrayLike, r: ArrayLike) -> None:
        """Add the rows R z >= r."""
        self.R, self.r = np.vstack([self.R, clean(R)]), np.append(self.r, r)

    def exchange(self, W: ArrayLike, d: ArrayLike) -> None:
        """Put other columns λ in place of those that are there."""
        self.W, self.d = clean(W), clean(d)

    @property
    def rounding(self) -> float:
        """What the tolerances of the solver may hide in a value."""
        return 10 * self.tolerance * (1.0 + float(np.abs(self.d).max(initial=np.abs(self.c).max(initial=0.0))))

    @abstractmethod
    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""

    def _optimum(self, y: ArrayLike, value: float, dual_bound: float) -> Optimum:
        split, columns = len(self.c), np.asarray(y, dtype=float)
        return Optimum("optimal", min(value, dual_bound) - self.rounding, columns[:split], columns[split:])

    def _stacked(self) -> tuple[Floats, Floats, Floats]:
        """All rows as lower <= A y <= upper with y = (z, λ)."""
        A = np.block([[self.L, self.W], [self.R, np.zeros((len(self.r), len(self.d)))]])
        return A, np.concatenate([self.b, self.r]), np.concatenate([self.b, np.full(len(self.r), np.inf)])

    def _boxes(self) -> tuple[Floats, Floats, Floats]:
        """Costs, lower and upper limits of y = (z, λ)."""
        costs, more = np.concatenate([self.c, self.d]), len(self.d)
        return costs, np.append(self.lower, np.zeros(more)), np.append(self.upper, np.full(more, np.inf))


def clean(numbers: ArrayLike) -> Floats:
    """Without digits that are rounding, far below the tolerances: HiGHS stumbles over costs such as 1e-16."""
    return np.round(np.asarray(numbers, dtype=float), 12)
