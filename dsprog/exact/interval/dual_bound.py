"""The dual bound: minorants of f - g from greedy vertices and modular upper bounds, averaged.

Contract f at I. For any greedy vertex s of it and any modular upper bound (κ, c) of g on [I, U],

    f(S) - g(S) >= f(I) - κ - c(I) + Σ_{j∈S∖I} (s_j - c_j)        for every S in [I, U],

because f(S) >= f(I) + s(S∖I) by submodularity. Convex combinations of such minorants are minorants, and the least
value of one over the interval is constant + Σ_{j∈F} min(0, d_j) with d = s - c. So no inner convergence is ever
needed: a few subgradient steps on the convex function f̂ - G propose points x, each point gives a minorant, and the
average of them with weights 2/(k+2) is close to the best one. A minorant of a node is one of its children too, so
that children go on where their parent stopped.

Under constraints the average is minimised over the rows by multipliers λ. Steps may follow the Lagrangian, d + λ a in
place of d, so that x stays near the rows: what either way closed decides. There the marginals at I,
g(S) <= g(I) + Σ_{j∈S∖I} g(j|I), take the place of (κ, c) where they are lower at x, as they are when few elements may
still be added; the average mixes both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.kernel import kernel
from dsprog.core.rows import relax_rows
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.interval.bound import Bound, Tightened, close, fixed_by_costs, free
from dsprog.exact.interval.contest import Contest, shares
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.majorant import Majorant
from dsprog.run.driver import Bundle

LAGRANGIAN = 1  # of the two ways to step where there are rows


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
    ends : Ends, optional
        f and g at I and U, for marginals at I where there are rows.
    """

    name = "dual"
    uses_ends = True
    repeats = False  # a step of the next node does more than a second round of steps

    def __init__(
        self, f: SetFunction, majorant: Majorant, rows: LinearRows, steps: int, ends: Ends | None = None
    ) -> None:
        self.f, self.majorant, self.rows, self.steps, self.ends = f, majorant, rows, steps, ends
        self.contest = Contest(2)  # of steps by the minorant alone and by the Lagrangian

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
        way, count, gained = self.contest.next() if len(self.rows) else 0, len(nodes["lower"]), 0.0
        for k in range(self.steps):
            if len(nodes["lower"]) == 0:
                break
            d, value = self._add_minorant(nodes)
            bound, reduced = relax_rows(self.rows, nodes, nodes["mean_constant"], nodes["mean_d"])
            if k and len(self.rows):  # the first step is the same either way
                gained += float(shares(nodes["lower"], bound, cutoff).sum())
            nodes["lower"] = np.maximum(nodes["lower"], bound)
            if k + 1 < self.steps:
                if len(self.rows) and way == LAGRANGIAN:
                    d, value = self._lagrangian(nodes, d, value, bound, reduced)
                step(d, value, nodes["lower"], nodes["x"])
            nodes, _, reached = close(nodes, cutoff)
            closed = min(closed, reached)
        self.contest.report(way, count, gained)
        return self._fix(nodes, cutoff, closed)

    def _lagrangian(
        self, nodes: Bundle, d: Floats, value: Floats, bound: Floats, reduced: Floats
    ) -> tuple[Floats, Floats]:
        """Slopes and value at x of the new minorant with the multipliers of the averaged one.

        With λ a = reduced - mean_d, and bound = mean_constant - λ limit + Σ_F min(0, reduced_j), λ limit is known.
        """
        priced = reduced - nodes["mean_d"]
        moved = bound - np.minimum(reduced, 0.0).sum(axis=1) - nodes["mean_constant"]
        at_x = np.where(np.isfinite(moved), value + moved + (priced * nodes["x"]).sum(axis=1), value)
        return np.where(free(nodes), d + priced, 0.0), at_x

    def _add_minorant(self, nodes: Bundle) -> tuple[Floats, Floats]:
        orders = nodes["orders"]
        sort_free(nodes["x"], nodes["I"], nodes["U"], orders)
        increments = self.f.chains(orders, nodes["I"])
        constants, slopes = self.majorant(nodes)
        if self.ends is not None:
            constants, slopes = self._or_marginals(nodes, constants, slopes)
        d, value = np.empty(orders.shape), np.empty(len(orders))
        new = Minorants(orders, increments, nodes["f_I"], constants, slopes)
        means = Means(nodes["count"], nodes["mean_constant"], nodes["mean_d"])
        average(new, nodes["I"], nodes["x"], means, d, value)
        return d, value

    def _or_marginals(self, nodes: Bundle, constants: Floats, slopes: Floats) -> tuple[Floats, Floats]:
        """For each node the given upper bound of g or that by marginals at I, whichever is lower at x."""
        assert self.ends is not None
        self.ends.refresh(nodes)
        here = np.where(free(nodes), nodes["dg_I"], 0.0)
        lower = nodes["g_I"] + (here * nodes["x"]).sum(axis=1) < constants + (slopes * nodes["x"]).sum(axis=1)
        return np.where(lower, nodes["g_I"], constants), np.where(lower[:, None], here, slopes)

    def _fix(self, nodes: Bundle, cutoff: float, closed: float) -> Tightened:
        """By the reduced costs of the averaged minorant."""
        bound, d = relax_rows(self.rows, nodes, nodes["mean_constant"], nodes["mean_d"])
        exclude, include, fixed = fixed_by_costs(free(nodes), bound, d, cutoff)
        return Tightened(nodes, include, exclude, min(closed, fixed))

    def scores(self, nodes: Bundle) -> Floats:
        """The size of the mean reduced cost."""
        return np.abs(nodes["mean_d"])
