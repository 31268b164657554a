"""A first set: greedy, then exchanges of one element for another, on the first two levels of the stack."""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.budget.client_kernels import change_by, effort, put
from dsprog.exact.budget.depth_first import CHOSEN, SIZE, SLACK, VALUE, WORK
from dsprog.exact.budget.threshold_bound import KEY, STAYS, key_of


@part
def best_addition(gains, room, stack, used, left, by_weight, desk):
    """The element that fits and adds most, or most for its weight, and what it adds; KEY: upper bounds, or inf."""
    chosen, most, gain, old = -1, -np.inf, 0.0, desk.scores[KEY]
    for q in range(stack.marks[0, SIZE]):
        j = stack.elements[0, q]
        b = room.blocks[j]
        if desk.lists[STAYS, j] == 0 or (room.knapsack and room.weights[j] > left):
            continue
        if (b >= 0 and used[b] >= room.caps[b]) or (key_of(room, j, old[q]) if by_weight else old[q]) <= most:
            continue
        change = change_by(gains, stack.state[1], j)
        if not gains.priced:
            old[q] = change
        key = key_of(room, j, change) if by_weight else change
        if key > most:
            chosen, most, gain = j, key, change
    return chosen, gain


@part
def rebuild(gains, room, stack, count, left_out, used, desk):
    """The state of those chosen but one, in level 1: their value, and what is left of the knapsack."""
    for i in range(stack.state.shape[1]):
        stack.state[1, i] = stack.state[0, i]
    for b in range(len(used)):
        used[b] = 0
    for q in range(stack.marks[0, SIZE]):
        desk.scores[KEY, q] = np.inf
    value, left = stack.numbers[0, VALUE], room.capacity
    for d in range(1, count + 1):
        if d != left_out:
            j = stack.marks[d, CHOSEN]
            value += put(gains, stack.state[1], j)
            left -= room.weights[j]
            if room.blocks[j] >= 0:
                used[room.blocks[j]] += 1
    return value, left


@part
def greedy(gains, room, stack, desk, by_weight):
    """Choose the best element while that helps, or is needed: how many are chosen, and their value."""
    used, count = stack.used[1], 0
    for q in range(stack.marks[0, SIZE]):
        desk.lists[STAYS, stack.elements[0, q]] = 1
    value, left = rebuild(gains, room, stack, 0, 0, used, desk)
    while count < room.most:
        j, gain = best_addition(gains, room, stack, used, left, by_weight, desk)
        if j < 0 or (gain <= 0.0 and count >= room.least):
            break
        value += put(gains, stack.state[1], j)
        left -= room.weights[j]
        if room.blocks[j] >= 0:
            used[room.blocks[j]] += 1
        count += 1
        stack.marks[count, CHOSEN], desk.lists[STAYS, j] = j, 0
    return count, value


@part
def exchange(gains, room, stack, desk, goal, tally, count, value, most_work):
    """Take one out and put the best one in while the value rises: how many are chosen then, and their value."""
    used, idle, d, step, stop = stack.used[1], 0, 1, 0, tally[WORK] + most_work
    for q in range(stack.marks[0, SIZE]):
        step += effort(gains.clients, stack.elements[0, q])
    while idle < count and tally[WORK] < stop:
        d = d if d <= count else 1
        out = stack.marks[d, CHOSEN]
        less, left = rebuild(gains, room, stack, count, d, used, desk)
        j, gain = best_addition(gains, room, stack, used, left, False, desk)
        tally[WORK] += step
        if less > value + goal[SLACK] and count > room.least and (j < 0 or gain <= 0.0):
            stack.marks[d, CHOSEN], desk.lists[STAYS, out] = stack.marks[count, CHOSEN], 1
            count -= 1
            value, idle = less, 0
        elif j >= 0 and less + gain > value + goal[SLACK]:
            stack.marks[d, CHOSEN], desk.lists[STAYS, out], desk.lists[STAYS, j] = j, 1, 0
            value, idle = less + gain, 0
            d += 1
        else:
            idle += 1
            d += 1
    return count, value
