"""Thresholds and prices at a node of the depth-first search: steps, the candidates that they leave, and their order.

Whether they pay at a node with r places is measured: the work below nodes with and without them, in steps of loops.
Nodes without are tried from the leaves upwards, so that no trial is long. The measure can be wrong, since nodes below
one without are many and easy: where many places are left, all nodes have prices.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.budget.client_kernels import effort
from dsprog.exact.budget.price_bound import CHEAPEST, PRICE, TREND
from dsprog.exact.budget.search_stack import BASE, BOUNDED, LOAD, REST, SIZE, TARGET, VALUE, WORK
from dsprog.exact.budget.threshold_bound import (
    BOUND,
    CAME,
    DIRECTION,
    FAILED,
    LEAST,
    LENGTH,
    ORDER,
    SLOPE,
    STAYS,
    STEP,
    THRESHOLD,
    fill,
    lower_thresholds,
    trim,
)

PRICE_LENGTH = 1.5  # of the first step of prices at a node
PRICE_STEPS = 60  # of prices: they are many more than thresholds
PRICED = 20  # steps of loops that an entry costs as prices are moved
NODE_STEPS = 12  # of thresholds at a node below the root
TRIALS = 4  # nodes with, and without thresholds, before one is preferred
MANY = 8  # places left: prices are used at all nodes with more
EXPLORE = 64  # every so many nodes the other one is tried
PATIENCE = 3.0  # thresholds trim what is below, which makes nodes there fewer: others must be so much cheaper
USEFUL = 0.7  # of the children: thresholds that leave more of them are not worth their steps, if they cost more


@part
def prefers_thresholds(measured, r):
    """Whether nodes with r places had less work below them with thresholds than without."""
    if measured[1, r] < TRIALS or measured[0, r] < TRIALS:
        return True
    patience = PATIENCE if measured[5, r] <= USEFUL * measured[4, r] else 1.0
    return measured[3, r] * measured[0, r] <= patience * measured[2, r] * measured[1, r]


@part
def with_thresholds(stack, measured, r):
    """Whether to compute thresholds at a node with r places.

    ``measured``: nodes without and with them, the work below these, and children before and after thresholds.
    """
    if stack.prices.shape[1] > 0 and r > MANY:
        return True
    if measured[1, r] < TRIALS or (r > 3 and prefers_thresholds(measured, r - 1)):
        return True
    if measured[0, r] < TRIALS:
        return False
    other = (measured[0, r] + measured[1, r]) % EXPLORE == 0
    return prefers_thresholds(measured, r) != other


@part
def step_thresholds(gains, room, stack, d, steps, desk, goal, tally):
    """Some steps of the thresholds at a node, and its bound so far."""
    size, most, least = stack.marks[d, SIZE], room.most - d, max(0, room.least - d)
    work = 16 * size + PRICED * stack.prices.shape[1]
    for q in range(size):
        work += effort(gains.clients, stack.elements[d, q])
    needs = (size, stack.numbers[d, VALUE], most, least, room.capacity - stack.numbers[d, LOAD], steps)
    elements, score, state, used = stack.elements[d], stack.score[d], stack.state[d], stack.used[d]
    tally[WORK] += work * lower_thresholds(gains, room, elements, score, state, used, needs, desk, goal)
    return goal[BOUND]


@part
def children(room, stack, d, base, score, target, desk):
    """How many children are looked at if siblings stop by these scores."""
    size = stack.marks[d, SIZE]
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.numbers[d, LOAD]
    p = 0
    while p < size:
        total, _ = fill(room, stack.elements[d], score, (p, size, most, least), left, stack.used[d], desk)
        if base + total <= target:
            break
        p += 1
    return p


@part
def reorder(stack, d, desk):
    """Candidates in the order of the best thresholds; the old one is kept in ORDER and SLOPE."""
    elements, upper, lists, scores, size = (
        stack.elements[d],
        stack.upper[d],
        desk.lists,
        desk.scores,
        stack.marks[d, SIZE],
    )
    for q in range(size):
        lists[ORDER, q], scores[SLOPE, q] = elements[q], upper[q]
    for q in range(size):
        i = lists[CAME, q]
        elements[q], upper[q] = lists[ORDER, i], scores[SLOPE, i]
    for i in range(stack.thresholds.shape[1]):
        stack.thresholds[d, i] = desk.clients[LEAST, i]
    for e in range(stack.prices.shape[1]):
        stack.prices[d, e] = desk.prices[CHEAPEST, e]


@part
def settle(room, stack, d, by_gain, desk, goal):
    """After thresholds: the order that leaves fewer children, and candidates without those that no better set has.

    ``by_gain``: how many children gains leave; returned is how many are left now.
    """
    elements, upper, score, size = stack.elements[d], stack.upper[d], stack.score[d], stack.marks[d, SIZE]
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.numbers[d, LOAD]
    lists, scores, bound, target = desk.lists, desk.scores, goal[BOUND], goal[TARGET]
    reorder(stack, d, desk)
    total, _ = fill(room, elements, score, (0, size, most, least), left, stack.used[d], desk)
    stack.numbers[d, BASE], stack.numbers[d, REST] = bound - total, min(stack.numbers[d, REST], bound)
    by_slope = children(room, stack, d, bound - total, score, target, desk)
    kept = trim(room, elements, upper, score, (0, size, most, least), left, stack.used[d], bound, target, desk)
    stack.marks[d, SIZE] = kept
    if by_slope <= by_gain:
        return by_slope
    for q in range(size):
        lists[STAYS, lists[ORDER, q]] = 0
    for q in range(kept):
        lists[STAYS, elements[q]] = 1
    count = 0
    for q in range(size):
        if lists[STAYS, lists[ORDER, q]] == 1:
            elements[count], upper[count], score[count] = lists[ORDER, q], scores[SLOPE, q], scores[SLOPE, q]
            count += 1
    stack.numbers[d, BASE] = stack.numbers[d, VALUE]
    return min(by_gain, kept)


@part
def inherit_prices(gains, stack, d, above, desk):
    """Begin with the prices of the last level up to ``above`` that has some, as clients have less to lose."""
    while above > 0 and stack.marks[above, BOUNDED] != 1:
        above -= 1
    for i in range(gains.clients.offsets[1], gains.clients.offsets[2]):
        before, now = stack.state[above, i], stack.state[d, i]
        part_left = now / before if before > 0.0 else 0.0
        for e in range(gains.heads[i], gains.heads[i + 1]):
            desk.prices[PRICE, e], desk.prices[TREND, e] = part_left * stack.prices[above, e], 0.0


@part
def closed_by_thresholds(gains, room, stack, d, desk, measured, goal, tally):
    """Whether thresholds close a node; if not, its candidates are fewer and in the better order."""
    places = room.most - d
    by_gain = children(room, stack, d, stack.numbers[d, VALUE], stack.upper[d], goal[TARGET], desk)
    measured[4, places] += by_gain
    for i in range(stack.thresholds.shape[1]):
        low = stack.state[d, i] if i < gains.clients.offsets[1] else 0.0
        desk.clients[THRESHOLD, i], desk.clients[DIRECTION, i] = max(stack.thresholds[d, i], low), 0.0
    steps = NODE_STEPS
    goal[LENGTH], goal[FAILED], goal[BOUND], goal[STEP] = 1.0, 0.0, np.inf, 8.0
    if stack.prices.shape[1] > 0:
        inherit_prices(gains, stack, d, max(0, d - 1), desk)
        steps, goal[LENGTH] = PRICE_STEPS, PRICE_LENGTH
    if step_thresholds(gains, room, stack, d, steps, desk, goal, tally) <= goal[TARGET]:
        return True
    measured[5, places] += settle(room, stack, d, by_gain, desk, goal)
    return False


@part
def bound_by_steps(gains, room, stack, desk, goal, tally, steps):
    """Some steps of the thresholds at the first level, whose candidates are trimmed; its bound so far."""
    size = stack.marks[0, SIZE]
    desk.lists[CAME, 0] = -1
    if stack.prices.shape[1] > 0 and goal[BOUND] == np.inf:
        inherit_prices(gains, stack, 0, 0, desk)
    bound = step_thresholds(gains, room, stack, 0, steps, desk, goal, tally)
    if desk.lists[CAME, 0] >= 0 and bound > goal[TARGET]:
        reorder(stack, 0, desk)
        elements, upper, score = stack.elements[0], stack.upper[0], stack.score[0]
        ends = (0, size, room.most, room.least)
        stack.marks[0, SIZE] = trim(
            room, elements, upper, score, ends, room.capacity, stack.used[0], bound, goal[TARGET], desk
        )
    return bound
