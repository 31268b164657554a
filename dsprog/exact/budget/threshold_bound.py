"""Bounds on what is still to be gained, and the thresholds that make them small.

Let I be chosen, S ⊇ I with S∖I among the candidates, and G = rewards g - costs f + modular m. With u_j = m_j + g(j | I)
- f(j | U∖j), U all that S may have,

    G(S) <= G(I) + Σ_{j∈S∖I} u_j,

since marginals of g fall from I on and those of f fall up to U. Its maximum over the budget is found exactly for
cardinality and blocks (the best first), and by Dantzig's rule for a knapsack.

For clients that keep a maximum, thresholds τ_i >= the present state b_i give more: max(b_i, max_{j∈S∖I} s_ij) <= τ_i +
Σ_{j∈S∖I} max(0, s_ij - τ_i), so that

    G(S) <= G(I) + Σ_i (τ_i - b_i) + Σ_{j∈S∖I} (u_j with Σ_i max(0, s_ij - τ_i) for the gains of these clients),

and τ = b is the bound before. The maximum over the budget is a convex function of τ; a deflected subgradient (Camerini,
Fratta and Maffioli) with Polyak's steps towards the value of the best set brings it down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.gain_model import Clients
from dsprog.core.kernel import part
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.budget.client_kernels import curve_at

DEFLECTION, SHORTER, FAILURES = 1.5, 0.6, 15


class Gains(NamedTuple):
    """The objective: weights, lower bounds of the marginals of costs, clients, and whether any of them is a cost."""

    modular: Floats
    floors: Floats
    rewards: Clients
    costs: Clients
    priced: bool


class Room(NamedTuple):
    """The budget, as kernels take it."""

    least: int
    most: int
    blocks: Ints
    caps: Ints
    weights: Floats
    capacity: float
    knapsack: bool


class Ascent(NamedTuple):
    """Where the thresholds are, and arrays to work with."""

    thresholds: Floats
    least: Floats  # the best thresholds so far
    direction: Floats
    subgradient: Floats
    other: Floats  # what the clients without thresholds add
    raw: Floats
    slope: Floats  # sorted
    order: Ints  # the candidates, sorted
    key: Floats
    share: Floats  # how much of each candidate the bound takes
    index: Ints
    best_index: Ints  # where each candidate of the best order came from
    counts: Ints  # in each block
    stays: Masks  # of each element: whether it is still a candidate


@part
def sort_falling(key, index, size):
    """Sort the first entries by falling key, their indices with them: Shell's method."""
    gap = 1
    while 3 * gap + 1 < size:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, size):
            k, i = key[p], index[p]
            q = p
            while q >= gap and key[q - gap] < k:
                key[q], index[q] = key[q - gap], index[q - gap]
                q -= gap
            key[q], index[q] = k, i
        gap //= 3


@part
def key_of(room, j, score):
    """What candidates are sorted by: score, or score for each unit of weight."""
    if not room.knapsack:
        return score
    if room.weights[j] > 0.0:
        return score / room.weights[j]
    return np.inf if score > 0.0 else score


@part
def fill(room, elements, score, ends, left, used, ascent):
    """The most that candidates from a place on, sorted by their keys, add within the budget, and where it ends.

    ``ends``: first place, number of candidates, how many may be taken, and how many must. -inf: too few are left.
    """
    first, size, most, least = ends
    share, total, taken = ascent.share, 0.0, 0
    if room.knapsack:
        q = first
        while q < size and score[q] > 0.0:
            w = room.weights[elements[q]]
            share[q] = 1.0 if w <= left else left / w
            total += share[q] * score[q]
            left -= w
            q += 1
            if left <= 0.0:
                break
        return total, q
    counts, caps = ascent.counts, room.caps
    for b in range(len(caps)):
        counts[b] = used[b]
    q = first
    while q < size and taken < most and (score[q] > 0.0 or taken < least):
        b = room.blocks[elements[q]]
        if b < 0 or counts[b] < caps[b]:
            share[q] = 1.0
            total += score[q]
            taken += 1
            if b >= 0:
                counts[b] += 1
        else:
            share[q] = 0.0
        q += 1
    return (total if taken >= least else -np.inf), q


