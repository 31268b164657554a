"""Gains of clients, compiled: what an element adds to the state, and the least that it adds to any set.

Clients are those of :mod:`dsprog.core.gain_model`. All of them share one array of states, and all kernels of this
engine take few arrays, since each array that is handed from one to the next costs time at first use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.gain_model import TABLE, Clients
from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints
from dsprog.functions._scalar import phi_of

REWARDS, COSTS = 0, 3  # the first kind of each side


class Gains(NamedTuple):
    """The objective: weights, lower bounds of the marginals of costs, clients, and whether any of them is a cost.

    Where gains are kept up to date, the maxima and survivals of rewards by client as well: entries of the client at
    place i lie between ``heads[i]`` and ``heads[i + 1]``. Otherwise these are empty.
    """

    modular: Floats
    floors: Floats
    clients: Clients
    priced: bool
    heads: Ints
    members: Ints
    amounts: Floats
    hazards: Floats


@part
def curve_at(clients, i, t):
    """φ_i(t), without its weight."""
    code = int(clients.curves[0, i])
    if code == TABLE:
        return clients.table[int(clients.curves[3, i]) + int(t + 0.5)]
    return phi_of(code, clients.curves[1, i], t)


@part
def smooth_gain(clients, state, j, side):
    """What j adds to the survivals and curves of a side."""
    indptr, rows, data, total = clients.indptr, clients.rows, clients.data, 0.0
    for p in range(indptr[side + 1, j], indptr[side + 1, j + 1]):
        total += state[rows[p]] * data[p]
    for p in range(indptr[side + 2, j], indptr[side + 2, j + 1]):
        i = rows[p]
        change = curve_at(clients, i, state[i] + data[p]) - curve_at(clients, i, state[i])
        total += clients.curves[2, i] * change
    return total


@part
def excess(clients, level, j, side):
    """Σ_i max(0, s_ij - level_i) over the maxima of a side: what j adds to them, or adds above thresholds."""
    indptr, rows, data, total = clients.indptr, clients.rows, clients.data, 0.0
    first = indptr[side, j]
    if side == 0 and clients.full:
        for i in range(clients.offsets[1]):
            total += max(0.0, data[first + i] - level[i])
    else:
        for p in range(first, indptr[side, j + 1]):
            total += max(0.0, data[p] - level[rows[p]])
    return total


@part
def add(clients, state, j, side):
    """Change the state of a side from I to I ∪ j, and return h(I ∪ j) - h(I)."""
    total = excess(clients, state, j, side) + smooth_gain(clients, state, j, side)
    indptr, rows, data = clients.indptr, clients.rows, clients.data
    for p in range(indptr[side, j], indptr[side, j + 1]):
        state[rows[p]] = max(state[rows[p]], data[p])
    for p in range(indptr[side + 1, j], indptr[side + 1, j + 1]):
        state[rows[p]] *= 1.0 - data[p]
    for p in range(indptr[side + 2, j], indptr[side + 2, j + 1]):
        state[rows[p]] += data[p]
    return total


@part
def change_by(gains, state, j):
    """G(I ∪ j) - G(I)."""
    total = gains.modular[j] + excess(gains.clients, state, j, 0) + smooth_gain(gains.clients, state, j, 0)
    if gains.priced:
        total -= excess(gains.clients, state, j, 3) + smooth_gain(gains.clients, state, j, 3)
    return total


@part
def put(gains, state, j):
    """Choose j, and return what that changes."""
    total = gains.modular[j] + add(gains.clients, state, j, 0)
    if gains.priced:
        total -= add(gains.clients, state, j, 3)
    return total


@part
def gain_of(gains, state, j):
    """m_j + g(j | I) less the least that costs grow by."""
    rewards = excess(gains.clients, state, j, 0) + smooth_gain(gains.clients, state, j, 0)
    return gains.modular[j] - gains.floors[j] + rewards


@part
def lower_gains(gains, before, after, gain, j):
    """Gains above I become gains above I ∪ j, whose state is ``after``; how many numbers were touched.

    Only clients whose state j changes matter: one that had b and has b' takes min(s, b') - b from every s > b, and one
    that survives with q' in place of q takes (q - q') p.
    """
    clients, work = gains.clients, 0
    for p in range(clients.indptr[0, j], clients.indptr[0, j + 1]):
        i = clients.rows[p]
        low, high = before[i], after[i]
        if high > low:
            for q in range(gains.heads[i], gains.heads[i + 1]):
                gain[gains.members[q]] -= max(0.0, min(gains.amounts[q], high) - low)
            work += gains.heads[i + 1] - gains.heads[i]
    for p in range(clients.indptr[1, j], clients.indptr[1, j + 1]):
        i = clients.rows[p]
        lost = before[i] - after[i]
        for q in range(gains.heads[i], gains.heads[i + 1]):
            gain[gains.members[q]] -= lost * gains.amounts[q]
        work += gains.heads[i + 1] - gains.heads[i]
    return work


@part
def effort(clients, j):
    """What a gain of j costs, in steps of a loop: four maxima at once where they are dense, a curve like eight."""
    indptr = clients.indptr
    total = indptr[0, j + 1] - indptr[0, j]
    if clients.full:
        total //= 4
    return 8 + total + indptr[1, j + 1] - indptr[1, j] + 8 * (indptr[2, j + 1] - indptr[2, j])


@kernel
def least_gains_kernel(clients, inside, allowed, out):
    """Lower bounds of f(j | U∖j), f the costs and U = inside ∪ allowed: f(j | S) is at least that for every S ⊆ U∖j.

    Divisions and subtractions stand for sums over the others; what they may lose to rounding is taken off.
    """
    n, places = len(out), len(clients.first)
    indptr, rows, data = clients.indptr, clients.rows, clients.data
    state, second, owner = np.empty(places), np.empty(places), np.empty(places)
    for i in range(places):
        state[i] = second[i] = clients.first[i]
        owner[i] = -1.0
    for j in range(n):
        out[j] = 0.0
        if not (inside[j] or allowed[j]):
            continue
        for p in range(indptr[3, j], indptr[3, j + 1]):
            i = rows[p]
            if data[p] > state[i]:
                second[i], state[i], owner[i] = state[i], data[p], j
            elif data[p] > second[i]:
                second[i] = data[p]
        for p in range(indptr[4, j], indptr[4, j + 1]):
            state[rows[p]] *= 1.0 - data[p]
        for p in range(indptr[5, j], indptr[5, j + 1]):
            state[rows[p]] += data[p]
    for i in range(clients.offsets[3], clients.offsets[4]):
        if owner[i] >= 0.0:
            out[int(owner[i])] += state[i] - second[i]
    for j in range(n):
        for p in range(indptr[4, j], indptr[4, j + 1]):
            if data[p] < 0.999:
                out[j] += (1.0 - 1e-12) * state[rows[p]] * data[p] / (1.0 - data[p])
        for p in range(indptr[5, j], indptr[5, j + 1]):
            i = rows[p]
            less = max(0.0, state[i] - data[p])
            if clients.curves[0, i] != TABLE:
                less = min(state[i], less + 1e-14 * state[i])
            out[j] += clients.curves[2, i] * (curve_at(clients, i, state[i]) - curve_at(clients, i, less))
        if not allowed[j]:
            out[j] = 0.0
