"""Modular functions minimised over the feasible sets, exactly: what ModMod does in every step.

Sizes and forced elements are kept by sorting (:meth:`Frame.least`), disjoint blocks that each ask for a number of
elements by sorting block by block, since the minimum of Σ_j w_j x_j falls apart along them. Other rows, a knapsack
among them, make an integer programme.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dsprog.approximate.repair import cheapest_set
from dsprog.approximate.starts import Frame, frame_of
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks


class ModularStep:
    """Minimisers of modular functions over the feasible sets of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.frame = problem, frame_of(problem)

    @cached_property
    def blocks(self) -> list[tuple[Ints, Frame]] | None:
        """Disjoint blocks and what is asked of each; None where the rows are not such."""
        frame, rows = self.frame, self.frame.rest
        sized = frame.smallest > int(frame.include.sum()) or frame.largest < int(frame.within.sum())
        if sized or not rows.disjoint or not np.isin(rows.A, (0.0, 1.0)).all():
            return None
        found, rest = [], np.ones(self.problem.n, dtype=bool)
        for a, lo, hi in zip(rows.A, *rows.relaxed):
            block = np.flatnonzero(a)
            least, most = max(0, int(np.ceil(max(lo, 0.0)))), int(np.floor(min(hi, len(block))))
            found.append((block, Frame(frame.include[block], frame.within[block], least, most, ())))
            rest[block] = False
        left = np.flatnonzero(rest)
        return [*found, (left, Frame(frame.include[left], frame.within[left], 0, len(left), ()))]

    def least(self, weights: Floats, masks: Masks, stop: Callable[[], bool]) -> Masks:
        """For each row of weights a feasible set of least weight; the feasible set given where none was found."""
        if not self.frame.others:
            return self.frame.least(weights)
        found = masks.copy()
        if self.blocks is None:
            for b, row in enumerate(weights):
                size = float(np.abs(row).max(initial=0.0))
                best = cheapest_set(self.problem.rows, row / (size or 1.0)) if not stop() else found[:0]
                found[b] = best[0] if len(best) else masks[b]
            return found
        for block, frame in self.blocks:
            found[:, block] = frame.least(weights[:, block])
        kept = self.problem.feasible(found)
        return np.where(kept[:, None], found, masks)


def modular_step(problem: Problem) -> ModularStep:
    """The one of a problem."""
    return ModularStep(problem)
