"""All descents of a node in one kernel, because nearly all there is to compile is the descent that they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Masks
from dsprog.exact.regression.coefficient_boxes import tighten_boxes
from dsprog.exact.regression.perspective_bound import relax
from dsprog.exact.regression.probed_branching import probe

RELAX, TIGHTEN, PROBE = 0, 1, 2


class Marks(NamedTuple):
    """Features excluded by their boxes or asked to be probed, and the bounds with (row 0) and without (row 1) them."""

    features: Masks
    ends: Floats

    @classmethod
    def none(cls, n: int) -> Marks:
        """No feature, and room for bounds."""
        return cls(np.zeros(n, dtype=bool), np.full((2, n), -np.inf))


@kernel
def descents(task, problem, w, lower, limits, val, marks):
    """Descend from w and return LB; or, with the bound ``lower`` at w, tighten the boxes or probe marked features."""
    if task == TIGHTEN:
        tighten_boxes(problem, w, lower, limits, marks.features)
        return lower
    if task == PROBE:
        probe(problem, w, limits, marks.features, marks.ends)
        return lower
    return relax(problem, w, limits, val)
