"""Points and sets whose size lies between two numbers: projection, the best set of a linear function, fixing by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats, Masks


def on_total(y: Floats, total: float) -> Floats:
    """The point of the cube with Σx = total that is nearest to y: clip(y - θ, 0, 1), with θ between two breakpoints.

    Σ clip(y - θ, 0, 1) falls from m to 0 as θ grows, with slope -1 for each y_i in (θ, θ + 1).
    """
    breaks = np.sort(np.concatenate([y - 1.0, y]))
    steps = np.sort(y)
    # Σ clip(y - θ, 0, 1) = Σ (y_i - θ)+ - Σ (y_i - 1 - θ)+, each from sorted tails
    tails = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])
    at, above = np.searchsorted(steps, breaks), np.searchsorted(steps - 1.0, breaks)
    m = len(y)
    sums = tails[at] - (m - at) * breaks - (tails[above] - (m - above) * (breaks + 1.0))
    right = int(np.searchsorted(-sums, -total))  # the first break whose sum is at most the total
    if right == 0:
        return np.ones(m)
    if right == len(breaks):
        return np.zeros(m)
    left, low, high = right - 1, sums[right], sums[right - 1]
    share = (high - total) / (high - low) if high > low else 0.0
    return np.clip(y - (breaks[left] + share * (breaks[right] - breaks[left])), 0.0, 1.0)


def projected(y: Floats, least: int, most: int) -> Floats:
    """The nearest point of the cube with least <= Σx <= most."""
    x = np.clip(y, 0.0, 1.0)
    total = x.sum()
    if total > most:
        return on_total(y, most)
    return on_total(y, least) if total < least else x


@dataclass(frozen=True)
class BestSet:
    """The set T that maximises g(T) with least <= |T| <= most, and what is lost by forcing each element the other way.

    An element of T that leaves makes room for the best outsider, which must come if T may not shrink; one that enters
    drives out the worst member, which must go if T may not grow.
    """

    inside: Masks
    value: float
    loss: Floats


def best_set(g: Floats, least: int, most: int) -> BestSet:
    """By sorting."""
    m = len(g)
    order = np.argsort(-g, kind="stable")
    positive = int((g > 0.0).sum())
    count = min(max(positive, least), most)
    inside = np.zeros(m, dtype=bool)
    inside[order[:count]] = True
    loss = np.full(m, np.inf)
    if count:  # leaving
        outsider = g[order[count]] if count < m else -np.inf
        comes = outsider if count - 1 < least else max(0.0, outsider)
        loss[inside] = g[inside] - comes
    if count < m:  # entering
        worst = g[order[count - 1]] if count else np.inf
        goes = worst if count == most else min(0.0, worst)
        loss[~inside] = goes - g[~inside]
    return BestSet(inside, float(g[inside].sum()), loss)


def middle(m: int, least: int, most: int) -> Floats:
    """The same weight everywhere, as near to ½ as the size allows."""
    return np.full(m, min(max(0.5, least / max(m, 1)), most / max(m, 1)))
