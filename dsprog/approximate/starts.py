"""Where an approximate solver starts: sets that keep the constraints, one for each restart.

A frame is what Include, Exclude and Cardinality say together: I ⊆ S ⊆ U and smallest <= |S| <= largest. Over a frame a
modular function has a minimiser that is read off its sorted weights, and the minimiser of a random modular function is
a random set of the frame. Other rows are kept by repair (:mod:`dsprog.approximate.repair`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsprog.approximate.repair import cheapest_set, repaired
from dsprog.core.constraints import ROUNDING, Cardinality, Constraint, Exclude, Include, LinearRows, all_rows
from dsprog.core.problem import Problem
from dsprog.core.rows import kept_with
from dsprog.core.validation import Floats, Masks, as_mask, count_sizes
from dsprog.run.run import Run

DRAWS = 50  # batches of random sets before a start is given up


@dataclass(frozen=True)
class Frame:
    """The sets S with include ⊆ S ⊆ within and smallest <= |S| <= largest; ``others`` are the constraints beyond.

    Where ``mirrored``, the sets are complements of those that ``others`` speak of.
    """

    include: Masks
    within: Masks
    smallest: int
    largest: int
    others: tuple[Constraint, ...]
    mirrored: bool = False

    @property
    def empty(self) -> bool:
        """Whether no set is left."""
        forced, allowed = int(self.include.sum()), int(self.within.sum())
        outside = bool((self.include & ~self.within).any())
        return outside or max(self.smallest, forced) > min(self.largest, allowed)

    @property
    def count(self) -> int:
        """How many sets it has; beyond some 10^18 the count is not finished."""
        forced, free = int(self.include.sum()), int((self.within & ~self.include).sum())
        return count_sizes(free, max(0, self.smallest - forced), min(free, self.largest - forced))

    def least(self, weights: Floats) -> Masks:
        """For each row of weights a set of the frame that minimises Σ_{j∈S} weights_j.

        Take the forced elements, then the others in rising order of weight: as many as the smallest size asks for, and
        beyond that those of negative weight while the largest size allows. An exchange argument shows that no set of
        the frame weighs less.
        """
        order = np.argsort(weights, axis=1, kind="stable")
        ranked = np.take_along_axis(weights, order, axis=1)
        free = (self.within & ~self.include)[order]
        place = np.cumsum(free, axis=1) + int(self.include.sum())
        chosen = free & (place <= self.largest) & ((place <= self.smallest) | (ranked < 0))
        masks = np.empty(weights.shape, dtype=bool)
        np.put_along_axis(masks, order, chosen, axis=1)
        return masks | self.include

    def complement(self) -> Frame:
        """The frame of the complements."""
        n = len(self.include)
        return Frame(~self.within, ~self.include, n - self.largest, n - self.smallest, self.others, not self.mirrored)

    def satisfied(self, masks: Masks) -> Masks:
        """Whether each row is a set of the frame that satisfies the other constraints too."""
        sizes = masks.sum(axis=1)
        inside = (masks >= self.include).all(axis=1) & (masks <= self.within).all(axis=1)
        sized = (sizes >= self.smallest) & (sizes <= self.largest)
        return inside & sized & self._given.satisfied(~masks if self.mirrored else masks)

    @cached_property
    def rest(self) -> LinearRows:
        """The other constraints as rows on sets of this frame: lo <= A(V∖S) <= hi is A·1 - hi <= A S <= A·1 - lo."""
        rows = self._given
        if not self.mirrored:
            return rows
        total = rows.A.sum(axis=1)
        return LinearRows(rows.A, total - rows.hi, total - rows.lo)

    @cached_property
    def _given(self) -> LinearRows:
        return all_rows(self.others, len(self.include))

    @cached_property
    def costs(self) -> Floats | None:
        """What each element takes of upper limits, in parts of them; None where no row asks different amounts."""
        A, room = np.maximum(self.rest.A, 0.0), self.rest.relaxed[1] - np.minimum(self.rest.A, 0.0).sum(axis=1)
        largest, least = A.max(axis=1, initial=0.0), np.where(A > 0, A, np.inf).min(axis=1, initial=np.inf)
        limited = (largest > least) & np.isfinite(room) & (room > 0)
        if not limited.any():
            return None
        costs = (A[limited] / room[limited, None]).sum(axis=0)
        return np.asarray(np.maximum(costs, 1e-3 * costs.mean()))

    def additions(self, masks: Masks) -> Masks:
        """Which elements may be added to each set: inside U, not beyond the largest size, nor against another row.

        S ∪ k is against a row if no set between S ∪ k and U keeps it: if A(S ∪ k) and all that could still lower it is
        above hi, or A(S ∪ k) and all that could raise it below lo.
        """
        allowed = ~masks & self.within & (masks.sum(axis=1) < self.largest)[:, None]
        if len(self.rest) == 0:
            return allowed
        size = np.repeat(np.abs(self.rest.A).sum(axis=1)[None], len(masks), axis=0)
        return np.asarray(allowed & kept_with(self.rest, *self._reach(masks), size, one_way=True))

    def extensible(self, masks: Masks) -> Masks:
        """Whether no row, nor the largest size, is against all sets between each S and U."""
        least, most = self._reach(masks)
        lo, hi = self.rest.relaxed
        fits = (least <= hi + self._slack).all(axis=1) & (most >= lo - self._slack).all(axis=1)
        return np.asarray(fits & (masks.sum(axis=1) <= self.largest) & (masks <= self.within).all(axis=1))

    def _reach(self, masks: Masks) -> tuple[Floats, Floats]:
        """The least and the most of every row that sets between each S and U have."""
        here, left = self.rest.activity(masks)[0], self.rest.activity(~masks & self.within)
        rise, fall = 0.5 * (left[1] + left[0]), 0.5 * (left[1] - left[0])  # sums of the positive and negative parts
        return here - fall, here + rise

    @cached_property
    def _slack(self) -> Floats:
        return np.asarray(ROUNDING * np.abs(self.rest.A).sum(axis=1))

    def helpful(self, masks: Masks) -> Masks:
        """Which elements bring each set nearer to a row, or to the smallest size, that it does not keep yet."""
        wanted = np.repeat((masks.sum(axis=1) < self.smallest)[:, None], masks.shape[1], axis=1)
        here, (lo, hi), entries = self.rest.activity(masks)[0], self.rest.relaxed, self.rest.entries
        helps = (here < lo)[:, entries.r] & (entries.a > 0) | (here > hi)[:, entries.r] & (entries.a < 0)
        return np.asarray((wanted | (entries.sums(helps.astype(float), masks.shape[1]) > 0)) & ~masks)


def frame_of(problem: Problem) -> Frame:
    """The frame of a problem's constraints."""
    n = problem.n
    include, within, smallest, largest = np.zeros(n, dtype=bool), np.ones(n, dtype=bool), 0, n
    others = []
    for constraint in problem.constraints:
        if isinstance(constraint, Include):
            include |= as_mask(constraint.elements, n)
        elif isinstance(constraint, Exclude):
            within &= ~as_mask(constraint.elements, n)
        elif isinstance(constraint, Cardinality):
            smallest = max(smallest, constraint.min)
            largest = largest if constraint.max is None else min(largest, constraint.max)
        else:
            others.append(constraint)
    return Frame(include, within, smallest, largest, tuple(others))


