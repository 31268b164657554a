"""The long ascent of the threshold bound at the root: the bound, good sets, and elements decided by reduced costs."""

from __future__ import annotations

import math

import numpy as np

from dsprog.approximate.local_search import offer_local_optima
from dsprog.core.problem import Problem
from dsprog.core.validation import Masks
from dsprog.exact.compact.maxima import Maxima
from dsprog.exact.compact.thresholds import SHORTEST, ThresholdBound
from dsprog.run.run import Run

ROUNDS = 40
STARTS = 20
PROMISING = 100  # elements of least reduced cost that exchanges look at, and three times the size of the set
STEPS = 20  # in a round, before elements are decided and sets are looked for


class RootAscent:
    """The interval [I, U] that has all sets below the cutoff, its ``lower`` bound, and ``decided``, that of the rest.

    Making one computes nothing; :meth:`go` does.
    """

    def __init__(self, maxima: Maxima, problem: Problem, run: Run, tolerance: float = 0.0) -> None:
        self.tolerance = tolerance  # how far below the cutoff a bound may stay
        self.bound, self.problem, self.run = ThresholdBound(maxima, problem), problem, run
        self.I, self.U = np.zeros(problem.n, dtype=bool), np.ones(problem.n, dtype=bool)
        self.lower, self.decided = -math.inf, math.inf
        self.walk = self.bound.walk(maxima.floor)

    @property
    def closed(self) -> bool:
        """Whether no better set is left."""
        return self.lower >= self.cutoff

    @property
    def cutoff(self) -> float:
        """What a bound must reach."""
        return self.run.cutoff - self.tolerance

    def go(self) -> RootAscent:
        """Rounds until the bound closes the problem, does not move any more, or the run says stop."""
        mask = self.bound.greedy()
        # halfway between what clients have of a good set and their next best
        table = np.vstack([self.bound.maxima.floor, self.bound.maxima.benefits[mask]])
        self.walk = self.bound.walk(np.sort(table, axis=0)[-2:].mean(axis=0))
        self._climb(1)
        self._offer(mask)
        if self.run.mask is None:  # rows that a greedy set does not keep
            offer_local_optima(self.problem, self.run, STARTS)
        for _ in range(ROUNDS):
            if self.closed or self.run.stop_reason() is not None or self.walk.numbers[1] < SHORTEST:
                break
            if not math.isfinite(self.run.value) or self.I.sum() == self.U.sum():
                break
            self._climb(STEPS)
            self._offer(self.bound.minimiser(self.I, self.U, self.walk))
            self._settle()
        return self

    def _climb(self, steps: int) -> None:
        bound = self.bound.climb(self.I, self.U, self.walk, self.run.value, self.cutoff, steps)
        self.lower = max(self.lower, bound)
        self.run.raise_bound(min(self.lower, self.decided, self.run.value))

    def _settle(self) -> None:
        self.I, self.U, decided, feasible = self.bound.settle(self.I, self.U, self.walk, self.cutoff)
        self.decided = min(self.decided, decided)
        if not feasible:
            self.lower = math.inf

    def _offer(self, mask: Masks) -> None:
        free = np.flatnonzero(self.U & ~self.I)
        promising = free[np.argsort(self.walk.reduced[0, free], kind="stable")[: 3 * int(mask.sum()) + PROMISING]]
        self.run.offer(*self.bound.improved(mask, promising), "thresholds")
