"""Gains of clients, compiled: what an element adds to the state of each, and the least that it adds to any set.

Clients are those of :mod:`dsprog.core.gain_model`; a state is three arrays, one for each kind of client.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.gain_model import TABLE
from dsprog.core.kernel import kernel, part
from dsprog.functions._scalar import phi_of


@part
def curve_at(clients, i, t):
    """φ_i(t), without its weight."""
    if clients.codes[i] == TABLE:
        return clients.table[clients.starts[i] + int(t + 0.5)]
    return phi_of(clients.codes[i], clients.parameters[i], t)


@part
def reset(clients, best, alive, sums):
    """The first state."""
    for i in range(len(best)):
        best[i] = clients.first_best[i]
    for i in range(len(alive)):
        alive[i] = clients.first_alive[i]
    for i in range(len(sums)):
        sums[i] = clients.first_sums[i]


@part
def gain_of(clients, best, alive, sums, j):
    """h(I ∪ j) - h(I)."""
    total = 0.0
    indptr, rows, data = clients.maxima
    first = indptr[j]
    if clients.full:
        for i in range(len(best)):
            total += max(0.0, data[first + i] - best[i])
    else:
        for p in range(first, indptr[j + 1]):
            total += max(0.0, data[p] - best[rows[p]])
    indptr, rows, data = clients.survivals
    for p in range(indptr[j], indptr[j + 1]):
        total += alive[rows[p]] * data[p]
    indptr, rows, data = clients.sums
    for p in range(indptr[j], indptr[j + 1]):
        i = rows[p]
        total += clients.weights[i] * (curve_at(clients, i, sums[i] + data[p]) - curve_at(clients, i, sums[i]))
    return total


@part
def add(clients, best, alive, sums, j):
    """Change the state from I to I ∪ j, and return the gain."""
    total = gain_of(clients, best, alive, sums, j)
    indptr, rows, data = clients.maxima
    for p in range(indptr[j], indptr[j + 1]):
        best[rows[p]] = max(best[rows[p]], data[p])
    indptr, rows, data = clients.survivals
    for p in range(indptr[j], indptr[j + 1]):
        alive[rows[p]] *= 1.0 - data[p]
    indptr, rows, data = clients.sums
    for p in range(indptr[j], indptr[j + 1]):
        sums[rows[p]] += data[p]
    return total


@part
def entries(clients, j):
    """How many numbers a gain of j looks at."""
    total = 1 + clients.maxima.indptr[j + 1] - clients.maxima.indptr[j]
    total += clients.survivals.indptr[j + 1] - clients.survivals.indptr[j]
    return total + 4 * (clients.sums.indptr[j + 1] - clients.sums.indptr[j])


@kernel
def least_gains_kernel(clients, inside, allowed, out):
    """Lower bounds of h(j | U∖j), U = inside ∪ allowed: h(j | S) is at least that for every S ⊆ U∖j.

    Divisions and subtractions stand for sums over the others; what they may lose to rounding is taken off.
    """
    n = len(out)
    count = len(clients.first_best)
    first, second, owner = np.empty(count), np.empty(count), np.empty(count, dtype=np.int64)
    for i in range(count):
        first[i] = second[i] = clients.first_best[i]
        owner[i] = -1
    alive, sums = np.empty(len(clients.first_alive)), np.empty(len(clients.first_sums))
    for i in range(len(alive)):
        alive[i] = clients.first_alive[i]
    for i in range(len(sums)):
        sums[i] = clients.first_sums[i]
    for j in range(n):
        out[j] = 0.0
        if not (inside[j] or allowed[j]):
            continue
        indptr, rows, data = clients.maxima
        for p in range(indptr[j], indptr[j + 1]):
            i = rows[p]
            if data[p] > first[i]:
                second[i], first[i], owner[i] = first[i], data[p], j
            elif data[p] > second[i]:
                second[i] = data[p]
        indptr, rows, data = clients.survivals
        for p in range(indptr[j], indptr[j + 1]):
            alive[rows[p]] *= 1.0 - data[p]
        indptr, rows, data = clients.sums
        for p in range(indptr[j], indptr[j + 1]):
            sums[rows[p]] += data[p]
    for i in range(count):
        if owner[i] >= 0:
            out[owner[i]] += first[i] - second[i]
    for j in range(n):
        indptr, rows, data = clients.survivals
        for p in range(indptr[j], indptr[j + 1]):
            if data[p] < 0.999:
                out[j] += (1.0 - 1e-12) * alive[rows[p]] * data[p] / (1.0 - data[p])
        indptr, rows, data = clients.sums
        for p in range(indptr[j], indptr[j + 1]):
            i = rows[p]
            if clients.codes[i] == TABLE:
                less = sums[i] - 1.0
            else:
                less = min(sums[i], max(0.0, sums[i] - data[p]) + 1e-14 * sums[i])
            out[j] += clients.weights[i] * (curve_at(clients, i, sums[i]) - curve_at(clients, i, less))
        if not allowed[j]:
            out[j] = 0.0
