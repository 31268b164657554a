"""The compiled depth-first search: a tree that includes, and near its root excludes as well where there are prices.

A node is a set I with a list of candidates; its children add one candidate each, in falling order of their scores,
and keep the candidates that come later in that order, so that every set is met once. With r places left the children
stop as soon as base + the best r of the remaining scores is not above the target, where base and scores are either the
value and the gains (:mod:`dsprog.exact.budget.gains_at_node`), or those of the threshold bound
(:mod:`dsprog.exact.budget.thresholds_at_node`), whichever leaves fewer children. Where clients have prices and many
places are left, a node has one child at a time, and is looked at again without its element
(:mod:`dsprog.exact.budget.both_ways`).

*Lazy gains*: a gain that was computed for a smaller set is an upper bound (submodularity), and the first of the r
elements of a better set has at least the r-th part of what is missing. Only gains that reach that are computed again.

Where clients are about few elements each, the gains of all are kept up to date instead: an element that is chosen
changes those that share a client with it (:func:`dsprog.exact.budget.client_kernels.lower_gains`).
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.budget.both_ways import closed_either_way, closed_without_first, goes_both_ways
from dsprog.exact.budget.client_kernels import effort, lower_gains
from dsprog.exact.budget.gains_at_node import closed_by_best_gains, evaluate, last_level, last_two_levels
from dsprog.exact.budget.scarce_clients import limited
from dsprog.exact.budget.search_stack import (
    BASE,
    BEGUN,
    BOUNDED,
    DEPTH,
    FORCED,
    LIMIT,
    LOAD,
    NODES,
    PLACE,
    REST,
    SIZE,
    TARGET,
    VALUE,
    WORK,
    accept,
    copy_down,
    put_next,
)
from dsprog.exact.budget.threshold_bound import fill, trim
from dsprog.exact.budget.thresholds_at_node import closed_by_thresholds, with_thresholds


@part
def enter(gains, room, stack, d, desk, measured, found, goal, tally):
    """Look at a node for the first time; whether it has children to look at."""
    value, numbers = stack.numbers[d, VALUE], stack.numbers
    if d >= room.least and value > goal[TARGET]:
        accept(stack, d, -1, value, found, goal, tally)
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - numbers[d, LOAD]
    if most <= 0 or stack.marks[d, SIZE] == 0 or least > most:
        return False
    if stack.marks[d, FORCED] > 0:
        stack.marks[d, LIMIT] = 1
        return True
    missing = goal[TARGET] - value
    share = left if room.knapsack else float(most)
    if missing <= 0.0:
        level = -np.inf if room.knapsack or least == 0 else missing / least
    else:
        level = missing / share if share > 0.0 else 0.0
    if not room.knapsack and missing > 0.0 and closed_by_best_gains(gains, stack, d, most, desk, goal, tally):
        return False
    evaluate(gains, room, stack, d, level, desk, tally)
    elements, score, size = stack.elements[d], stack.score[d], stack.marks[d, SIZE]
    total, _ = fill(room, elements, score, (0, size, most, least), left, stack.used[d], desk)
    bound = value + total
    numbers[d, BASE], numbers[d, REST] = value, min(numbers[d, REST], bound)
    if bound <= goal[TARGET]:
        return False
    ends = (0, size, most, least)
    size = trim(room, elements, stack.upper[d], score, ends, left, stack.used[d], bound, goal[TARGET], desk)
    stack.marks[d, SIZE] = size
    if most == 1:
        last_level(gains, stack, d, 0, value, found, goal, tally)
        return False
    if most == 2 and len(room.caps) == 0 and not room.knapsack:
        last_two_levels(gains, room, stack, d, found, goal, tally)
        return False
    if stack.thresholds.shape[1] == 0 or most < 3 or goal[TARGET] == -np.inf or size < 3:
        return True
    stack.marks[d, BOUNDED] = 1 if with_thresholds(stack, measured, most) else 0
    if stack.marks[d, BOUNDED] == 1 and goes_both_ways(room, stack, d):
        return not closed_either_way(gains, room, stack, d, max(0, d - 1), desk, goal, tally)
    if stack.marks[d, BOUNDED] == 1 and closed_by_thresholds(gains, room, stack, d, desk, measured, goal, tally):
        return False
    if gains.clients.offsets[1] > 0 and (stack.marks[d, BOUNDED] == 1 or (d > 0 and stack.marks[d - 1, LIMIT] > 0)):
        return limited(gains, room, stack, d, desk, goal, tally)
    return True


@part
def move_touching(clients, touching, j):
    """A tangent touches where it did, seen from the set with j."""
    for p in range(clients.indptr[1, j], clients.indptr[1, j + 1]):
        i = clients.rows[p]
        touching[i] = max(0.0, touching[i] - clients.hazards[p])
    for p in range(clients.indptr[2, j], clients.indptr[2, j + 1]):
        i = clients.rows[p]
        touching[i] = max(0.0, touching[i] - clients.data[p])


@part
def make_child(gains, room, stack, d, p, tally):
    """The child with candidate p at the next level, and the candidates after it that fit."""
    j, marks, numbers = stack.elements[d, p], stack.marks, stack.numbers
    numbers[d + 1, VALUE] = numbers[d, VALUE] + put_next(gains, stack, d, j)
    if len(gains.heads) > 0:
        copy_down(stack.gain, d)
        tally[WORK] += lower_gains(gains, stack.state[d], stack.state[d + 1], stack.gain[d + 1], j)
    numbers[d + 1, LOAD] = numbers[d, LOAD] + room.weights[j]
    numbers[d + 1, REST] = numbers[d, REST]
    for b in range(len(room.caps)):
        stack.used[d + 1, b] = stack.used[d, b]
    if room.blocks[j] >= 0:
        stack.used[d + 1, room.blocks[j]] += 1
    size, left = 0, room.capacity - numbers[d + 1, LOAD]
    for q in range(p + 1, marks[d, SIZE]):
        k = stack.elements[d, q]
        b = room.blocks[k]
        if (not room.knapsack or room.weights[k] <= left) and (b < 0 or stack.used[d + 1, b] < room.caps[b]):
            stack.elements[d + 1, size], stack.upper[d + 1, size] = k, stack.upper[d, q]
            size += 1
    copy_down(stack.thresholds, d)
    move_touching(gains.clients, stack.thresholds[d + 1], j)
    marks[d + 1, SIZE], marks[d + 1, PLACE] = size, -1
    marks[d + 1, BEGUN], marks[d + 1, BOUNDED], marks[d + 1, LIMIT] = tally[WORK], -1, -1
    marks[d + 1, FORCED] = marks[d, FORCED] - 1 if marks[d, FORCED] > 1 else -1
    tally[WORK] += 2 * effort(gains.clients, j) + stack.state.shape[1] // 2 + size


@part
def search(gains, room, stack, desk, measured, found, goal, tally, most_work):
    """Go on until no node is open (True) or so much work is done."""
    stop, marks, numbers = tally[WORK] + most_work, stack.marks, stack.numbers
    while tally[DEPTH] >= 0:
        if tally[WORK] >= stop:
            return False
        d = tally[DEPTH]
        going = True
        if marks[d, PLACE] < 0:
            tally[NODES] += 1
            going = enter(gains, room, stack, d, desk, measured, found, goal, tally)
        elif marks[d, FORCED] == 0:
            tally[NODES] += 1
            going = not closed_without_first(gains, room, stack, d, desk, goal, tally)
        p, size = marks[d, PLACE] + 1, marks[d, SIZE]
        if marks[d, LIMIT] >= 0:
            going = going and p < marks[d, LIMIT] and numbers[d, REST] > goal[TARGET]
        elif going and p < size:
            ends, left = (p, size, room.most - d, max(0, room.least - d)), room.capacity - numbers[d, LOAD]
            total, _ = fill(room, stack.elements[d], stack.score[d], ends, left, stack.used[d], desk)
            numbers[d, REST] = min(numbers[d, REST], numbers[d, BASE] + total)
            going = numbers[d, REST] > goal[TARGET]
        if going and p < size:
            marks[d, PLACE] = p
            make_child(gains, room, stack, d, p, tally)
            tally[DEPTH] += 1
            continue
        kind = marks[d, BOUNDED]
        if kind >= 0:
            measured[kind, room.most - d] += 1.0
            measured[2 + kind, room.most - d] += tally[WORK] - marks[d, BEGUN]
        tally[DEPTH] -= 1
    return True
