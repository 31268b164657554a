"""A first set: greedy, then exchanges of one element for another, on the states of the clients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.gain_model import Clients
from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats
from dsprog.exact.budget.client_kernels import add, entries, gain_of, reset
from dsprog.exact.budget.threshold_bound import key_of


class State(NamedTuple):
    """What clients have, rewards and costs."""

    best: Floats
    alive: Floats
    sums: Floats
    cost_best: Floats
    cost_alive: Floats
    cost_sums: Floats


def new_state(rewards: Clients, costs: Clients) -> State:
    """Arrays of the right sizes."""
    return State(*(np.empty_like(first) for side in (rewards, costs) for first in side[-3:]))


@part
def build(gains, state, members, count, left_out):
    """The state of the members but one, and their value without the constant."""
    reset(gains.rewards, state.best, state.alive, state.sums)
    reset(gains.costs, state.cost_best, state.cost_alive, state.cost_sums)
    value = 0.0
    for k in range(count):
        if k != left_out:
            value += take(gains, state, members[k])
    return value


@part
def take(gains, state, j):
    """Add an element, and return what it adds."""
    change = gains.modular[j] + add(gains.rewards, state.best, state.alive, state.sums, j)
    if gains.priced:
        change -= add(gains.costs, state.cost_best, state.cost_alive, state.cost_sums, j)
    return change


@part
def best_addition(gains, room, state, free, used, left, by_weight, old):
    """The element that fits and adds most, or most for its weight, and what it adds; ``old``: upper bounds or inf."""
    chosen, most, gain = -1, -np.inf, 0.0
    for j in range(len(free)):
        b = room.blocks[j]
        if not free[j] or (room.knapsack and room.weights[j] > left) or (b >= 0 and used[b] >= room.caps[b]):
            continue
        if (key_of(room, j, old[j]) if by_weight else old[j]) <= most:
            continue
        change = gains.modular[j] + gain_of(gains.rewards, state.best, state.alive, state.sums, j)
        if gains.priced:
            change -= gain_of(gains.costs, state.cost_best, state.cost_alive, state.cost_sums, j)
        else:
            old[j] = change
        key = key_of(room, j, change) if by_weight else change
        if key > most:
            chosen, most, gain = j, key, change
    return chosen, gain


@kernel
def greedy_kernel(gains, room, state, free, members, used, by_weight):
    """Add the best element while that helps, or is asked for: how many were chosen, and their value."""
    old = np.empty(len(free))
    for j in range(len(free)):
        old[j] = np.inf
    for b in range(len(used)):
        used[b] = 0
    value, count, left = build(gains, state, members, 0, -1), 0, room.capacity
    while count < room.most:
        j, gain = best_addition(gains, room, state, free, used, left, by_weight, old)
        if j < 0 or (gain <= 0.0 and count >= room.least):
            break
        value += take(gains, state, j)
        free[j] = False
        left -= room.weights[j]
        if room.blocks[j] >= 0:
            used[room.blocks[j]] += 1
        members[count] = j
        count += 1
    return count, value


@kernel
def exchange_kernel(gains, room, state, free, members, used, count, value, slack, most_work):
    """Take one out and put the best one in while the value rises: how many are chosen then, and their value."""
    old = np.empty(len(free))
    work, idle, k = 0, 0, 0
    step = 0
    for j in range(len(free)):
        step += entries(gains.rewards, j) + (entries(gains.costs, j) if gains.priced else 0)
    while count > 0 and idle < count and work < most_work:
        k = k % count
        out = members[k]
        less = build(gains, state, members, count, k)
        left = room.capacity
        for c in range(count):
            if c != k:
                left -= room.weights[members[c]]
        for j in range(len(free)):
            old[j] = np.inf
        if room.blocks[out] >= 0:
            used[room.blocks[out]] -= 1
        j, gain = best_addition(gains, room, state, free, used, left, False, old)
        work += step
        if count - 1 >= room.least and less > value + slack and (j < 0 or gain <= 0.0):
            free[out] = True
            count -= 1
            members[k] = members[count]
            value, idle = less, 0
            continue
        if j >= 0 and less + gain > value + slack:
            free[out], free[j] = True, False
            members[k] = out = j
            value, idle = less + gain, 0
        else:
            idle += 1
        if room.blocks[out] >= 0:
            used[room.blocks[out]] += 1
        k += 1
    return count, value
