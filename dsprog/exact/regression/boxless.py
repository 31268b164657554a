"""Relaxations whose only curvature is a ridge: there is no diagonal to raise, and no box to tighten."""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.regression.budget import Capped, capped
from dsprog.exact.regression.probed_branching import Branch, largest_coefficient


class Boxless:
    """What the perspective search asks of such a relaxation, of whose free features these are known."""

    free: Ints
    w: Floats
    val: Floats
    lower: float
    most: int
    fit: float
    hidden: float

    @property
    def capped(self) -> Capped:
        """What the budget leaves of the gains ``val``."""
        return capped(self.val, self.most)

    def raise_diagonal(self, cutoff: float) -> bool:
        """The ridge is all the curvature that there is for certain without a factorisation."""
        del cutoff
        return False

    def tighten_boxes(self, cutoff: float) -> Masks:
        """There are no boxes."""
        del cutoff
        return np.zeros(len(self.free), dtype=bool)

    def branch(self, cutoff: float) -> Branch:
        """On the largest coefficient."""
        del cutoff
        return largest_coefficient(self.w, self.val, self.lower, self.capped)
