"""Bounds on what is still to be gained, and the thresholds that make them small.

Let I be chosen, S ⊇ I with S∖I among the candidates, and G = rewards g - costs f + modular m. With u_j = m_j + g(j | I)
- f(j | U∖j), U all that S may have,

    G(S) <= G(I) + Σ_{j∈S∖I} u_j,

since marginals of g fall from I on and those of f fall up to U. Its maximum over the budget is found exactly for
cardinality and blocks (the best first), and by Dantzig's rule for a knapsack.

For clients that keep a maximum, thresholds τ_i >= the present state b_i give more: max(b_i, max_{j∈S∖I} s_ij) <= τ_i +
Σ_{j∈S∖I} max(0, s_ij - τ_i), so that

    G(S) <= G(I) + Σ_i (τ_i - b_i) + Σ_{j∈S∖I} (u_j with Σ_i max(0, s_ij - τ_i) for the gains of these clients),

and τ = b is the bound before. For survivals and curves, with ψ(x) = h_i(I) at x more minus h_i(I), concave, ψ(0) = 0,
there are *lifted tangents* at t >= 0: with κ = ψ(t) - tψ'(t),

    ψ(w(S)) <= κ + Σ_{j∈S} c_j,     c_j = ψ'(t) w_j if w_j <= t, else ψ(w_j) - κ.

If all w_j <= t this is the tangent at t. Otherwise a large element w_1 > t gives ψ(w_1) with κ, and every other c_j is
at least ψ(w_1 + w_j) - ψ(w_1): for w_j <= t since ψ'(w_1) <= ψ'(t), for others since
ψ(w_1 + w_j) - ψ(w_1 + t) <= ψ(w_j) - ψ(t) and ψ(w_1 + t) - ψ(w_1) <= tψ'(t). t = 0 is the bound from gains. t moves
towards what the bound takes, in the steps of Frank and Wolfe.

The maximum over the budget is a convex function of τ; a deflected subgradient (Camerini,
Fratta and Maffioli) with Polyak's steps towards the value of the best set brings it down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.gain_model import TABLE
from dsprog.core.kernel import part
from dsprog.core.validation import Floats, Ints
from dsprog.exact.budget.client_kernels import curve_at, excess
from dsprog.exact.budget.price_bound import (
    CHEAPEST,
    DEFLECTION,
    MEAN,
    OPEN,
    PAID,
    PRICE,
    USED,
    move_prices,
    pay,
)
from dsprog.functions._scalar import slope_of

SHORTER, FAILURES = 0.6, 15
LATEST = 0.05  # weight of what the bound takes now in the mean of what it took
THRESHOLD, LEAST, DIRECTION, SUBGRADIENT, TANGENT, LIFT = 0, 1, 2, 3, 4, 5  # rows of Desk.clients
RAW, SLOPE, KEY, SHARE = 0, 1, 2, 3  # rows of Desk.scores
ORDER, INDEX, CAME, STAYS = 0, 1, 2, 3  # rows of Desk.lists
LENGTH, FAILED, BOUND, STEP = 5, 6, 7, 8  # places of the goal: how thresholds go on
ENOUGH = 4.0  # hazards beyond this count as this where a tangent is placed


class Desk(NamedTuple):
    """Arrays to work with.

    ``clients``: thresholds (of survivals and curves: where tangents touch), the best ones so far, the direction they
    move in, the subgradient, and of tangents ψ' and κ. ``scores``, one number a
    candidate: slopes, slopes sorted, keys to sort by, and how much of it the bound takes.
    ``lists``: candidates sorted, places, places in the best order, and whether an element is still a candidate.
    ``counts``: how many of each block the bound takes. ``prices``, ``walk``: see
    :mod:`dsprog.exact.budget.price_bound`; without columns where no prices are used.
    """

    clients: Floats
    scores: Floats
    lists: Ints
    counts: Ints
    prices: Floats
    walk: Ints


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
def fill_knapsack(room, elements, score, first, size, left, share):
    """Dantzig: by falling density, the last one in part."""
    total, q = 0.0, first
    while q < size and score[q] > 0.0:
        w = room.weights[elements[q]]
        if left <= 0.0 and w > 0.0:  # those without weight still fit
            break
        share[q] = 1.0 if w <= left or w == 0.0 else left / w
        total += share[q] * score[q]
        left = max(0.0, left - w)
        q += 1
    return total, q


@part
def fill_blocks(room, elements, score, ends, used, desk):
    """The best first, each where its block has a place left."""
    first, size, most, least = ends
    share, counts, caps, total, taken = desk.scores[SHARE], desk.counts, room.caps, 0.0, 0
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
def fill(room, elements, score, ends, left, used, desk):
    """The most that candidates from a place on, sorted by their keys, add within the budget, and where it ends.

    ``ends``: first place, number of candidates, how many may be taken, and how many must. -inf: too few are left.
    """
    first, size, most, least = ends
    share, total = desk.scores[SHARE], 0.0
    if room.knapsack:
        return fill_knapsack(room, elements, score, first, size, left, share)
    if len(room.caps) > 0:
        return fill_blocks(room, elements, score, ends, used, desk)
    q = first
    while q < size and q - first < most and (score[q] > 0.0 or q - first < least):
        share[q] = 1.0
        total += score[q]
        q += 1
    return (total if q - first >= least else -np.inf), q


@part
def price_of(room, elements, score, size, left):
    """Dantzig's price of a unit of the knapsack: the density of the first candidate that does not fit."""
    for q in range(size):
        w = room.weights[elements[q]]
        if score[q] <= 0.0:
            break
        if w > left:
            return score[q] / w
        left -= w
    return 0.0


