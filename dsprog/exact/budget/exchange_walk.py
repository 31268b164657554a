"""A walk of exchanges with a short memory, for a better first set.

Each step takes the best exchange of a member for another candidate, also one that makes the set worse; who left stays
outside and who came stays inside for some steps (tabu search), unless the set is the best so far.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.exact.budget.client_kernels import change_by, put
from dsprog.exact.budget.threshold_bound import INDEX, ORDER, STAYS

OUTSIDE, INSIDE = 8, 4  # steps that who left stays outside, and who came inside


@part
def state_of(gains, stack, members, size, left_out):
    """Level 1 of the stack: the state of a set without one of its members; its value above the first."""
    total = 0.0
    for i in range(stack.state.shape[1]):
        stack.state[1, i] = stack.state[0, i]
    for k in range(size):
        if k != left_out:
            total += put(gains, stack.state[1], members[k])
    return total


@part
def best_exchange(gains, stack, desk, size, step, best):
    """Places of the member that leaves and the candidate that comes, and the value then."""
    members, free, until = desk.lists[ORDER], stack.elements[0], desk.lists[STAYS]
    leaves, comes, most = -1, -1, -np.inf
    for k in range(size):
        without = state_of(gains, stack, members, size, k)
        for q in range(stack.marks[0, 2]):
            j = free[q]
            if desk.lists[INDEX, j] == 1:
                continue
            value = without + change_by(gains, stack.state[1], j)
            allowed = until[members[k]] <= step and until[j] <= step
            if value > most and (allowed or value > best):
                leaves, comes, most = k, q, value
    return leaves, comes, most


@kernel
def exchange_kernel(gains, stack, desk, found, steps):
    """So many exchanges from the set in ``found``; the best set goes back there. Its value less that of level 0."""
    members, inside, until = desk.lists[ORDER], desk.lists[INDEX], desk.lists[STAYS]
    size = found.members[0, 0]
    for j in range(len(inside)):
        inside[j], until[j] = 0, 0
    for k in range(size):
        members[k] = found.members[0, 1 + k]
        inside[members[k]] = 1
    best = state_of(gains, stack, members, size, -1)
    for step in range(1, steps + 1):
        leaves, comes, value = best_exchange(gains, stack, desk, size, step, best)
        if leaves < 0:
            break
        old, new = members[leaves], stack.elements[0, comes]
        members[leaves], inside[old], inside[new] = new, 0, 1
        until[old], until[new] = step + OUTSIDE, step + INSIDE
        if value > best:
            best = value
            for k in range(size):
                found.members[0, 1 + k] = members[k]
    return best
