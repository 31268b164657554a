"""Bounds from marginals at the ends of an interval.

With f(j|A) = f(A ∪ j) - f(A ∖ j) and both functions submodular, every S in [I, U] has

    f(S) >= f(I) + Σ_{j∈S∖I} f(j|U∖j)        f(S) >= f(U) - Σ_{j∈U∖S} f(j|I)
    g(S) <= g(I) + Σ_{j∈S∖I} g(j|I)          g(S) <= g(U) - Σ_{j∈U∖S} g(j|U∖j),

since marginals fall as sets grow. Each pairing of a lower bound of f with an upper bound of g is modular and
minimised element by element: four bounds from four arrays.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Masks
from dsprog.exact.interval.bound import Bound, Tightened, close, free
from dsprog.exact.interval.ends import Ends
from dsprog.run.driver import Bundle


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
    """

    name = "modular"
    uses_ends = True
    guides = True  # by curvature

    def __init__(self, ends: Ends, persistency: bool = True) -> None:
        self.ends, self.persistency = ends, persistency

    def prepare(self, nodes: Bundle) -> None:
        """The ends are all it needs."""

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """The ends are all it needs."""

    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Raise ``lower`` to the best of the four."""
        self.ends.refresh(nodes)
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
        nodes["lower"] = np.maximum.reduce([nodes["lower"], *bounds])
        nodes, _, closed = close(nodes, cutoff)
        F = free(nodes)
        if not self.persistency:
            return Tightened(nodes, np.zeros_like(F), np.zeros_like(F), closed)
        exclude = F & (nodes["df_U"] - nodes["dg_I"] >= 0)
        include = F & ~exclude & (nodes["df_I"] - nodes["dg_U"] <= 0)
        return Tightened(nodes, include, exclude, closed)

    def scores(self, nodes: Bundle) -> Floats:
        """Total curvature f(j|I) - f(j|U∖j) + g(j|I) - g(j|U∖j), what fixing j takes out of the bounds, counted up to
        twice where x_j is undecided (a quarter to a half fewer nodes at n = 50 on sums of square roots).
        """
        self.ends.refresh(nodes)
        x = nodes["x"]
        return (nodes["df_I"] - nodes["df_U"] + nodes["dg_I"] - nodes["dg_U"]) * (0.25 + x * (1.0 - x))
