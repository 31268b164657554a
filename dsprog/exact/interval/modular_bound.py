"""Bounds from marginals at the ends of an interval.

With f(j|A) = f(A ∪ j) - f(A ∖ j) and both functions submodular, every S in [I, U] has

    f(S) >= f(I) + Σ_{j∈S∖I} f(j|U∖j)        f(S) >= f(U) - Σ_{j∈U∖S} f(j|I)
    g(S) <= g(I) + Σ_{j∈S∖I} g(j|I)          g(S) <= g(U) - Σ_{j∈U∖S} g(j|U∖j),

since marginals fall as sets grow. Each pairing of a lower bound of f with an upper bound of g is modular and
minimised element by element: four bounds from four arrays. Under constraints each is minimised over the rows in force
(:func:`dsprog.core.rows.relax_rows`: the r least for a cardinality, Dantzig's rule for a knapsack), and its reduced
costs fix elements. Those pairings go first that have closed most nodes so far, so that the others see fewer.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import Bound, Tightened, close, fixed_by_costs, free
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.node_kernels import NodeKernels, kernels_on
from dsprog.run.driver import Bundle

PAIRINGS = (("I", "I"), ("I", "U"), ("U", "I"), ("U", "U"))  # the ends at which f and g have their values
OFTEN = 16  # batches between two tries of a pairing that closed little
LITTLE = 1 / 64  # of the nodes that the best pairing closed


class ModularBound(Bound):
    """The best of the four modular bounds, and persistency.

    Parameters
    ----------
    ends : Ends
        f and g at I and U.
    persistency : bool
        Whether to fix elements that some optimum has, or omits. For S in [I, U] and j free, f(j|U∖j) - g(j|I) <= (f -
        g)(S ∪ j) - (f - g)(S ∖ j) <= f(j|I) - g(j|U∖j): if the left side is >= 0 omitting j never hurts, if the right
        side is <= 0 having it never does. This keeps one optimum, not all, and ignores constraints.
    rows : LinearRows, optional
        Constraints, taken into the minimisation.
    """

    name = "modular"
    uses_ends = True
    guides = True  # by curvature

    def __init__(
        self, ends: Ends, persistency: bool = True, rows: LinearRows | None = None, machine: Machine = HOST
    ) -> None:
        self.ends, self.persistency, self.rows = ends, persistency, rows
        self.kernels = None if rows is None or len(rows) == 0 else kernels_on(machine, rows)
        self.won, self.batches = np.zeros(len(PAIRINGS)), 0

    def prepare(self, nodes: Bundle) -> None:
        """The ends are all it needs."""

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """The ends are all it needs."""

    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Raise ``lower`` to the best of the four."""
        self.ends.refresh(nodes)
        if self.kernels is not None:
            return self._tighten_by_rows(nodes, cutoff, self.kernels)
        F = free(nodes)
        f_I, f_U, g_I, g_U = (nodes[key] for key in ("f_I", "f_U", "g_I", "g_U"))
        df_I, df_U, dg_I, dg_U = (nodes[key] for key in ("df_I", "df_U", "dg_I", "dg_U"))

        def least(inside: Floats | float, outside: Floats | float) -> Floats:
            return np.where(F, np.minimum(inside, outside), 0.0).sum(axis=1)

        bounds = (
            f_I - g_I + least(df_U - dg_I, 0.0),
            f_I - g_U + least(df_U, dg_U),
            f_U - g_I + least(-dg_I, -df_I),
            f_U - g_U + least(0.0, dg_U - df_I),
        )
        for bound in bounds:
            nodes["lower"] = np.maximum(nodes["lower"], bound)
        nodes, _, closed = close(nodes, cutoff)
        F = free(nodes)
        if not self.persistency:
            return Tightened(nodes, np.zeros_like(F), np.zeros_like(F), closed)
        exclude = F & (nodes["df_U"] - nodes["dg_I"] >= 0)
        include = F & ~exclude & (nodes["df_I"] - nodes["dg_U"] <= 0)
        return Tightened(nodes, include, exclude, closed)

    def _tighten_by_rows(self, nodes: Bundle, cutoff: float, kernels: NodeKernels) -> Tightened:
        """One pairing after the other; the nodes that reach the cutoff leave the batch on the way."""
        include, exclude, closed = np.zeros_like(nodes["I"]), np.zeros_like(nodes["I"]), np.inf
        for k in self._order():
            if len(nodes["lower"]) == 0:
                break
            constants, d = minorant(nodes, *PAIRINGS[k])
            bound, reduced = kernels.relax(nodes, constants, d)
            self.won[k] += int((bound > nodes["lower"]).sum())
            nodes["lower"] = np.maximum(nodes["lower"], bound)
            count = len(nodes["lower"])
            nodes, keep, reached = close(nodes, cutoff)
            self.won[k] += count - len(nodes["lower"])
            out, into, fixed = fixed_by_costs(free(nodes), bound[keep], reduced[keep], cutoff)
            include, exclude = include[keep] | into, exclude[keep] | out
            closed = min(closed, reached, fixed)
        return Tightened(nodes, include & ~exclude, exclude, closed)

    def _order(self) -> list[int]:
        """The pairings by what they have won, nodes raised and closed; now and then all, else those that win."""
        self.batches += 1
        order = np.argsort(-self.won, kind="stable")
        everyone = self.batches % OFTEN == 1
        return [int(k) for k in order if everyone or self.won[k] >= LITTLE * self.won.max()]

    def scores(self, nodes: Bundle) -> Floats:
        """Total curvature f(j|I) - f(j|U∖j) + g(j|I) - g(j|U∖j), what fixing j takes out of the bounds, counted up to
        twice where x_j is undecided (a quarter to a half fewer nodes at n = 50 on sums of square roots).
        """
        self.ends.refresh(nodes)
        x = nodes["x"]
        return (nodes["df_I"] - nodes["df_U"] + nodes["dg_I"] - nodes["dg_U"]) * (0.25 + x * (1.0 - x))


def minorant(nodes: Bundle, end_f: str, end_g: str) -> tuple[Floats, Floats]:
    """Constant and slopes of a modular function below f - g on each interval: constant + Σ_{j∈S∖I} d_j.

    With f at U, f(S) >= f(U) - Σ_{F} f(j|I) + Σ_{S∖I} f(j|I); with g at U, g(S) <= g(U) - Σ_F g(j|U∖j) + Σ_{S∖I}
    g(j|U∖j).
    """
    F = free(nodes)
    slopes_f = np.where(F, nodes["df_U" if end_f == "I" else "df_I"], 0.0)
    slopes_g = np.where(F, nodes["dg_I" if end_g == "I" else "dg_U"], 0.0)
    constants = nodes[f"f_{end_f}"] - nodes[f"g_{end_g}"]
    if end_f == "U":
        constants = constants - slopes_f.sum(axis=1)
    if end_g == "U":
        constants = constants + slopes_g.sum(axis=1)
    return constants, slopes_f - slopes_g