def starting_sets(problem: Problem, run: Run, count: int) -> Masks:
    """``count`` feasible sets: the incumbent if there is one, the least and the largest, then random ones."""
    masks = feasible_sets(problem, run.mask, run.rng, count, run.seconds_left)
    if len(masks) == 0:
        raise ValueError("no feasible set to start from was found: pass one as initial")
    return masks


def feasible_sets(
    problem: Problem, incumbent: Masks | None, rng: np.random.Generator, count: int, seconds: float = np.inf
) -> Masks:
    """The same, or fewer where feasible sets are hard to find: sets that break a row are repaired, and where that does
    not help the least one is left to a programme.
    """
    frame = frame_of(problem)
    fixed = [frame.least(np.full((1, problem.n), sign)) for sign in (1.0, -1.0)]
    found = [np.zeros((0, problem.n), dtype=bool) if incumbent is None else incumbent[None, :]]
    found += [masks for masks in fixed if problem.feasible(masks)[0]]
    total = sum(len(masks) for masks in found)
    for _ in range(DRAWS if frame.others else 1):
        if total >= count:
            break
        masks = random_sets(frame, rng, count)
        keep = problem.feasible(masks)
        if not keep.all():
            masks = repaired(problem.rows, masks, rng.random(masks.shape))
        found.append(masks)
        total += len(masks)
        if total == 0:
            break
    if total == 0 and not frame.empty:
        found.append(cheapest_set(problem.rows, np.ones(problem.n), seconds))
    return np.concatenate(found)[:count].copy()


def random_sets(frame: Frame, rng: np.random.Generator, count: int) -> Masks:
    """Minimisers of random modular functions: sets of the frame, of all densities."""
    shape = (count, len(frame.include))
    return frame.least(rng.random(shape) - rng.random((count, 1)))
