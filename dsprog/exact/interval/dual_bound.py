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

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import Bound, Tightened, close, fixed_by_costs, free
from dsprog.exact.interval.contest import Contest, shares
from dsprog.exact.interval.descent import Minorants
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.majorant import Majorant
from dsprog.exact.interval.node_kernels import kernels_on
from dsprog.run.driver import Bundle

LAGRANGIAN = 1  # of the two ways to step where there are rows


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
    machine : Machine
        Where the nodes are.
    """

    name = "dual"
    uses_ends = True
    repeats = False  # a step of the next node does more than a second round of steps

    def __init__(
        self,
        f: SetFunction,
        majorant: Majorant,
        rows: LinearRows,
        steps: int,
        ends: Ends | None = None,
        machine: Machine = HOST,
    ) -> None:
        self.f, self.majorant, self.rows, self.steps, self.ends = machine.function(f), majorant, rows, steps, ends
        self.machine, self.kernels = machine, kernels_on(machine, rows)
        self.contest = Contest(2)  # of steps by the minorant alone and by the Lagrangian

    def prepare(self, nodes: Bundle) -> None:
        """No minorant yet."""
        (count, n), xp = nodes["x"].shape, self.machine.xp
        nodes["mean_constant"], nodes["mean_d"] = xp.zeros(count), xp.zeros((count, n))
        nodes["orders"] = xp.tile(xp.arange(n, dtype=self.kernels.index), (count, 1))
        nodes["count"] = xp.zeros(count, dtype=np.int64)
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
            bound, reduced = self.kernels.relax(nodes, nodes["mean_constant"], nodes["mean_d"])
            if k and len(self.rows):  # the first step is the same either way
                gained += float(shares(nodes["lower"], bound, cutoff).sum())
            nodes["lower"] = np.maximum(nodes["lower"], bound)
            if k + 1 < self.steps:
                if len(self.rows) and way == LAGRANGIAN:
                    d, value = self._lagrangian(nodes, d, value, bound, reduced)
                self.kernels.step(d, value, nodes)
            nodes, _, reached = close(nodes, cutoff, self.machine.few if k + 1 < self.steps else 0.0)
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
        self.kernels.sort_free(nodes)
        increments = self.f.chains(orders, nodes["I"])
        constants, slopes = self.majorant(nodes)
        if self.ends is not None:
            constants, slopes = self._or_marginals(nodes, constants, slopes)
        d, value = self.machine.xp.empty(orders.shape), self.machine.xp.empty(len(orders))
        self.kernels.average(Minorants(orders, increments, nodes["f_I"], constants, slopes), nodes, d, value)
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
        bound, d = self.kernels.relax(nodes, nodes["mean_constant"], nodes["mean_d"])
        exclude, include, fixed = fixed_by_costs(free(nodes), bound, d, cutoff)
        return Tightened(nodes, include, exclude, min(closed, fixed))

    def scores(self, nodes: Bundle) -> Floats:
        """The size of the mean reduced cost."""
        return np.abs(nodes["mean_d"])