@part
def trim(room, elements, upper, score, size, most, left, bound, target):
    """Leave out candidates that no better set has, and return how many stay, in their order.

    A set with j reaches at most bound - (the last score taken) + score_j, for a knapsack bound + score_j - price w_j:
    the bound of the sets with j, relaxed.
    """
    if room.knapsack:
        price, kept = 0.0, 0
        for q in range(size):
            w = room.weights[elements[q]]
            if score[q] <= 0.0:
                break
            if w > left:
                price = score[q] / w
                break
            left -= w
        for q in range(size):
            reduced = score[q] - price * room.weights[elements[q]]
            if reduced >= 0.0 or bound + reduced > target:
                elements[kept], upper[kept], score[kept] = elements[q], upper[q], score[q]
                kept += 1
        return kept
    last = max(0.0, score[most - 1]) if most <= size else 0.0
    kept = size
    while kept > most and bound - last + score[kept - 1] <= target:
        kept -= 1
    return kept


@part
def other_gain(gains, alive, sums, j):
    """What j adds to all but the clients with thresholds."""
    total = gains.modular[j] - gains.floors[j]
    clients = gains.rewards
    indptr, rows, data = clients.survivals
    for p in range(indptr[j], indptr[j + 1]):
        total += alive[rows[p]] * data[p]
    indptr, rows, data = clients.sums
    for p in range(indptr[j], indptr[j + 1]):
        i = rows[p]
        total += clients.weights[i] * (curve_at(clients, i, sums[i] + data[p]) - curve_at(clients, i, sums[i]))
    return total


@part
def excess(clients, thresholds, j):
    """Σ_i max(0, s_ij - τ_i)."""
    total = 0.0
    indptr, rows, data = clients.maxima
    first = indptr[j]
    if clients.full:
        for i in range(len(thresholds)):
            total += max(0.0, data[first + i] - thresholds[i])
    else:
        for p in range(first, indptr[j + 1]):
            total += max(0.0, data[p] - thresholds[rows[p]])
    return total


@part
def move_thresholds(gains, best, stop, ascent, length, distance):
    """One step of the thresholds against the deflected subgradient; False where they are optimal."""
    direction, tau, h = ascent.direction, ascent.thresholds, ascent.subgradient
    for i in range(len(tau)):
        h[i] = 1.0
    indptr, rows, data = gains.rewards.maxima
    for q in range(stop):
        if ascent.share[q] > 0.0:
            j = ascent.order[q]
            for p in range(indptr[j], indptr[j + 1]):
                if data[p] > tau[rows[p]]:
                    h[rows[p]] -= ascent.share[q]
    product, square = 0.0, 0.0
    for i in range(len(tau)):
        if h[i] > 0.0 and tau[i] <= best[i]:
            h[i] = 0.0
        product += h[i] * direction[i]
        square += direction[i] * direction[i]
    weight = -DEFLECTION * product / square if product < 0.0 and square > 0.0 else 0.0
    square = 0.0
    for i in range(len(tau)):
        direction[i] = h[i] + weight * direction[i]
        square += direction[i] * direction[i]
    if square <= 0.0:
        return False
    step = length * distance / square
    for i in range(len(tau)):
        tau[i] = max(best[i], tau[i] - step * direction[i])
    return True


@part
def lower_thresholds(gains, room, elements, size, state, needs, used, ascent, pace, score):
    """Improve the thresholds; how many steps were made. ``score`` and ``ascent.best_index`` hold the slopes of the best ones, sorted.

    ``state``: best, alive, sums. ``needs``: value, target, places, needed places, capacity left, steps. ``pace`` keeps
    the length of steps, failures, and the least bound between two calls.
    """
    best, alive, sums = state
    value, target, most, least, left, steps = needs
    tau = ascent.thresholds
    for q in range(size):
        ascent.other[q] = other_gain(gains, alive, sums, elements[q])
    done = 0
    for done in range(1, steps + 1):
        bound = value
        for i in range(len(tau)):
            bound += tau[i] - best[i]
        for q in range(size):
            ascent.raw[q] = ascent.other[q] + excess(gains.rewards, tau, elements[q])
            ascent.key[q] = key_of(room, elements[q], ascent.raw[q])
            ascent.index[q] = q
        sort_falling(ascent.key, ascent.index, size)
        for q in range(size):
            ascent.order[q], ascent.slope[q] = elements[ascent.index[q]], ascent.raw[ascent.index[q]]
        total, stop = fill(room, ascent.order, ascent.slope, (0, size, most, least), left, used, ascent)
        bound += total
        pace[1] += 1.0
        if bound < pace[2]:
            if bound < pace[2] - 1e-3 * (pace[2] - target):
                pace[1] = 0.0
            pace[2] = bound
            for q in range(size):
                score[q], ascent.best_index[q] = ascent.slope[q], ascent.index[q]
            for i in range(len(tau)):
                ascent.least[i] = tau[i]
        if pace[1] >= FAILURES:
            pace[0] *= SHORTER
            pace[1] = 0.0
        if bound <= target or not move_thresholds(gains, best, stop, ascent, pace[0], bound - target):
            break
    return done