@part
def trim_knapsack(room, elements, upper, score, size, left, above):
    """Leave out those by which a bound that lies so far above the target does not stay there."""
    price, kept = price_of(room, elements, score, size, left), 0
    for q in range(size):
        reduced = score[q] - price * room.weights[elements[q]]
        if reduced >= 0.0 or above + reduced > 0.0:
            elements[kept], upper[kept], score[kept] = elements[q], upper[q], score[q]
            kept += 1
    return kept


@part
def trim(room, elements, upper, score, ends, left, used, bound, target, desk):
    """Leave out candidates that no better set has, and return how many stay, in their order.

    Knapsack: a set with j reaches at most bound + score_j - price w_j. Otherwise, by exchange in a matroid, it reaches
    at most bound - (the last score taken) + score_j if all places are taken, and if not, bound + score_j or, where
    places must be filled, bound - (the last score taken) + score_j.
    """
    _, size, most, _ = ends
    if room.knapsack:
        return trim_knapsack(room, elements, upper, score, size, left, bound - target)
    _, stop = fill(room, elements, score, ends, left, used, desk)
    taken, last = 0, 0.0
    for q in range(stop):
        if desk.scores[SHARE, q] > 0.0:
            taken += 1
            last = score[q]
    if taken < most:
        last = min(0.0, last)
    kept = size
    while kept > stop and bound - last + score[kept - 1] <= target:
        kept -= 1
    return kept


@part
def lift(clients, state, desk):
    """The tangents of survivals and curves where their thresholds are: Σ κ."""
    total, desk_clients = 0.0, desk.clients
    for i in range(clients.offsets[1], clients.offsets[3]):
        t, slope, kappa = desk_clients[THRESHOLD, i], 0.0, 0.0
        if t > 0.0 and i < clients.offsets[2]:
            slope = state[i] * np.exp(-t)
            kappa = state[i] - (1.0 + t) * slope
        elif t > 0.0 and clients.curves[0, i] != TABLE:
            slope = clients.curves[2, i] * slope_of(int(clients.curves[0, i]), clients.curves[1, i], state[i] + t)
            rise = curve_at(clients, i, state[i] + t) - curve_at(clients, i, state[i])
            kappa = max(0.0, clients.curves[2, i] * rise - t * slope)
        desk_clients[TANGENT, i], desk_clients[LIFT, i] = slope, kappa
        total += kappa
    return total


@part
def lifted_gain(clients, state, desk, j):
    """Σ c_ij over the survivals and curves: ψ'(t) w_ij, or ψ(w_ij) - κ where w_ij > t."""
    indptr, total = clients.indptr, 0.0
    tau, slope, kappa = desk.clients[THRESHOLD], desk.clients[TANGENT], desk.clients[LIFT]
    for p in range(indptr[1, j], indptr[1, j + 1]):
        i, h = clients.rows[p], clients.hazards[p]
        total += slope[i] * h if h <= tau[i] else state[i] * clients.data[p] - kappa[i]
    for p in range(indptr[2, j], indptr[2, j + 1]):
        i, w = clients.rows[p], clients.data[p]
        if w <= tau[i] and clients.curves[0, i] != TABLE:
            total += slope[i] * w
        else:
            rise = curve_at(clients, i, state[i] + w) - curve_at(clients, i, state[i])
            total += clients.curves[2, i] * rise - kappa[i]
    return total


@part
def move_tangents(clients, stop, desk, goal):
    """One step of Frank and Wolfe: the tangents towards what the bound takes."""
    tau, h, indptr = desk.clients[THRESHOLD], desk.clients[SUBGRADIENT], clients.indptr
    for i in range(clients.offsets[1], clients.offsets[3]):
        h[i] = 0.0
    for q in range(stop):
        share, j = desk.scores[SHARE, q], desk.lists[ORDER, q]
        for p in range(indptr[1, j], indptr[1, j + 1]):
            h[clients.rows[p]] += share * min(clients.hazards[p], ENOUGH)
        for p in range(indptr[2, j], indptr[2, j + 1]):
            h[clients.rows[p]] += share * clients.data[p]
    goal[STEP] += 1.0
    for i in range(clients.offsets[1], clients.offsets[3]):
        tau[i] += 2.0 / (goal[STEP] + 2.0) * (h[i] - tau[i])


