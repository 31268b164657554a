"""Sets that keep linear rows: by flips of a set that breaks some, by sorting, or by a programme.

How far a set is from keeping lo <= A S <= hi is measured by Σ_r max(0, lo_r - a_r(S), a_r(S) - hi_r) / |a_r|, and a
flip changes each a_r(S) by ± a_rj, so that all n flips are known at once. Repair takes the flip of the least price for
what it brings and rests where no flip brings anything, which may be far from any feasible set: whether there is one is
an integer programme, and :func:`cheapest_set` asks it.
"""

from __future__ import annotations

import math

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.milp import programme
from dsprog.milp.programme import ProgrammeFailed

FLOOR = 0.05  # of the range of prices, which the cheapest flip is taken to cost


def distances(rows: LinearRows, activity: Floats, r: Ints) -> Floats:
    """How far activities, each of a row r, are from keeping it; 0 where they do."""
    low, high = rows.relaxed
    return np.asarray(np.maximum(0.0, np.maximum(low[r] - activity, activity - high[r])) / rows.largest[r])


def repaired(rows: LinearRows, masks: Masks, prices: Floats) -> Masks:
    """Those of some sets that keep the rows, once elements were flipped; flips of small ``prices`` (B, n) first."""
    masks = masks.copy()
    spread = np.ptp(prices, axis=1, keepdims=True) if prices.size else prices[:, :1]
    prices = prices - prices.min(axis=1, keepdims=True, initial=np.inf) + FLOOR * spread + 1e-12
    moving = np.flatnonzero(~rows.satisfied(masks))
    for _ in range(2 * masks.shape[1]):
        if len(moving) == 0:
            break
        moving = np.array([b for b in moving if flip_one(rows, masks[b], prices[b])], dtype=int)
        moving = moving[~rows.satisfied(masks[moving])]
    return masks[rows.satisfied(masks)]


def flip_one(rows: LinearRows, mask: Masks, prices: Floats) -> bool:
    """Make, in place, the flip of the least price for what it brings; whether one brings anything."""
    activity, entries = rows.activity(mask[None])[0][0, rows.entries.r], rows.entries
    flipped = activity + np.where(mask[entries.j], -entries.a, entries.a)
    change = distances(rows, activity, entries.r) - distances(rows, flipped, entries.r)
    gain = entries.sums(change[None], len(mask))[0]
    helps = gain > 1e-12
    if not helps.any():
        return False
    ratio = np.where(helps, prices / np.where(helps, gain, 1.0), np.inf)
    mask[int(ratio.argmin())] ^= True
    return True


def cheapest_set(rows: LinearRows, weights: Floats, seconds: float = math.inf) -> Masks:
    """The set of least Σ_{j∈S} weights_j that keeps the rows, as one row; no row where none was found in time."""
    n, limits = len(weights), ((rows.A, rows.lo), (-rows.A, -rows.hi))
    R, r = (np.concatenate(parts) for parts in zip(*((A[np.isfinite(b)], b[np.isfinite(b)]) for A, b in limits)))
    asked = programme(weights, np.zeros(n), np.ones(n), integer=True, L=np.zeros((0, n)), b=np.zeros(0))
    asked.require(R, r)
    try:
        found = asked.solve(seconds)
    except ProgrammeFailed:
        return np.zeros((0, n), dtype=bool)
    masks = np.zeros((0, n), dtype=bool) if found.z is None else found.z[None] > 0.5
    return masks[rows.satisfied(masks)]
