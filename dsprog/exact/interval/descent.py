"""The steps of the dual bound at each node: order the free elements, average minorants, move x."""

from __future__ import annotations

from typing import NamedTuple

from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Ints


@kernel
def sort_free(x, I, U, orders):
    """Bring the free elements in each row of ``orders`` into falling order of x, -1 after them; nearly sorted rows are
    fast.
    """
    n = x.shape[1]
    for b in range(len(x)):
        m = 0
        for q in range(n):
            j = orders[b, q]
            if j < 0:
                break
            if U[b, j] and not I[b, j]:
                p = m
                while p > 0 and x[b, orders[b, p - 1]] < x[b, j]:
                    orders[b, p] = orders[b, p - 1]
                    p -= 1
                orders[b, p] = j
                m += 1
        for p in range(m, n):
            orders[b, p] = -1


class Minorants(NamedTuple):
    """A new minorant of each node: increments of f along orders from I, f(I), and the upper bound κ + c of g."""

    orders: Ints
    increments: Floats
    f_I: Floats
    constants: Floats
    slopes: Floats


class Means(NamedTuple):
    """The averaged minorant of each node, and how many it is made of."""

    counts: Ints
    constant: Floats
    d: Floats


@kernel
def average(new, I, x, means, d, value):
    """Add each node's new minorant to its average; write its slopes d and its value at x."""
    orders, increments, f_I, constants, slopes = new.orders, new.increments, new.f_I, new.constants, new.slopes
    count, mean_constant, mean_d = means.counts, means.constant, means.d
    n = x.shape[1]
    for b in range(len(x)):
        weight = 2.0 / (count[b] + 2.0)
        count[b] += 1
        constant = f_I[b] - constants[b]
        for j in range(n):
            d[b, j] = 0.0
            if I[b, j]:
                constant -= slopes[b, j]
        total = constant
        for p in range(n):
            j = orders[b, p]
            if j < 0:
                break
            d[b, j] = increments[b, p] - slopes[b, j]
            total += d[b, j] * x[b, j]
            mean_d[b, j] += weight * (d[b, j] - mean_d[b, j])
        mean_constant[b] += weight * (constant - mean_constant[b])
        value[b] = total


@kernel
def step(d, value, lower, x):
    """Polyak's step x <- clip(x - (value - lower) d / |d|²), over the coordinates that can still move along -d."""
    for b in range(len(x)):
        norm = 0.0
        for j in range(x.shape[1]):
            if not (d[b, j] > 0 and x[b, j] <= 0) and not (d[b, j] < 0 and x[b, j] >= 1):
                norm += d[b, j] * d[b, j]
        if norm > 0:
            length = (value[b] - lower[b]) / norm
            for j in range(x.shape[1]):
                x[b, j] = min(1.0, max(0.0, x[b, j] - length * d[b, j]))
