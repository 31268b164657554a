"""Branching on a client: every better set needs one of the few candidates that still serve it well enough."""

from __future__ import annotations

from dsprog.core.kernel import part
from dsprog.exact.budget.client_kernels import effort, smooth_gain
from dsprog.exact.budget.search_stack import BASE, LIMIT, SIZE, SLACK, TARGET, VALUE, WORK
from dsprog.exact.budget.threshold_bound import DIRECTION, ORDER, SLOPE, SUBGRADIENT
from dsprog.exact.budget.thresholds_at_node import children

FEWER = 3  # so many times: children by a client keep more candidates than those by gains


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


@part
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
