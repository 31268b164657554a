"""Where the depth-first search stands: a stack of nodes as plain arrays, and the best sets that it has met."""

from __future__ import annotations

from typing import NamedTuple

from dsprog.core.kernel import part
from dsprog.core.validation import Floats, Ints
from dsprog.exact.budget.client_kernels import put

DEPTH, NODES, WORK, FOUND = 0, 1, 2, 3  # places of the tally
TARGET, SLACK, GAP, WITHIN, BEST = 0, 1, 2, 3, 4  # places of the goal; those of threshold_bound follow
CHOSEN, PLACE, SIZE, BEGUN, BOUNDED, LIMIT, FORCED = 0, 1, 2, 3, 4, 5, 6  # columns of Stack.marks
VALUE, LOAD, BASE, REST = 0, 1, 2, 3  # columns of Stack.numbers


class Stack(NamedTuple):
    """One row a level.

    ``marks``: the element chosen last, the child that is being looked at (-1: the node has not been entered), number of
    candidates, work done before the node, whether it has thresholds (-1: no choice was made), the number of
    children if something limits it (-1: nothing does), and how many of the first candidates every better set below has
    (0: the first one is included, then excluded; -1: neither). ``numbers``: value, weight in the knapsack, what scores
    are added to, and a bound for what is left of the node.
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