@part
def move_thresholds(clients, state, stop, desk, goal, distance):
    """One step of the thresholds against the deflected subgradient; False where they are optimal."""
    tau, direction, h = desk.clients[THRESHOLD], desk.clients[DIRECTION], desk.clients[SUBGRADIENT]
    maxima, indptr = clients.offsets[1], clients.indptr
    for i in range(maxima):
        h[i] = 1.0
    for q in range(stop):
        share = desk.scores[SHARE, q]
        if share > 0.0:
            j = desk.lists[ORDER, q]
            for p in range(indptr[0, j], indptr[0, j + 1]):
                i = clients.rows[p]
                if clients.data[p] > tau[i]:
                    h[i] -= share
    product, square = 0.0, 0.0
    for i in range(maxima):
        if h[i] > 0.0 and tau[i] <= state[i]:
            h[i] = 0.0
        product += h[i] * direction[i]
        square += direction[i] * direction[i]
    weight = -DEFLECTION * product / square if product < 0.0 and square > 0.0 else 0.0
    square = 0.0
    for i in range(maxima):
        direction[i] = h[i] + weight * direction[i]
        square += direction[i] * direction[i]
    if square <= 0.0:
        return False
    for i in range(maxima):
        tau[i] = max(state[i], tau[i] - goal[LENGTH] * distance / square * direction[i])
    return True


@part
def offer_candidates(elements, size, desk):
    """Before prices move: which elements clients may take."""
    for j in range(desk.prices.shape[1]):
        desk.prices[OPEN, j] = 0.0
    for q in range(size):
        desk.prices[OPEN, elements[q]] = 1.0


@part
def move(clients_of, state, stop, desk, goal, distance):
    """One step of prices, or of thresholds and tangents; False where they are optimal."""
    prices, lists = desk.prices, desk.lists
    if prices.shape[1] == 0:
        clients = clients_of.clients
        move_tangents(clients, stop, desk, goal)
        moved = move_thresholds(clients, state, stop, desk, goal, distance)
        return moved or clients.offsets[3] > clients.offsets[1]
    for j in range(len(clients_of.modular)):
        prices[USED, j] = 0.0
    for q in range(stop):
        prices[USED, lists[ORDER, q]] = desk.scores[SHARE, q]
    for j in range(len(clients_of.modular)):
        prices[MEAN, j] += LATEST * (prices[USED, j] - prices[MEAN, j])
    return move_prices(clients_of, state, desk, goal[LENGTH] * distance)


@part
def lower_thresholds(gains, room, elements, score, state, used, needs, desk, goal):
    """Improve the thresholds; how many steps were made.

    ``score`` and ``CAME``: the slopes of the best ones, sorted, and where they stood. ``needs``: number of candidates,
    value, places, needed places, capacity left, steps. ``goal`` has the target, and keeps the length of steps,
    failures, and the least bound between two calls.
    """
    size, value, most, least, left, steps = needs
    tau, scores, lists, target = desk.clients[THRESHOLD], desk.scores, desk.lists, goal[0]
    done, priced = 0, desk.prices.shape[1] > 0
    if priced:
        offer_candidates(elements, size, desk)
    while done < steps:
        done += 1
        bound = value + (pay(gains, state, desk) if priced else lift(gains.clients, state, desk))
        for i in range(gains.clients.offsets[1]):
            bound += tau[i] - state[i]
        for q in range(size):
            j = elements[q]
            slope = gains.modular[j] - gains.floors[j] + excess(gains.clients, tau, j, 0)
            slope += desk.prices[PAID, j] if priced else lifted_gain(gains.clients, state, desk, j)
            scores[RAW, q], scores[KEY, q], lists[INDEX, q] = slope, key_of(room, j, slope), q
        sort_falling(scores[KEY], lists[INDEX], size)
        for q in range(size):
            i = lists[INDEX, q]
            lists[ORDER, q], scores[SLOPE, q] = elements[i], scores[RAW, i]
        total, stop = fill(room, lists[ORDER], scores[SLOPE], (0, size, most, least), left, used, desk)
        bound += total
        goal[FAILED] += 1.0
        if bound < goal[BOUND]:
            if bound < goal[BOUND] - 1e-3 * (goal[BOUND] - target):
                goal[FAILED] = 0.0
            goal[BOUND] = bound
            for q in range(size):
                score[q], lists[CAME, q] = scores[SLOPE, q], lists[INDEX, q]
            for i in range(len(tau)):
                desk.clients[LEAST, i] = tau[i]
            for e in range(desk.prices.shape[1]):
                desk.prices[CHEAPEST, e] = desk.prices[PRICE, e]
        if goal[FAILED] >= FAILURES:
            goal[LENGTH] *= SHORTER
            goal[FAILED] = 0.0
        if bound <= target or not move(gains, state, stop, desk, goal, bound - target):
            break
    return done
