"""The compiled depth-first search: a tree that only includes, with its stack as plain arrays.

A node is a set I with a list of candidates; its children add one candidate each, in falling order of their scores,
and keep the candidates that come later in that order, so that every set is met once. With r places left the children
stop as soon as base + the best r of the remaining scores is not above the target, where base and scores are either the
value and the gains, or those of the threshold bound (:mod:`dsprog.exact.budget.threshold_bound`), whichever leaves
fewer children.

*Lazy gains*: a gain that was computed for a smaller set is an upper bound (submodularity), and the first of the r
elements of a better set has at least the r-th part of what is missing. Only gains that reach that are computed again.

Whether thresholds pay at a node with r places is measured: the work below nodes with and without them, in numbers looked
at. Nodes without are tried from the leaves upwards, so that no trial is long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints
from dsprog.exact.budget.client_kernels import add, entries, gain_of, reset
from dsprog.exact.budget.threshold_bound import fill, key_of, lower_thresholds, sort_falling, trim

DEPTH, NODES, WORK, FOUND = 0, 1, 2, 3  # places of the tally
TARGET, SLACK, GAP, WITHIN, BEST = 0, 1, 2, 3, 4  # places of the goal
NODE_STEPS = 12  # of thresholds at a node below the root
TRIALS = 4  # nodes with, and without thresholds, before one is preferred
EXPLORE = 64  # every so many nodes the other one is tried


class Stack(NamedTuple):
    """One row a level: what is chosen, candidates, and states."""

    chosen: Ints
    place: Ints  # the child that is being looked at; -1: the node has not been entered
    size: Ints
    value: Floats
    load: Floats
    base: Floats
    rest: Floats  # a bound for what is left of the node
    begun: Ints  # work done before it
    bounded: Ints  # whether it has thresholds; -1: no choice was made
    used: Ints
    elements: Ints
    upper: Floats
    score: Floats
    best: Floats
    alive: Floats
    sums: Floats
    cost_best: Floats
    cost_alive: Floats
    cost_sums: Floats
    thresholds: Floats


class Found(NamedTuple):
    """The best sets that a search has met."""

    members: Ints
    lengths: Ints
    values: Floats


class Measured(NamedTuple):
    """Nodes and work without and with thresholds, by the places left."""

    nodes: Ints
    work: Floats


@part
def accept(stack, depth, j, value, found, goal, tally):
    """Keep a set that is above the target: what is chosen, and j unless negative."""
    keeps = len(found.values)
    slot = 0
    if tally[FOUND] < keeps:
        slot = tally[FOUND]
        tally[FOUND] += 1
    else:
        for k in range(keeps):
            if found.values[k] < found.values[slot]:
                slot = k
    for d in range(depth):
        found.members[slot, d] = stack.chosen[d + 1]
    found.lengths[slot] = depth
    if j >= 0:
        found.members[slot, depth] = j
        found.lengths[slot] = depth + 1
    found.values[slot] = value
    goal[BEST] = max(goal[BEST], value)
    if keeps == 1:
        goal[TARGET] = value + max(goal[GAP] * abs(value), goal[SLACK])
        return
    if tally[FOUND] == keeps:
        last = found.values[0]
        for k in range(keeps):
            last = min(last, found.values[k])
        goal[TARGET] = max(goal[TARGET], last + goal[SLACK])
    goal[TARGET] = max(goal[TARGET], goal[BEST] - goal[WITHIN] - goal[SLACK])


@part
def put(gains, stack, d, j):
    """Copy the state of level d to the next and add j there; the value changes by what is returned."""
    for i in range(stack.best.shape[1]):
        stack.best[d + 1, i] = stack.best[d, i]
    for i in range(stack.alive.shape[1]):
        stack.alive[d + 1, i] = stack.alive[d, i]
    for i in range(stack.sums.shape[1]):
        stack.sums[d + 1, i] = stack.sums[d, i]
    change = gains.modular[j] + add(gains.rewards, stack.best[d + 1], stack.alive[d + 1], stack.sums[d + 1], j)
    if gains.priced:
        for i in range(stack.cost_best.shape[1]):
            stack.cost_best[d + 1, i] = stack.cost_best[d, i]
        for i in range(stack.cost_alive.shape[1]):
            stack.cost_alive[d + 1, i] = stack.cost_alive[d, i]
        for i in range(stack.cost_sums.shape[1]):
            stack.cost_sums[d + 1, i] = stack.cost_sums[d, i]
        change -= add(gains.costs, stack.cost_best[d + 1], stack.cost_alive[d + 1], stack.cost_sums[d + 1], j)
    stack.chosen[d + 1] = j
    return change


@part
def evaluate(gains, room, stack, d, size, least_key, ascent, tally):
    """Compute again the gains that reach a level, and sort the candidates by their keys."""
    elements, upper = stack.elements[d], stack.upper[d]
    for q in range(size):
        j = elements[q]
        key = key_of(room, j, upper[q])
        if key >= least_key:
            upper[q] = gains.modular[j] - gains.floors[j]
            upper[q] += gain_of(gains.rewards, stack.best[d], stack.alive[d], stack.sums[d], j)
            key = key_of(room, j, upper[q])
            tally[WORK] += entries(gains.rewards, j)
        ascent.key[q], ascent.index[q] = key, q
    tally[WORK] += 4 * size
    sort_falling(ascent.key, ascent.index, size)
    for q in range(size):
        ascent.order[q], ascent.slope[q] = elements[ascent.index[q]], upper[ascent.index[q]]
    for q in range(size):
        elements[q], upper[q] = ascent.order[q], ascent.slope[q]
        stack.score[d, q] = upper[q]


@part
def last_level(gains, stack, d, size, found, goal, tally, value):
    """One place left: look at every candidate that may reach the target."""
    for q in range(size):
        if value + stack.upper[d, q] > goal[TARGET]:
            j = stack.elements[d, q]
            reached = value + gains.modular[j]
            reached += gain_of(gains.rewards, stack.best[d], stack.alive[d], stack.sums[d], j)
            tally[WORK] += entries(gains.rewards, j)
            if gains.priced:
                reached -= gain_of(gains.costs, stack.cost_best[d], stack.cost_alive[d], stack.cost_sums[d], j)
            tally[NODES] += 1
            if reached > goal[TARGET]:
                accept(stack, d, j, reached, found, goal, tally)


@part
def last_two_levels(gains, room, stack, d, size, found, goal, tally):
    """Two places left and no blocks: pairs in falling order of their gains, without a list for each child."""
    value = stack.value[d]
    for p in range(size):
        second = stack.upper[d, p + 1] if p + 1 < size else 0.0
        if room.least < d + 2:
            second = max(0.0, second)
        if value + stack.upper[d, p] + second <= goal[TARGET]:
            break
        reached = value + put(gains, stack, d, stack.elements[d, p])
        tally[WORK] += 2 * entries(gains.rewards, stack.chosen[d + 1]) + stack.best.shape[1]
        tally[NODES] += 1
        if d + 1 >= room.least and reached > goal[TARGET]:
            accept(stack, d + 1, -1, reached, found, goal, tally)
        for q in range(p + 1, size):
            if reached + stack.upper[d, q] <= goal[TARGET]:
                break
            j, there = stack.elements[d, q], d + 1
            more = reached + gains.modular[j]
            more += gain_of(gains.rewards, stack.best[there], stack.alive[there], stack.sums[there], j)
            if gains.priced:
                more -= gain_of(
                    gains.costs, stack.cost_best[there], stack.cost_alive[there], stack.cost_sums[there], j
                )
            tally[WORK] += entries(gains.rewards, j)
            tally[NODES] += 1
            if more > goal[TARGET]:
                accept(stack, d + 1, j, more, found, goal, tally)


@part
def prefers_thresholds(measured, r, trials):
    """Whether nodes with r places had less work below them with thresholds than without."""
    if measured.nodes[1, r] < trials or measured.nodes[0, r] < trials:
        return True
    return measured.work[1, r] * measured.nodes[0, r] <= measured.work[0, r] * measured.nodes[1, r]


@part
def with_thresholds(measured, r):
    """Whether to compute thresholds at a node with r places."""
    if measured.nodes[1, r] < TRIALS or (r > 3 and prefers_thresholds(measured, r - 1, TRIALS)):
        return True
    if measured.nodes[0, r] < TRIALS:
        return False
    other = (measured.nodes[0, r] + measured.nodes[1, r]) % EXPLORE == 0
    return prefers_thresholds(measured, r, TRIALS) != other


@part
def descend_thresholds(gains, room, stack, d, steps, ascent, pace, goal, tally):
    """Some steps of the thresholds at a node, and its bound so far."""
    size, most, least = stack.size[d], room.most - d, max(0, room.least - d)
    work = 0
    for q in range(size):
        work += entries(gains.rewards, stack.elements[d, q])
    needs = (stack.value[d], goal[TARGET], most, least, room.capacity - stack.load[d], steps)
    state = (stack.best[d], stack.alive[d], stack.sums[d])
    done = lower_thresholds(
        gains, room, stack.elements[d], size, state, needs, stack.used[d], ascent, pace, stack.score[d]
    )
    tally[WORK] += done * (work + 4 * size)
    return pace[2]


@part
def children(room, stack, d, base, score, target, ascent):
    """How many children are looked at if siblings stop by these scores."""
    size = stack.size[d]
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.load[d]
    p = 0
    while p < size:
        total, _ = fill(room, stack.elements[d], score, (p, size, most, least), left, stack.used[d], ascent)
        if base + total <= target:
            break
        p += 1
    return p


@part
def bound_by_thresholds(gains, room, stack, d, ascent, pace, goal, tally):
    """Whether thresholds close a node; if not, its candidates are trimmed and in the better order."""
    for i in range(len(ascent.thresholds)):
        ascent.thresholds[i] = max(stack.thresholds[d, i], stack.best[d, i])
        ascent.direction[i] = 0.0
    pace[0], pace[1], pace[2] = 1.0, 0.0, np.inf
    bound = descend_thresholds(gains, room, stack, d, NODE_STEPS, ascent, pace, goal, tally)
    if bound <= goal[TARGET]:
        return True
    settle(room, stack, d, ascent, bound, goal)
    return False


@part
def settle(room, stack, d, ascent, bound, goal):
    """After thresholds: the order that leaves fewer children, and candidates without those that no better set has."""
    elements, upper, score, size = stack.elements[d], stack.upper[d], stack.score[d], stack.size[d]
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.load[d]
    for i in range(len(ascent.thresholds)):
        stack.thresholds[d, i] = ascent.least[i]
    by_gain = children(room, stack, d, stack.value[d], upper, goal[TARGET], ascent)
    for q in range(size):
        ascent.order[q], ascent.slope[q] = elements[q], upper[q]
    for q in range(size):
        elements[q], upper[q] = ascent.order[ascent.best_index[q]], ascent.slope[ascent.best_index[q]]
    total, _ = fill(room, elements, score, (0, size, most, least), left, stack.used[d], ascent)
    stack.base[d], stack.rest[d] = bound - total, min(stack.rest[d], bound)
    by_slope = children(room, stack, d, stack.base[d], score, goal[TARGET], ascent)
    kept = trim(room, elements, upper, score, size, most, left, bound, goal[TARGET])
    stack.size[d] = kept
    if by_slope <= by_gain:
        return
    for q in range(size):
        ascent.stays[ascent.order[q]] = False
    for q in range(kept):
        ascent.stays[elements[q]] = True
    count = 0
    for q in range(size):
        if ascent.stays[ascent.order[q]]:
            elements[count], upper[count], score[count] = ascent.order[q], ascent.slope[q], ascent.slope[q]
            count += 1
    stack.base[d] = stack.value[d]


@part
def enter(gains, room, stack, d, ascent, pace, measured, found, goal, tally):
    """Look at a node for the first time; whether it has children to look at."""
    value, size = stack.value[d], stack.size[d]
    if d >= room.least and value > goal[TARGET]:
        accept(stack, d, -1, value, found, goal, tally)
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.load[d]
    if most <= 0 or size == 0 or least > most:
        return False
    missing = goal[TARGET] - value
    share = left if room.knapsack else most
    if missing <= 0.0:
        level = -np.inf if room.knapsack or least == 0 else missing / least
    else:
        level = missing / share if share > 0.0 else 0.0
    evaluate(gains, room, stack, d, size, level, ascent, tally)
    total, _ = fill(room, stack.elements[d], stack.score[d], (0, size, most, least), left, stack.used[d], ascent)
    bound = value + total
    stack.base[d], stack.rest[d] = value, min(stack.rest[d], bound)
    if bound <= goal[TARGET]:
        return False
    size = trim(room, stack.elements[d], stack.upper[d], stack.score[d], size, most, left, bound, goal[TARGET])
    stack.size[d] = size
    if most == 1:
        last_level(gains, stack, d, size, found, goal, tally, value)
        return False
    simple = len(room.caps) == 0 and not room.knapsack
    if most == 2 and simple:
        last_two_levels(gains, room, stack, d, size, found, goal, tally)
        return False
    if stack.best.shape[1] == 0 or most < 3 or goal[TARGET] == -np.inf or size < 3:
        return True
    stack.bounded[d] = 1 if with_thresholds(measured, most) else 0
    if stack.bounded[d] == 1:
        return not bound_by_thresholds(gains, room, stack, d, ascent, pace, goal, tally)
    return True


@part
def make_child(gains, room, stack, d, p, tally):
    """The child with candidate p at the next level, and the candidates after it that fit."""
    j = stack.elements[d, p]
    stack.value[d + 1] = stack.value[d] + put(gains, stack, d, j)
    stack.load[d + 1] = stack.load[d] + room.weights[j]
    for b in range(len(room.caps)):
        stack.used[d + 1, b] = stack.used[d, b]
    if room.blocks[j] >= 0:
        stack.used[d + 1, room.blocks[j]] += 1
    size, left = 0, room.capacity - stack.load[d + 1]
    for q in range(p + 1, stack.size[d]):
        k = stack.elements[d, q]
        b = room.blocks[k]
        if (not room.knapsack or room.weights[k] <= left) and (b < 0 or stack.used[d + 1, b] < room.caps[b]):
            stack.elements[d + 1, size], stack.upper[d + 1, size] = k, stack.upper[d, q]
            size += 1
    if stack.bounded[d] == 1:
        for i in range(stack.thresholds.shape[1]):
            stack.thresholds[d + 1, i] = stack.thresholds[d, i]
    else:
        for i in range(stack.thresholds.shape[1]):
            stack.thresholds[d + 1, i] = max(stack.thresholds[d, i], stack.best[d, i])
    stack.size[d + 1], stack.place[d + 1], stack.rest[d + 1] = size, -1, stack.rest[d]
    stack.begun[d + 1], stack.bounded[d + 1] = tally[WORK], -1
    tally[WORK] += 2 * entries(gains.rewards, j) + stack.best.shape[1] + size


@kernel
def load_kernel(gains, stack, path):
    """The state of the first level: what is chosen there; the value of that, without the constant."""
    reset(gains.rewards, stack.best[0], stack.alive[0], stack.sums[0])
    reset(gains.costs, stack.cost_best[0], stack.cost_alive[0], stack.cost_sums[0])
    value = 0.0
    for j in path:
        value += gains.modular[j] + add(gains.rewards, stack.best[0], stack.alive[0], stack.sums[0], j)
        if gains.priced:
            value -= add(gains.costs, stack.cost_best[0], stack.cost_alive[0], stack.cost_sums[0], j)
    for i in range(stack.best.shape[1]):
        stack.thresholds[0, i] = stack.best[0, i]
    return value


@kernel
def root_kernel(gains, room, stack, ascent, pace, goal, tally, steps):
    """Some steps of the thresholds at the first level, whose candidates are trimmed; its bound so far."""
    elements, upper, score, size = stack.elements[0], stack.upper[0], stack.score[0], stack.size[0]
    if size == 0 or room.most <= 0:
        return stack.value[0]
    ascent.best_index[0] = -1
    bound = descend_thresholds(gains, room, stack, 0, steps, ascent, pace, goal, tally)
    if ascent.best_index[0] >= 0 and bound > goal[TARGET]:
        for i in range(len(ascent.thresholds)):
            stack.thresholds[0, i] = ascent.least[i]
        for q in range(size):
            ascent.order[q], ascent.slope[q] = elements[q], upper[q]
        for q in range(size):
            elements[q], upper[q] = ascent.order[ascent.best_index[q]], ascent.slope[ascent.best_index[q]]
        stack.size[0] = trim(room, elements, upper, score, size, room.most, room.capacity, bound, goal[TARGET])
    stack.rest[0] = min(stack.rest[0], bound)
    return bound


@kernel
def gains_kernel(gains, room, stack, ascent, tally):
    """All gains at the first level, sorted, and the bound from them."""
    size = stack.size[0]
    evaluate(gains, room, stack, 0, size, -np.inf, ascent, tally)
    ends = (0, size, room.most, room.least)
    total, _ = fill(room, stack.elements[0], stack.score[0], ends, room.capacity, stack.used[0], ascent)
    return stack.value[0] + total


@kernel
def search_kernel(gains, room, stack, ascent, pace, measured, found, goal, tally, most_work):
    """Go on until no node is open (True) or so much work is done."""
    stop = tally[WORK] + most_work
    while tally[DEPTH] >= 0:
        if tally[WORK] >= stop:
            return False
        d = tally[DEPTH]
        going = True
        if stack.place[d] < 0:
            tally[NODES] += 1
            going = enter(gains, room, stack, d, ascent, pace, measured, found, goal, tally)
        if going:
            p, size = stack.place[d] + 1, stack.size[d]
            ends = (p, size, room.most - d, max(0, room.least - d))
            left = room.capacity - stack.load[d]
            going = p < size
            if going:
                total, _ = fill(room, stack.elements[d], stack.score[d], ends, left, stack.used[d], ascent)
                stack.rest[d] = min(stack.rest[d], stack.base[d] + total)
                going = stack.rest[d] > goal[TARGET]
            if going:
                stack.place[d] = p
                make_child(gains, room, stack, d, p, tally)
                tally[DEPTH] += 1
        if not going:
            if stack.bounded[d] >= 0:
                measured.nodes[stack.bounded[d], room.most - d] += 1
                measured.work[stack.bounded[d], room.most - d] += tally[WORK] - stack.begun[d]
            tally[DEPTH] -= 1
    return True
