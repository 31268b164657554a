"""Branching both ways where clients have prices and many places are left: an element is included, then excluded.

A node that prices leave open has one child, with its most contested candidate. When that is done the node is looked at
again without it, at the same level of the stack: prices go on from where they were, and the order is a new one. So
every set is met once, below the element it has or among those without.

Let B = base + the best r of the candidates' scores bound all sets of a node, r places being left. A set without
candidate j reaches at most B - score_j + max(0, the best score that is not taken) if j is taken, since at most that one
comes in its place. Where this is not above the target, j is in every better set, and the sets without it are done.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.budget.price_bound import MEAN
from dsprog.exact.budget.search_stack import FORCED, LIMIT, LOAD, PLACE, REST, SIZE, TARGET
from dsprog.exact.budget.threshold_bound import BOUND, CAME, FAILED, LENGTH, STEP, trim
from dsprog.exact.budget.thresholds_at_node import MANY, PRICE_LENGTH, inherit_prices, reorder, step_thresholds

TURNS, TURN = 6, 10  # of steps at a node, and how many a turn has
HOPE = 3.0  # turns end early where as much again in all that are left would not close so many times the distance


@part
def goes_both_ways(room, stack, d):
    """Whether all nodes with so many places left have prices, and only the number of elements is limited."""
    return stack.prices.shape[1] > 0 and room.most - d > MANY and not room.knapsack and len(room.caps) == 0


@part
def to_front(row, q):
    """Entry q first, those before it one place later."""
    first = row[q]
    while q > 0:
        row[q] = row[q - 1]
        q -= 1
    row[0] = first


@part
def without_first(row, size):
    """All entries but the first, one place earlier."""
    for q in range(size - 1):
        row[q] = row[q + 1]


@part
def sort_out(room, stack, d, desk, goal):
    """After prices: candidates by their scores, without those that no better set has; how many all of these have."""
    elements, upper, score, size = stack.elements[d], stack.upper[d], stack.score[d], stack.marks[d, SIZE]
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - stack.numbers[d, LOAD]
    bound, target, forced = goal[BOUND], goal[TARGET], 0
    reorder(stack, d, desk)
    size = trim(room, elements, upper, score, (0, size, most, least), left, stack.used[d], bound, target, desk)
    following = max(0.0, score[most]) if most < size else 0.0
    while forced < min(most, size) and bound - score[forced] + following <= target:
        forced += 1
    stack.marks[d, SIZE], stack.marks[d, FORCED] = size, forced


@part
def contested(stack, d, desk):
    """The candidate that the bound took and left most often, by what clients pay for it."""
    most, place = -1.0, 0
    for q in range(stack.marks[d, SIZE]):
        mean = desk.prices[MEAN, stack.elements[d, q]]
        doubt = min(mean, 1.0 - mean) * stack.score[d, q]
        if doubt > most:
            most, place = doubt, q
    return place


@part
def closed_either_way(gains, room, stack, d, above, desk, goal, tally):
    """Whether prices, which begin with those of a level, close a node; if not, the child to look at comes first."""
    goal[LENGTH], goal[FAILED], goal[BOUND], goal[STEP] = PRICE_LENGTH, 0.0, np.inf, 8.0
    inherit_prices(gains, stack, d, above, desk)
    for j in range(len(gains.modular)):
        desk.prices[MEAN, j] = 0.5
    left, fallen = TURNS, np.inf
    while left > 0 and left * fallen >= HOPE * (goal[BOUND] - goal[TARGET]):
        left -= 1
        before = goal[BOUND]
        desk.lists[CAME, 0] = -1
        bound = step_thresholds(gains, room, stack, d, TURN, desk, goal, tally)
        if bound <= goal[TARGET]:
            return True
        fallen = before - bound
        if desk.lists[CAME, 0] >= 0:
            sort_out(room, stack, d, desk, goal)
    stack.numbers[d, REST] = min(stack.numbers[d, REST], goal[BOUND])
    stack.marks[d, LIMIT], stack.marks[d, PLACE] = 1, -1
    if stack.marks[d, FORCED] == 0:
        place = contested(stack, d, desk)
        to_front(stack.elements[d], place)
        to_front(stack.upper[d], place)
        to_front(stack.score[d], place)
    return False


@part
def closed_without_first(gains, room, stack, d, desk, goal, tally):
    """Look at a node again, without the candidate that was included; whether it is closed now."""
    size = stack.marks[d, SIZE]
    without_first(stack.elements[d], size)
    without_first(stack.upper[d], size)
    without_first(stack.score[d], size)
    stack.marks[d, SIZE], stack.marks[d, PLACE] = size - 1, -1
    if size <= max(1, room.least - d) or stack.numbers[d, REST] <= goal[TARGET]:
        return True
    return closed_either_way(gains, room, stack, d, d, desk, goal, tally)
