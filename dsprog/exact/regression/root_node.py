"""The node of all sets, from which every search and every look at a loss begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.validation import Floats
from dsprog.run.driver import Bundle

if TYPE_CHECKING:
    from dsprog.exact.regression.losses import AnyLoss
    from dsprog.exact.regression.relaxation import Loss


def root_of(loss: AnyLoss, d: Floats) -> Bundle:
    """A bundle of one row, with d as minorant of the penalty: no boxes, and the first diagonal of the loss."""
    n = len(d)
    none, zero, infinity = np.zeros((1, n), dtype=bool), np.zeros((1, n)), np.full((1, n), np.inf)
    sets = {"lower": np.array([-np.inf]), "I": none, "U": ~none, "depth": np.array([0]), "price": np.array([0.0])}
    sets["boxed"] = np.array([np.inf])
    points = {"D": zero + loss.first_diagonal, "S": zero, "w": zero.copy()}
    return {**sets, "d": d[None], **points, "lo": -infinity, "hi": infinity}


def root_bound(loss: Loss, d: Floats, budget: int) -> float:
    """A bound on loss and d of all sets of at most so many features."""
    relaxation = loss.relaxation({key: value[0] for key, value in root_of(loss, d).items()}, 0.0, budget)
    relaxation.solve(np.inf)
    return relaxation.lower
