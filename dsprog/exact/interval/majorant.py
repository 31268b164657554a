"""Modular upper bounds of g on intervals: g(S) <= κ + c(S) for all S in [I, U].

A term with a concave extension gives a tangent at x. For a term without one take Y = {x >= ½} within [I, U]; by
submodularity

    g(S) <= g(Y) + Σ_{j∈S∖Y} g(j|Y) - Σ_{j∈Y∖S} g(j|U∖j)      and      g(S) <= g(Y) + Σ_{j∈S∖Y} g(j|I) - Σ_{j∈Y∖S}
    g(j|Y∖j),

and the one that is lower at x is taken.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.algebra import Sum
from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import free
from dsprog.run.driver import Bundle


class Majorant:
    """Upper bounds of a submodular sum, term by term the best kind that the term has."""

    def __init__(self, g: Sum, extensions: bool = True, machine: Machine = HOST) -> None:
        has = [extensions and h.has_concave_extension and (a > 0 or h.knows.modular is True) for a, h in g.terms]
        tangible = Sum(g.n, [term for term, tangent in zip(g.terms, has) if tangent])
        plain = Sum(g.n, [term for term, tangent in zip(g.terms, has) if not tangent])
        self.all_tangible = not plain.terms
        self.tangible, self.plain = machine.function(tangible), machine.function(plain)

    def prepare(self, nodes: Bundle) -> None:
        """Marginals of the plain part at both ends."""
        if not self.all_tangible:
            nodes["dr_I"], nodes["dr_U"] = (self.plain.marginals(nodes[end], free(nodes)) for end in "IU")

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """Again where an end moved."""
        if not self.all_tangible:
            for end, change in (("I", include), ("U", exclude)):
                rows = np.flatnonzero(change.any(axis=1))
                if len(rows):
                    nodes[f"dr_{end}"][rows] = self.plain.marginals(nodes[end][rows], free(nodes)[rows])

    def __call__(self, nodes: Bundle) -> tuple[Floats, Floats]:
        """Constants κ (B,) and slopes c (B, n) at the nodes' points x."""
        constants, slopes = self.tangible.tangents(nodes["x"])
        if not self.all_tangible:
            more_constants, more_slopes = self._through_Y(nodes)
            constants, slopes = constants + more_constants, slopes + more_slopes
        return constants, slopes

    def _through_Y(self, nodes: Bundle) -> tuple[Floats, Floats]:
        x = nodes["x"]
        Y = (x >= 0.5) & nodes["U"] | nodes["I"]
        at_Y, d_Y = self.plain.values(Y), self.plain.marginals(Y, free(nodes))  # slopes of fixed elements cancel
        grow = np.where(Y, nodes["dr_U"], d_Y)
        shrink = np.where(Y, d_Y, nodes["dr_I"])
        lower_is_grow = ((grow - shrink) * (x - Y)).sum(axis=1) <= 0
        slopes = np.where(lower_is_grow[:, None], grow, shrink)
        return at_Y - (slopes * Y).sum(axis=1), slopes
