"""In which order to minimise elements out so that tables stay small: min-fill.

Two elements are neighbours if a group of the function has both. Minimising one out leaves a table over its neighbours,
which are neighbours of each other from then on. The *width* is the largest number of neighbours met; to find the best
order is hard, and taking the element whose neighbours miss the fewest pairs does well.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from dsprog.core.validation import Ints


@dataclass(frozen=True)
class EliminationOrder:
    """Elements in their order, and the later neighbours of each when its turn comes, the last to go first."""

    order: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """The most neighbours met."""
        return max(map(len, self.scopes), default=0)

    @property
    def states(self) -> int:
        """Entries of all tables together."""
        return sum(1 << len(scope) for scope in self.scopes)


def elimination_order(n: int, groups: Iterable[Ints], most: int) -> EliminationOrder | None:
    """A min-fill order, or None as soon as its width exceeds ``most``.

    >>> import numpy as np
    >>> cycle = [np.array([i, (i + 1) % 6]) for i in range(6)]
    >>> elimination_order(6, cycle, 5).width
    2
    """
    near: list[set[int]] = [set() for _ in range(n)]
    for group in groups:
        if len(group) > most + 1:
            return None
        members = set(group.tolist())
        for i in members:
            near[i] |= members
    for i in range(n):
        near[i].discard(i)
    if is_too_wide(near, most):
        return None
    queue = [(fill(near, i), len(near[i]), i) for i in range(n)]
    heapq.heapify(queue)
    order: list[int] = []
    gone = [False] * n
    neighbours: list[set[int]] = []
    while queue:
        missing, degree, i = heapq.heappop(queue)
        if gone[i]:
            continue
        now = (fill(near, i), len(near[i]), i)
        if now > (missing, degree, i):  # an entry from before other elements went
            heapq.heappush(queue, now)
            continue
        if len(near[i]) > most:
            return None
        gone[i] = True
        order.append(i)
        neighbours.append(near[i])
        for j in near[i]:
            near[j] |= near[i]
            near[j] -= {i, j}
        for j in near[i]:
            heapq.heappush(queue, (fill(near, j), len(near[j]), j))
    place = {i: k for k, i in enumerate(order)}
    scopes = (tuple(sorted(these, key=lambda i: -place[i])) for these in neighbours)
    return EliminationOrder(tuple(order), tuple(scopes))


def fill(near: list[set[int]], i: int) -> int:
    """How many pairs of neighbours are not neighbours."""
    return sum(k not in near[j] for j, k in combinations(near[i], 2))


def is_too_wide(near: list[set[int]], most: int) -> bool:
    """Whether a minor shows that every order is wider than ``most``.

    If each element has more than ``most`` neighbours, the first to go is too wide. Merging an element into a neighbour
    raises the width of no best order, so every graph on the way of merging the element with the fewest neighbours
    speaks for the first one. It goes into the one of them that has the fewest in turn: they share few.

    >>> is_too_wide([{1, 3}, {0, 2}, {1, 3}, {2, 0}], 1), is_too_wide([{1, 3}, {0, 2}, {1, 3}, {2, 0}], 2)
    (True, False)
    """
    near = [set(these) for these in near]
    queue = [(len(these), i) for i, these in enumerate(near)]
    heapq.heapify(queue)
    left, gone = len(near), [False] * len(near)
    while left > most + 1:
        degree, i = heapq.heappop(queue)
        if gone[i] or degree != len(near[i]):  # an entry from before a merger
            continue
        if degree > most:
            return True
        left -= 1
        into = min(near[i], key=lambda j: len(near[j]), default=i)
        for j in near[i]:
            near[j].discard(i)
            if j != into:
                near[j].add(into)
                near[into].add(j)
        for j in near[i]:
            heapq.heappush(queue, (len(near[j]), j))
        gone[i] = True
    return False
