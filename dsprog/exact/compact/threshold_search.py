"""Branch and bound on elements with threshold bounds, for costs less best benefits: k-medoids, facilities, coverage.

A node is an interval [I, U] with the thresholds of its parent, from which a few steps lead to its own. An expansion
dives: of the two children of a node the one of lower bound is looked at next, the other stays open.
"""

from __future__ import annotations

import math
from functools import cached_property, partial

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Masks
from dsprog.exact.compact.ascent import RootAscent
from dsprog.exact.compact.maxima import Maxima
from dsprog.exact.compact.thresholds import ThresholdBound, ThresholdWalk
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

STEPS = 30  # of a node, before and after its reduced costs have decided elements
SHARPER = 0.01  # of the tolerance of programmes
LARGEST_ROUNDING = 1e-7  # in units of the data
PROOF = "compact model: threshold bounds of best benefits, branching on elements"


class ThresholdSearch(Method):
    """The mathematics of a run of :class:`dsprog.CompactModel` on a table of best benefits."""

    def __init__(self, problem: Problem, run: Run, maxima: Maxima, tolerance: float) -> None:
        super().__init__(problem, run)
        self.maxima, self.relative = maxima, tolerance

    @cached_property
    def tolerance(self) -> float:
        """How close to the cutoff a bound must come: subgradient steps come near an optimum and seldom reach it."""
        return SHARPER * self.relative * self.unit

    @cached_property
    def unit(self) -> float:
        """The size of the data: the largest gain or cost of an element."""
        gains = self.maxima.slopes(np.arange(self.problem.n), self.maxima.floor)
        return float(max(gains.max(initial=0.0), np.abs(self.maxima.costs).max(initial=0.0)))

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """What the tolerance leaves open counts as proved, unless it is large for the data."""
        return min(2 * self.tolerance, LARGEST_ROUNDING * self.unit)

    @cached_property
    def bound(self) -> ThresholdBound:
        """What bounds an interval."""
        return ThresholdBound(self.maxima, self.problem)

    def root(self) -> Bundle:
        """All sets, after a long ascent; those that it left out have its bound ``decided``."""
        found = RootAscent(self.maxima, self.problem, self.run, self.tolerance).go()
        return node(found.I, found.U, found.walk, min(found.lower, found.decided))

    def proof(self) -> str:
        """What closed the nodes."""
        return PROOF

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Dive from a node."""
        here, left, closed, count = bundle, [], [math.inf], 0
        nothing = np.zeros((0, self.problem.n), dtype=bool)
        while True:
            children, bounds = self._children(here, min(cutoff, self.run.cutoff) - self.tolerance)
            closed[0], count = min(closed[0], bounds), count + 1
            left += sorted(children, key=lambda child: -float(child["lower"][0]))
            if not children or self.run.pause(count, "thresholds", partial(frontier_of, left, closed)):
                return Expansion(left, count, nothing, np.zeros(0), closed[0], "thresholds")
            here = left.pop()

    def _children(self, here: Bundle, cutoff: float) -> tuple[list[Bundle], float]:
        """The halves that are left of a node, and the least bound of what was closed."""
        I, U, average = here["I"][0], here["U"][0], here["average"][0]
        free = np.flatnonzero(U & ~I)
        if len(free) == 0:
            return [], self._leaf(I)
        # the element that the relaxation is least sure of
        j = free[np.abs(average[free] - 0.5).argmin()]
        children, closed = [], math.inf
        for include in (True, False):
            child_I, child_U = I.copy(), U.copy()
            child_I[j] = child_U[j] = include
            child, bounds = self._child(child_I, child_U, here, cutoff)
            closed = min(closed, bounds)
            children += [] if child is None else [child]
        return children, closed

    def _leaf(self, I: Masks) -> float:
        """The value of the only set that is left, which is offered; infinite if it is not feasible."""
        if not self.problem.feasible(I[None, :])[0]:
            return math.inf
        value = self.problem.objective.values(I[None, :])
        self.run.offer(I[None, :], value, "thresholds")
        return float(value[0])

    def _child(self, I: Masks, U: Masks, parent: Bundle, cutoff: float) -> tuple[Bundle | None, float]:
        include, exclude, possible = propagate(self.problem.rows, {"I": I[None, :], "U": U[None, :]})
        if not possible[0]:
            return None, math.inf
        I, U, closed = I | include[0], U & ~exclude[0], math.inf
        walk, lower = self.bound.walk(parent["tau"][0]), float(parent["lower"][0])
        walk.average[:] = parent["average"][0]
        for _ in range(2):
            if (I == U).all():
                return None, min(closed, self._leaf(I))
            lower = max(lower, self.bound.climb(I, U, walk, self.run.value, cutoff, STEPS))
            if lower >= cutoff:
                return None, min(closed, lower)
            self._look(I, U, walk, lower)
            cutoff, size = min(cutoff, self.run.cutoff - self.tolerance), int(I.sum() + (~U).sum())
            I, U, decided, feasible = self.bound.settle(I, U, walk, cutoff)
            closed = min(closed, decided)
            if not feasible:
                return None, closed
            if int(I.sum() + (~U).sum()) == size:
                break
        if lower >= cutoff:
            return None, min(closed, lower)
        return node(I, U, walk, lower), closed

    def _look(self, I: Masks, U: Masks, walk: ThresholdWalk, lower: float) -> None:
        """Offer the set that a bound is about; exchanges only where it is not much worse than the best."""
        mask, value = self.bound.minimiser(I, U, walk), self.run.value
        if self.maxima.value(np.flatnonzero(mask)) < value + max(0.0, value - lower):
            self.run.offer(*self.bound.improved(mask, np.flatnonzero(U & ~I)), "thresholds")


def node(I: Masks, U: Masks, walk: ThresholdWalk, lower: float) -> Bundle:
    """One interval; thresholds are kept in short, since any are valid."""
    tau, average = walk.tau.astype(np.float32), walk.average.astype(np.float32)
    arrays = {"I": I, "U": U, "tau": tau, "average": average}
    return {"lower": np.array([lower]), **{name: array[None, :] for name, array in arrays.items()}}


def frontier_of(left: list[Bundle], closed: list[float]) -> tuple[int, float]:
    """How many nodes are open, and what all prove."""
    return len(left), min([*closed, *(float(bundle["lower"][0]) for bundle in left)])
