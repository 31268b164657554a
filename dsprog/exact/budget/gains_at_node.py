"""What gains say of a node: the bound of the best ones, and the last two levels, which need nothing else.

A gain that was computed for a smaller set is an upper bound (submodularity): it is computed again only where it could
matter.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.budget.client_kernels import change_by, effort, gain_of
from dsprog.exact.budget.search_stack import CHOSEN, NODES, SIZE, TARGET, VALUE, WORK, accept, put_next
from dsprog.exact.budget.threshold_bound import INDEX, KEY, ORDER, SLOPE, fill, key_of, sort_falling


@part
def evaluate(gains, room, stack, d, least_key, desk, tally):
    """Compute again the gains that reach a level, and sort the candidates by their keys."""
    elements, upper, size = stack.elements[d], stack.upper[d], stack.marks[d, SIZE]
    lists, scores, state = desk.lists, desk.scores, stack.state[d]
    for q in range(size):
        j = elements[q]
        key = key_of(room, j, upper[q])
        if key >= least_key:
            if len(gains.heads) > 0:
                upper[q] = stack.gain[d, j]
            else:
                upper[q] = gain_of(gains, state, j)
                tally[WORK] += effort(gains.clients, j)
            key = key_of(room, j, upper[q])
        scores[KEY, q], lists[INDEX, q] = key, q
    tally[WORK] += 16 * size
    sort_falling(scores[KEY], lists[INDEX], size)
    for q in range(size):
        i = lists[INDEX, q]
        lists[ORDER, q], scores[SLOPE, q] = elements[i], upper[i]
    for q in range(size):
        elements[q], upper[q], stack.score[d, q] = lists[ORDER, q], scores[SLOPE, q], scores[SLOPE, q]


@part
def closed_by_best_gains(gains, stack, d, most, desk, goal, tally):
    """Whether the value and the best gains, as many as there are places, stay at or below the target.

    They are found without a sort: an old gain is an upper bound, and is computed again only where it is above the
    least of the best so far.
    """
    upper, best, taken = stack.upper[d], desk.scores[KEY], 0
    total, missing = 0.0, goal[TARGET] - stack.numbers[d, VALUE]
    for q in range(stack.marks[d, SIZE]):
        if upper[q] <= 0.0 or (taken == most and upper[q] <= best[most - 1]):
            continue
        j = stack.elements[d, q]
        if len(gains.heads) > 0:
            gain = stack.gain[d, j]
        else:
            gain = gain_of(gains, stack.state[d], j)
            tally[WORK] += effort(gains.clients, j)
        upper[q] = gain
        if gain <= 0.0 or (taken == most and gain <= best[most - 1]):
            continue
        if taken == most:
            total -= best[most - 1]
        else:
            taken += 1
        total += gain
        if total > missing:
            return False
        p = taken - 1
        while p > 0 and best[p - 1] < gain:
            best[p] = best[p - 1]
            p -= 1
        best[p] = gain
    return total <= missing


@part
def last_level(gains, stack, d, first, value, found, goal, tally):
    """One place left after those that are chosen: look at every candidate that may reach the target."""
    level = d if first == 0 else d + 1
    for q in range(first, stack.marks[d, SIZE]):
        if value + stack.upper[d, q] > goal[TARGET]:
            j = stack.elements[d, q]
            reached = value + change_by(gains, stack.state[level], j)
            tally[WORK] += effort(gains.clients, j)
            tally[NODES] += 1
            if reached > goal[TARGET]:
                accept(stack, level, j, reached, found, goal, tally)
        elif first > 0:
            break  # they are sorted by these gains


@part
def last_two_levels(gains, room, stack, d, found, goal, tally):
    """Two places left and no blocks: pairs in falling order of their gains, without a list for each child."""
    value, size = stack.numbers[d, VALUE], stack.marks[d, SIZE]
    for p in range(size):
        second = stack.upper[d, p + 1] if p + 1 < size else 0.0
        if room.least < d + 2:
            second = max(0.0, second)
        if value + stack.upper[d, p] + second <= goal[TARGET]:
            break
        reached = value + put_next(gains, stack, d, stack.elements[d, p])
        tally[WORK] += 2 * effort(gains.clients, stack.marks[d + 1, CHOSEN]) + stack.state.shape[1] // 4
        tally[NODES] += 1
        if d + 1 >= room.least and reached > goal[TARGET]:
            accept(stack, d + 1, -1, reached, found, goal, tally)
        last_level(gains, stack, d, p + 1, reached, found, goal, tally)


@part
def bound_by_gains(gains, room, stack, desk, tally):
    """All gains at the first level, sorted, and the bound from them."""
    evaluate(gains, room, stack, 0, -np.inf, desk, tally)
    ends = (0, stack.marks[0, SIZE], room.most, room.least)
    total, _ = fill(room, stack.elements[0], stack.score[0], ends, room.capacity, stack.used[0], desk)
    return stack.numbers[0, VALUE] + total
