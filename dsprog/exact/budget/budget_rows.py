"""Which constraints are budgets, and what they leave to choose.

A *budget* is least <= |S| <= most, at most so many elements of each of several disjoint blocks, and one knapsack
w(S) <= capacity, each of which may be missing; elements that the rows decide beforehand are taken out first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Floats, Ints, Masks


class Budget(NamedTuple):
    """What may be chosen of the free elements, also as kernels take it.

    Attributes
    ----------
    include, free : masks
        Elements that every feasible set has, and those that are left to choose.
    least, most : int
        How many of the free elements.
    blocks, caps : arrays
        The block of each element (-1: none), and how many elements of each block.
    weights, capacity : array and float
        The knapsack; without one, ones and ``most``.
    """

    include: Masks
    free: Masks
    least: int
    most: int
    blocks: Ints
    caps: Ints
    weights: Floats
    capacity: float
    knapsack: bool

    @property
    def binds(self) -> bool:
        """Whether some set of free elements is not allowed."""
        return self.least > 0 or self.most < self.free.sum() or self.knapsack or len(self.caps) > 0


def budget_of(problem: Problem) -> Budget | None:
    """The rows of a problem as a budget, or None if they are not one."""
    n, rows = problem.n, problem.rows
    nothing = np.zeros((1, n), dtype=bool)
    include, exclude, feasible = propagate(rows, {"I": nothing, "U": ~nothing})
    include, free = include[0], ~(include[0] | exclude[0])
    least, most = 0, int(free.sum())
    blocks = np.full(n, -1)
    caps: list[int] = []
    weights, capacity, knapsack = np.ones(n), 0.0, False
    if not feasible[0]:
        return Budget(include, free, 1, 0, blocks, np.zeros(0, dtype=np.int64), weights, capacity, False)
    for a, lo, hi in zip(rows.A, *rows.relaxed):
        lo, hi, a = lo - a @ include, hi - a @ include, np.where(free, a, 0.0)
        low, high = np.minimum(a, 0.0).sum() < lo, np.maximum(a, 0.0).sum() > hi
        if not (low or high):
            continue  # every set of free elements keeps this row
        there = a != 0
        unit = a[there][0]
        if (a[free] == unit).all() and unit > 0:
            least = max(least, int(np.ceil(lo / unit - 1e-12)) if low else 0)
            most = int(min(most, np.floor(hi / unit + 1e-12)))  # hi may be infinite
        elif not low and (a[there] == unit).all() and unit > 0 and (blocks[there] < 0).all() and not knapsack:
            blocks[there] = len(caps)
            caps.append(int(np.floor(hi / unit + 1e-12)))
        elif not low and not knapsack and not caps and (a >= 0).all():
            weights, capacity, knapsack = a, float(hi), True
        else:
            return None
    if knapsack:
        lightest = np.cumsum(np.sort(weights[free]))
        most = min(most, int((lightest <= capacity + 1e-12 * abs(capacity)).sum()))  # more do not fit
    return Budget(include, free, least, most, blocks, np.array(caps, dtype=np.int64), weights, capacity, knapsack)
