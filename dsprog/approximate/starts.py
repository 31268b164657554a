"""Where an approximate solver starts: sets that keep the constraints, one for each restart.

A frame is what Include, Exclude and Cardinality say together: I ⊆ S ⊆ U and smallest <= |S| <= largest. Over a frame a
modular function has a minimiser that is read off its sorted weights, and the minimiser of a random modular function is
a random set of the frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.constraints import Cardinality, Constraint, Exclude, Include, feasible
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks, as_mask
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
        return inside & sized & feasible(self.others, ~masks if self.mirrored else masks)

    def additions(self, masks: Masks) -> Masks:
        """Which elements may be added to each set: inside U, not beyond the largest size, nor against the others."""
        allowed = ~masks & self.within & (masks.sum(axis=1) < self.largest)[:, None]
        if self.others:
            b, j = np.nonzero(allowed)
            grown = masks[b]
            grown[np.arange(len(b)), j] = True
            allowed[b, j] = feasible(self.others, ~grown if self.mirrored else grown)
        return allowed


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
    masks = feasible_sets(problem, run.mask, run.rng, count)
    if len(masks) == 0:
        raise ValueError("no feasible set to start from was found: pass one as initial")
    return masks


def feasible_sets(problem: Problem, incumbent: Masks | None, rng: np.random.Generator, count: int) -> Masks:
    """The same, or fewer where feasible sets are hard to find."""
    frame = frame_of(problem)
    fixed = [frame.least(np.full((1, problem.n), sign)) for sign in (1.0, -1.0)]
    found = [np.zeros((0, problem.n), dtype=bool) if incumbent is None else incumbent[None, :]]
    found += [masks for masks in fixed if problem.feasible(masks)[0]]
    total = sum(len(masks) for masks in found)
    for _ in range(DRAWS if frame.others else 1):
        if total >= count:
            break
        masks = random_sets(frame, rng, count)
        masks = masks[problem.feasible(masks)]
        found.append(masks)
        total += len(masks)
    return np.concatenate(found)[:count].copy()


def random_sets(frame: Frame, rng: np.random.Generator, count: int) -> Masks:
    """Minimisers of random modular functions: sets of the frame, of all densities."""
    shape = (count, len(frame.include))
    return frame.least(rng.random(shape) - rng.random((count, 1)))
