"""Maximum flow by Boykov and Kolmogorov's algorithm, in floating point: two trees grow from source and sink.

A network has n nodes, arcs in compressed rows (``heads``, with ``residual`` capacities; ``sister`` is the arc back)
and a ``terminal`` capacity of each node: positive from the source, negative to the sink. Where the trees meet, flow is
pushed along the path through both; nodes that a saturated arc cuts off look for another parent. Every push saturates
an arc exactly, so whole capacities give a whole flow without rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints, Masks

FREE, SOURCE, SINK = 0, 1, 2
NONE, TERMINAL, ORPHAN = -1, -2, -3


@part
def distance_to_root(node, heads, parent, stamp, distance, time):
    """Arcs from a node to the terminal of its tree, or -1 if the way up ends at an orphan; stamps the way."""
    steps, i = 0, node
    while stamp[i] != time:
        a = parent[i]
        steps += 1
        if a == TERMINAL:
            stamp[i], distance[i] = time, 1
            break
        if a < TERMINAL or a == NONE:
            return -1
        i = heads[a]
    else:
        steps += distance[i]
    i, left = node, steps
    while stamp[i] != time:
        stamp[i], distance[i] = time, left
        left -= 1
        i = heads[parent[i]]
    return steps


@part
def push_flow(middle, first, heads, sister, residual, terminal, parent, orphans, count):
    """Push along source ... first -middle-> ... sink; returns the amount and the number of orphans."""
    last = heads[middle]
    amount = residual[middle]
    i = first
    while parent[i] != TERMINAL:
        amount = min(amount, residual[sister[parent[i]]])
        i = heads[parent[i]]
    amount = min(amount, terminal[i])
    i = last
    while parent[i] != TERMINAL:
        amount = min(amount, residual[parent[i]])
        i = heads[parent[i]]
    amount = min(amount, -terminal[i])
    residual[middle] -= amount
    residual[sister[middle]] += amount
    for side in range(2):
        i = first if side == 0 else last
        while parent[i] != TERMINAL:
            a = parent[i]
            forward = sister[a] if side == 0 else a
            residual[forward] -= amount
            residual[sister[forward]] += amount
            if residual[forward] == 0.0:
                parent[i] = ORPHAN
                orphans[count] = i
                count += 1
            i = heads[a]
        terminal[i] += -amount if side == 0 else amount
        if terminal[i] == 0.0:
            parent[i] = ORPHAN
            orphans[count] = i
            count += 1
    return amount, count


@kernel
def max_flow_kernel(indptr, heads, sister, residual, terminal):
    """Push a maximum flow; ``residual`` and ``terminal`` become what is left of them. Returns the flow."""
    n = len(terminal)
    tree, parent = np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int64)
    stamp, distance = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue, queued = np.empty(n + 1, dtype=np.int64), np.empty(n, dtype=np.bool_)
    orphans = np.empty(n + 1, dtype=np.int64)
    head = tail = 0
    for i in range(n):
        tree[i], parent[i], stamp[i], distance[i], queued[i] = FREE, NONE, 0, 0, False
        if terminal[i] != 0.0:
            tree[i] = SOURCE if terminal[i] > 0 else SINK
            parent[i], distance[i] = TERMINAL, 1
            queue[tail], queued[i] = i, True
            tail += 1
    flow, time, current = 0.0, 0, -1
    while True:
        if current < 0 or parent[current] == NONE:
            current = -1
            while head != tail:
                i = queue[head]
                head = head + 1 if head < n else 0
                queued[i] = False
                if parent[i] != NONE:
                    current = i
                    break
            if current < 0:
                return flow
        middle, first = -1, -1
        side = tree[current]
        for a in range(indptr[current], indptr[current + 1]):
            if residual[a if side == SOURCE else sister[a]] <= 0.0:
                continue
            j = heads[a]
            if tree[j] == FREE:
                tree[j], parent[j] = side, sister[a]
                stamp[j], distance[j] = stamp[current], distance[current] + 1
                if not queued[j]:
                    queue[tail], queued[j] = j, True
                    tail = tail + 1 if tail < n else 0
            elif tree[j] != side:
                middle, first = (a, current) if side == SOURCE else (sister[a], j)
                break
            elif stamp[j] <= stamp[current] and distance[j] > distance[current] + 1:
                parent[j] = sister[a]
                stamp[j], distance[j] = stamp[current], distance[current] + 1
        time += 1
        if middle < 0:
            current = -1
            continue
        amount, count = push_flow(middle, first, heads, sister, residual, terminal, parent, orphans, 0)
        flow += amount
        done = 0
        while done != count:  # a ring, too: a node is in it once at most
            i = orphans[done]
            done = done + 1 if done < n else 0
            side = tree[i]
            best, least = -1, 1 << 60
            for a in range(indptr[i], indptr[i + 1]):
                j = heads[a]
                if tree[j] == side and residual[sister[a] if side == SOURCE else a] > 0.0:
                    d = distance_to_root(j, heads, parent, stamp, distance, time)
                    if 0 <= d < least:
                        best, least = a, d
            if best >= 0:
                parent[i], stamp[i], distance[i] = best, time, least + 1
                continue
            tree[i], parent[i] = FREE, NONE
            for a in range(indptr[i], indptr[i + 1]):
                j = heads[a]
                if tree[j] != side:
                    continue
                if residual[sister[a] if side == SOURCE else a] > 0.0 and not queued[j]:
                    queue[tail], queued[j] = j, True
                    tail = tail + 1 if tail < n else 0
                if parent[j] >= 0 and heads[parent[j]] == i:
                    parent[j] = ORPHAN
                    orphans[count] = j
                    count = count + 1 if count < n else 0


@kernel
def reachable_kernel(indptr, heads, sister, residual, terminal, from_source, reached):
    """The nodes that the source reaches by arcs with capacity left, or that reach the sink."""
    n, top = len(terminal), 0
    stack = np.empty(n, dtype=np.int64)
    for i in range(n):
        if (terminal[i] if from_source else -terminal[i]) > 0.0:
            reached[i] = True
            stack[top] = i
            top += 1
    while top:
        top -= 1
        i = stack[top]
        for a in range(indptr[i], indptr[i + 1]):
            j = heads[a]
            if not reached[j] and residual[a if from_source else sister[a]] > 0.0:
                reached[j] = True
                stack[top] = j
                top += 1


def max_flow(indptr: Ints, heads: Ints, residual: Floats, terminal: Floats) -> tuple[float, Masks, Masks]:
    """Flow value, smallest and largest source side of a minimum cut; ``residual`` and ``terminal`` are used up.

    Every arc must have its arc back, heads sorted in each row.

    >>> import numpy as np
    >>> indptr, heads = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    >>> flow, smallest, largest = max_flow(indptr, heads, np.array([2.0, 0, 1, 0]), np.array([3.0, 0, -3]))
    >>> flow, smallest, largest
    (1.0, array([ True,  True, False]), array([ True,  True, False]))
    """
    sister = sisters(indptr, heads)
    # An arc is saturated up to rounding in its own capacity, both directions together.
    tiny, tiny_terminal = 1e-12 * (residual + residual[sister]), 1e-12 * np.abs(terminal)
    flow = max_flow_kernel(indptr, heads, sister, residual, terminal)
    residual[residual <= tiny] = 0.0
    terminal[np.abs(terminal) <= tiny_terminal] = 0.0
    arrays: Any = (indptr, heads, sister, residual, terminal)
    smallest, complement = np.zeros(len(terminal), dtype=bool), np.zeros(len(terminal), dtype=bool)
    reachable_kernel(*arrays, True, smallest)
    reachable_kernel(*arrays, False, complement)
    return float(flow), smallest, ~complement


def sisters(indptr: Ints, heads: Ints) -> Ints:
    """The arc back of every arc: the k-th arc by (tail, head) is the k-th by (head, tail) turned round."""
    tails = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return np.lexsort((tails, heads)).astype(np.int64)
