"""The compiled depth-first search: a tree that only includes, with its stack as plain arrays.

A node is a set I with a list of candidates; its children add one candidate each, in falling order of their scores,
and keep the candidates that come later in that order, so that every set is met once. With r places left the children
stop as soon as base + the best r of the remaining scores is not above the target, where base and scores are either the
value and the gains, or those of the threshold bound (:mod:`dsprog.exact.budget.threshold_bound`), whichever leaves
fewer children.

*Lazy gains*: a gain that was computed for a smaller set is an upper bound (submodularity), and the first of the r
elements of a better set has at least the r-th part of what is missing. Only gains that reach that are computed again.

Whether thresholds pay at a node with r places is measured: the work below nodes with and without them, in steps of
loops. Nodes without are tried from the leaves upwards, so that no trial is long. The measure can be wrong, since nodes
below one without are many and easy: where many places are left, all nodes have prices.

Where clients are about few elements each, the gains of all are kept up to date instead: an element that is chosen
changes those that share a client with it (:func:`dsprog.exact.budget.client_kernels.lower_gains`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import part, part_for
from dsprog.core.validation import Floats, Ints
from dsprog.exact.budget.client_kernels import change_by, effort, gain_of, lower_gains, put, smooth_gain
from dsprog.exact.budget.price_bound import CHEAPEST, PRICE, TREND
from dsprog.exact.budget.threshold_bound import (
    BOUND,
    CAME,
    DIRECTION,
    FAILED,
    INDEX,
    KEY,
    LEAST,
    LENGTH,
    ORDER,
    SLOPE,
    STAYS,
    STEP,
    SUBGRADIENT,
    THRESHOLD,
    fill,
    key_of,
    lower_thresholds,
    sort_falling,
    trim,
)

DEPTH, NODES, WORK, FOUND = 0, 1, 2, 3  # places of the tally
TARGET, SLACK, GAP, WITHIN, BEST = 0, 1, 2, 3, 4  # places of the goal; LENGTH, FAILED, BOUND and STEP follow
CHOSEN, PLACE, SIZE, BEGUN, BOUNDED, LIMIT = 0, 1, 2, 3, 4, 5  # columns of Stack.marks
VALUE, LOAD, BASE, REST = 0, 1, 2, 3  # columns of Stack.numbers
PRICE_STEPS = 60  # of prices: they are many more than thresholds
PRICED = 20  # steps of loops that an entry costs as prices are moved
NODE_STEPS = 12  # of thresholds at a node below the root
TRIALS = 4  # nodes with, and without thresholds, before one is preferred
MANY = 8  # places left: prices are used at all nodes with more
EXPLORE = 64  # every so many nodes the other one is tried
PATIENCE = 3.0  # thresholds trim what is below, which makes nodes there fewer: others must be so much cheaper
FEWER = 3  # so many times: children by a client keep more candidates than those by gains
USEFUL = 0.7  # of the children: thresholds that leave more of them are not worth their steps, if they cost more


class Stack(NamedTuple):
    """One row a level.

    ``marks``: the element chosen last, the child that is being looked at (-1: the node has not been entered), number of
    candidates, work done before the node, whether it has thresholds (-1: no choice was made), and the number of
    children if a client limits it (-1: none does). ``numbers``: value, weight in the knapsack, what scores are added
    to, and a bound for what is left of the node.
    """

    marks: Ints
    numbers: Floats
    used: Ints  # of each block
    elements: Ints
    upper: Floats
    score: Floats
    state: Floats
    thresholds: Floats
    gain: Floats  # of every element, where gains are kept up to date
    prices: Floats  # that clients pay, by entry


class Found(NamedTuple):
    """The best sets that a search has met: the number of members, then the members; and the values."""

    members: Ints
    values: Floats


@part
def accept(stack, depth, j, value, found, goal, tally):
    """Keep a set that is above the target: what is chosen, and j unless negative."""
    keeps, slot = len(found.values), 0
    if tally[FOUND] < keeps:
        slot = tally[FOUND]
        tally[FOUND] += 1
    else:
        for k in range(keeps):
            if found.values[k] < found.values[slot]:
                slot = k
    for d in range(1, depth + 1):
        found.members[slot, d] = stack.marks[d, CHOSEN]
    found.members[slot, 0] = depth
    if j >= 0:
        found.members[slot, 0], found.members[slot, depth + 1] = depth + 1, j
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
def copy_down(levels, d):
    """What level d has, to the next."""
    for i in range(levels.shape[1]):
        levels[d + 1, i] = levels[d, i]


@part
def put_next(gains, stack, d, j):
    """Copy the state of level d to the next and choose j there; what the value changes by."""
    copy_down(stack.state, d)
    stack.marks[d + 1, CHOSEN] = j
    return put(gains, stack.state[d + 1], j)


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
def prefers_thresholds(measured, r):
    """Whether nodes with r places had less work below them with thresholds than without."""
    if measured[1, r] < TRIALS or measured[0, r] < TRIALS:
        return True
    patience = PATIENCE if measured[5, r] <= USEFUL * measured[4, r] else 1.0
    return measured[3, r] * measured[0, r] <= patience * measured[2, r] * measured[1, r]


@part
def with_thresholds(measured, r):
    """Whether to compute thresholds at a node with r places.

    ``measured``: nodes without and with them, the work below these, and children before and after thresholds.
    """
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
def scarcest(gains, room, stack, d, desk, goal, tally):
    """The client with fewest candidates of which a better set needs one, and how few; 0 if there is no better set.

    With h_i the best that candidates offer to client i, G(S) <= B - (h_i - what i has in S), B the value if all clients
    had h_i and the rest its largest gains. So a better set gives i more than h_i - (B - target).
    """
    highest, count = desk.clients[SUBGRADIENT], desk.clients[DIRECTION]
    clients, state, size, others = gains.clients, stack.state[d], stack.marks[d, SIZE], 0.0
    maxima = clients.offsets[1]
    for i in range(maxima):
        highest[i] = state[i]
        count[i] = 0.0
    for q in range(size):
        j = stack.elements[d, q]
        others = max(others, gains.modular[j] - gains.floors[j] + smooth_gain(clients, state, j, 0))
        tally[WORK] += 2 * effort(clients, j)
        for p in range(clients.indptr[0, j], clients.indptr[0, j + 1]):
            highest[clients.rows[p]] = max(highest[clients.rows[p]], clients.data[p])
    allowance = stack.numbers[d, VALUE] + (room.most - d) * others - goal[TARGET]
    for i in range(maxima):
        allowance += highest[i] - state[i]
    if allowance <= 0.0:
        return -1, 0
    allowance += goal[SLACK]
    for q in range(size):
        j = stack.elements[d, q]
        for p in range(clients.indptr[0, j], clients.indptr[0, j + 1]):
            if clients.data[p] > highest[clients.rows[p]] - allowance:
                count[clients.rows[p]] += 1.0
    client, fewest = -1, size
    for i in range(maxima):
        highest[i] -= allowance
        if state[i] <= highest[i] and count[i] < fewest:
            client, fewest = i, int(count[i])
    return client, fewest


@part_for("maxima", lambda gains, room, stack, d, desk, goal, tally: True)
def limited(gains, room, stack, d, desk, goal, tally):
    """Put the candidates that the scarcest client needs first, if it leaves fewer children; False: no better set."""
    size, lists, scores, score = stack.marks[d, SIZE], desk.lists, desk.scores, stack.score[d]
    client, fewest = scarcest(gains, room, stack, d, desk, goal, tally)
    if fewest == 0:
        return False
    if client < 0 or FEWER * fewest >= children(room, stack, d, stack.numbers[d, BASE], score, goal[TARGET], desk):
        return True
    clients, level, first, last = gains.clients, desk.clients[SUBGRADIENT, client], 0, fewest
    for q in range(size):
        j, needed = stack.elements[d, q], False
        for p in range(clients.indptr[0, j], clients.indptr[0, j + 1]):
            needed |= clients.rows[p] == client and clients.data[p] > level
        place = first if needed else last
        first, last = (first + 1, last) if needed else (first, last + 1)
        lists[ORDER, place], scores[SLOPE, place] = j, stack.upper[d, q]
    for q in range(size):
        stack.elements[d, q], stack.upper[d, q] = lists[ORDER, q], scores[SLOPE, q]
    stack.marks[d, LIMIT] = fewest
    return True


@part_for("prices", lambda gains, stack, d, desk: None)
def inherit_prices(gains, stack, d, desk):
    """Begin with the prices of the last node above that has some, in proportion to what clients have to lose."""
    above = max(0, d - 1)
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
        inherit_prices(gains, stack, d, desk)
        steps, goal[LENGTH] = PRICE_STEPS, 1.5
    if step_thresholds(gains, room, stack, d, steps, desk, goal, tally) <= goal[TARGET]:
        return True
    measured[5, places] += settle(room, stack, d, by_gain, desk, goal)
    return False


@part
def enter(gains, room, stack, d, desk, measured, found, goal, tally):
    """Look at a node for the first time; whether it has children to look at."""
    value, numbers = stack.numbers[d, VALUE], stack.numbers
    if d >= room.least and value > goal[TARGET]:
        accept(stack, d, -1, value, found, goal, tally)
    most, least, left = room.most - d, max(0, room.least - d), room.capacity - numbers[d, LOAD]
    if most <= 0 or stack.marks[d, SIZE] == 0 or least > most:
        return False
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
    needed = stack.prices.shape[1] > 0 and most > MANY
    stack.marks[d, BOUNDED] = 1 if needed or with_thresholds(measured, most) else 0
    if stack.marks[d, BOUNDED] == 1 and closed_by_thresholds(gains, room, stack, d, desk, measured, goal, tally):
        return False
    if gains.clients.offsets[1] > 0 and (stack.marks[d, BOUNDED] == 1 or (d > 0 and stack.marks[d - 1, LIMIT] > 0)):
        return limited(gains, room, stack, d, desk, goal, tally)
    return True


@part_for("tangents", lambda clients, touching, j: None)
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


@part
def bound_by_gains(gains, room, stack, desk, tally):
    """All gains at the first level, sorted, and the bound from them."""
    evaluate(gains, room, stack, 0, -np.inf, desk, tally)
    ends = (0, stack.marks[0, SIZE], room.most, room.least)
    total, _ = fill(room, stack.elements[0], stack.score[0], ends, room.capacity, stack.used[0], desk)
    return stack.numbers[0, VALUE] + total


@part
def bound_by_steps(gains, room, stack, desk, goal, tally, steps):
    """Some steps of the thresholds at the first level, whose candidates are trimmed; its bound so far."""
    size = stack.marks[0, SIZE]
    desk.lists[CAME, 0] = -1
    if stack.prices.shape[1] > 0 and goal[BOUND] == np.inf:
        inherit_prices(gains, stack, 0, desk)
    bound = step_thresholds(gains, room, stack, 0, steps, desk, goal, tally)
    if desk.lists[CAME, 0] >= 0 and bound > goal[TARGET]:
        reorder(stack, 0, desk)
        elements, upper, score = stack.elements[0], stack.upper[0], stack.score[0]
        ends = (0, size, room.most, room.least)
        stack.marks[0, SIZE] = trim(
            room, elements, upper, score, ends, room.capacity, stack.used[0], bound, goal[TARGET], desk
        )
    return bound
