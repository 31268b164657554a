"""Descent of the relaxation under a budget: the price of a feature moves while the coefficients do.

The bound is that of :mod:`dsprog.exact.regression.budget`, valid at any w. Coordinate descent on the relaxation with
d + price finds a good w; after every sweep the price is multiplied by Σ z_j / k, z_j = min(1, |w_j| / s_j), so that the
relaxation comes to take as much as the budget allows. Every other sweep the bound is looked at, and the best is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.exact.regression.perspective_bound import Point, Relaxed, best_value, knee, product, shape_all, sweep

STEEPEST = 4.0  # factor by which a price changes at once
EVEN = 0.03  # |Σ z_j / k - 1| at which the price is right
LEAST_SWEEPS = 4  # before a descent may end because it is slow


class Budgeted(NamedTuple):
    """At most so many features, the price to begin with, and when to end."""

    most: int
    price: float
    cutoff: float
    accuracy: float
    sweeps: int


@part
def largest_sum(val, most, heap):
    """The sum of the ``most`` largest positive values, kept in a heap with the least on top."""
    size = 0
    for j in range(len(val)):
        value = val[j]
        if value <= 0.0:
            continue
        if size < most:
            p = size
            size += 1
            while p > 0 and heap[(p - 1) // 2] > value:
                heap[p] = heap[(p - 1) // 2]
                p = (p - 1) // 2
            heap[p] = value
        elif value > heap[0]:
            p = 0
            while 2 * p + 1 < size:
                child = 2 * p + 1
                if child + 1 < size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= value:
                    break
                heap[p] = heap[child]
                p = child
            heap[p] = value
    total = 0.0
    for p in range(size):
        total += heap[p]
    return total


@part
def budget_bound(problem, point, most, val, heap):
    """LB = c - ½ w'Hw - (the largest gains); fills in val."""
    w, Gw = point
    lower = problem.c
    for j in range(len(w)):
        D = problem.D[j]
        lower -= 0.5 * w[j] * Gw[j] - D * w[j] * w[j]
        v = problem.b[j] - Gw[j] + 2.0 * D * w[j]
        val[j] = best_value(v, D, problem.lo[j], problem.hi[j]) - problem.d[j]
    return lower - largest_sum(val, most, heap)


@part
def taken(problem, w):
    """Σ z_j, how many features the relaxation takes in all."""
    total = 0.0
    for j in range(len(w)):
        if w[j] != 0.0:
            lo, hi = problem.lo[j], problem.hi[j]
            least, most = (max(lo, 0.0), hi) if w[j] > 0.0 else (max(-hi, 0.0), -lo)
            s = knee(problem.d[j], problem.D[j], least, most)
            total += min(1.0, abs(w[j]) / s) if s > 0.0 else 1.0
    return total


@kernel
def descend_with_budget(problem, w, budget, best, val):
    """Descend from w; returns the best LB and its price, and leaves its point in ``best`` and its gains in ``val``."""
    n = len(w)
    most, price = budget.most, budget.price
    for j in range(n):
        w[j] = min(max(w[j], min(problem.lo[j], 0.0)), max(problem.hi[j], 0.0))
    point = Point(w, product(problem.G, w))
    d, trial, heap = np.empty(n), np.empty(n), np.empty(most)
    priced = Relaxed(problem.G, problem.b, problem.c, d, problem.D, problem.lo, problem.hi)
    lower, right, before = -np.inf, price, -np.inf
    for done in range(budget.sweeps):
        for j in range(n):
            d[j] = problem.d[j] + price
        sweep(priced, shape_all(priced), point, done % 2 == 1)
        share = taken(priced, w) / most
        if done % 2 == 0:
            here = budget_bound(problem, point, most, trial, heap)
            if here > lower:
                lower, right = here, price
                for j in range(n):
                    best[j], val[j] = w[j], trial[j]
            slow = lower - before < budget.accuracy and done >= LEAST_SWEEPS
            if lower >= budget.cutoff or (slow and abs(share - 1.0) < EVEN):
                break
            before = lower
        price *= min(max(share, 1.0 / STEEPEST), STEEPEST)
    return lower, right
