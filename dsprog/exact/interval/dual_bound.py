"""The dual bound: minorants of f - g from greedy vertices and modular upper bounds, averaged.

Contract f at I. For any greedy vertex s of it and any modular upper bound (κ, c) of g on [I, U],

    f(S) - g(S) >= f(I) - κ - c(I) + Σ_{j∈S∖I} (s_j - c_j)        for every S in [I, U],

because f(S) >= f(I) + s(S∖I) by submodularity. Convex combinations of such minorants are minorants, and the least
value of one over the interval is constant + Σ_{j∈F} min(0, d_j) with d = s - c. So no inner convergence is ever
needed: a few subgradient steps on the convex function f̂ - G propose points x, each point gives a minorant, and the
average of them with weights 2/(k+2) is close to the best one. A minorant of a node is one of its children too, so
that children go on where their parent stopped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.kernel import kernel
from dsprog.core.rows import relax_rows
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.interval.bound import Bound, Tightened, close, free
from dsprog.exact.interval.majorant import Majorant
from dsprog.run.driver import Bundle


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
    orders, increments, f_I, constants, slopes = new
    count, mean_constant, mean_d = means
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


class DualBound(Bound):
    """The averaged dual bound, and fixing by reduced cost.

    Parameters
    ----------
    f : SetFunction
        Submodular.
    majorant : Majorant
        Of g.
    rows : LinearRows
        Constraints, taken into the minimisation of the minorant.
    steps : int
        Subgradient steps at each node.
    """

    name = "dual"
    uses_ends = True
    repeats = False  # a step of the next node does more than a second round of steps

    def __init__(self, f: SetFunction, majorant: Majorant, rows: LinearRows, steps: int) -> None:
        self.f, self.majorant, self.rows, self.steps = f, majorant, rows, steps

    def prepare(self, nodes: Bundle) -> None:
        """No minorant yet."""
        nodes["mean_constant"] = np.zeros(len(nodes["lower"]))
        nodes["mean_d"] = np.zeros(nodes["x"].shape)
        nodes["orders"] = np.tile(np.arange(nodes["x"].shape[1]), (len(nodes["lower"]), 1))
        nodes["count"] = np.zeros(len(nodes["lower"]), dtype=np.int64)
        self.majorant.prepare(nodes)

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """An included element's slope goes into the constant."""
        nodes["mean_constant"] += np.where(include, nodes["mean_d"], 0.0).sum(axis=1)
        nodes["mean_d"][include | exclude] = 0.0
        nodes["x"][include], nodes["x"][exclude] = 1.0, 0.0
        self.majorant.moved(nodes, include, exclude)

    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Some steps; the nodes that reach the cutoff leave the batch on the way."""
        closed = np.inf
        nodes["count"] = np.minimum(nodes["count"], 1)  # the inherited minorant counts as the first
        for k in range(self.steps):
            if len(nodes["lower"]) == 0:
                break
            d, value = self._add_minorant(nodes)
            bound, _ = relax_rows(self.rows, nodes, nodes["mean_constant"], nodes["mean_d"])
            nodes["lower"] = np.maximum(nodes["lower"], bound)
            if k + 1 < self.steps:
                step(d, value, nodes["lower"], nodes["x"])
            nodes, _, reached = close(nodes, cutoff)
            closed = min(closed, reached)
        return self._fix(nodes, cutoff, closed)

    def _add_minorant(self, nodes: Bundle) -> tuple[Floats, Floats]:
        orders = nodes["orders"]
        sort_free(nodes["x"], nodes["I"], nodes["U"], orders)
        increments = self.f.chains(orders, nodes["I"])
        constants, slopes = self.majorant(nodes)
        d, value = np.empty(orders.shape), np.empty(len(orders))
        new = Minorants(orders, increments, nodes["f_I"], constants, slopes)
        means = Means(nodes["count"], nodes["mean_constant"], nodes["mean_d"])
        average(new, nodes["I"], nodes["x"], means, d, value)
        return d, value

    def _fix(self, nodes: Bundle, cutoff: float, closed: float) -> Tightened:
        """With the minorant's bound b, sets with j are >= b + max(0, d_j), and those without it >= b + max(0, -d_j)."""
        F = free(nodes)
        bound, d = relax_rows(self.rows, nodes, nodes["mean_constant"], nodes["mean_d"])
        with_j, without_j = bound[:, None] + np.maximum(0.0, d), bound[:, None] + np.maximum(0.0, -d)
        exclude = F & (with_j >= cutoff)
        include = F & ~exclude & (without_j >= cutoff)
        closed = min(closed, with_j[exclude].min(initial=np.inf), without_j[include].min(initial=np.inf))
        return Tightened(nodes, include, exclude, closed)

    def scores(self, nodes: Bundle) -> Floats:
        """The size of the mean reduced cost."""
        return np.abs(nodes["mean_d"])
