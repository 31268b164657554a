"""Curvature that f and g share, taken out of both before any bound.

Let q(S) = Σ_{i<j∈S} Q_ij with Q >= 0. Then f - g = (f + q) - (g + q), and with the curvatures H^f and H^g of
:meth:`SetFunction.curvature` and Q = min(H^f, H^g) off the diagonal, both sides stay submodular, since q takes Q_ij
from the second differences of each. They are closer to modular than before, so that every bound made from greedy
vertices and marginals is tighter.

On the side of g the tangents stay tangents. On binary points q(x) = ½ xᵀ(Q - D)x + ½ d·x for any D = diag(d), as x_j²
= x_j. With the tangent (κ, c) of g at x, and the linear part of that form at x,

    (g + q)(S) <= κ + c(S) + [½ xᵀ(Q - D)x + ½ d·x + ((Q - D)x + ½ d)·(1_S - x)] - ½ (1_S - x)ᵀ(H^g - Q + D)(1_S - x),

and the last term is <= 0 as soon as H^g - Q + D is positive semidefinite: d = -λ_min(H^g - Q).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.algebra import Sum
from dsprog.core.kernel import kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.device.batched_quadratic import FieldOnDevice


@kernel
def chains_kernel(Q, orders, start, out):
    """Increments of q along orders: what each element has in common with those before it."""
    n = len(Q)
    common, inside = np.empty(n), np.empty(n, dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(n):
            common[j], inside[j] = 0.0, start[b, j]
        for i in range(n):
            if inside[i]:
                for j in range(n):
                    common[j] += Q[i, j]
        for p in range(orders.shape[1]):
            i = orders[b, p]
            if i < 0 or inside[i]:
                out[b, p] = 0.0
                continue
            inside[i] = True
            out[b, p] = common[i]
            for j in range(n):
                common[j] += Q[i, j]


class SharedCurvature(SetFunction):
    """q(S) = Σ_{i<j∈S} Q_ij, with tangents that only hold beside those of the function it was taken from.

    Parameters
    ----------
    Q : (n, n) array
        Symmetric, >= 0, zeros on the diagonal.
    d : float
        Every entry of D.
    """

    has_concave_extension = True

    def __init__(self, Q: Floats, d: float) -> None:
        self.Q, self.d, self.n = Q, d, len(Q)
        self.knows = Knowledge(supermodular=True, increasing=True)

    def _values(self, masks: Masks) -> Floats:
        return 0.5 * np.einsum("bj,bj->b", masks @ self.Q, masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return masks @ self.Q

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(self.Q, orders, start, out)
        return out

    def on_device(self, machine: Any) -> CurvatureOnDevice:
        """With the same matrix."""
        return CurvatureOnDevice(machine, self.Q, self.d)

    def _concave_extension(self, x: Floats) -> Floats:
        return 0.5 * (np.einsum("bj,bj->b", x @ self.Q, x) + self.d * (x * (1.0 - x)).sum(axis=1))

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        slopes = x @ self.Q - self.d * x
        return -0.5 * np.einsum("bj,bj->b", slopes, x), slopes + 0.5 * self.d


class CurvatureOnDevice(FieldOnDevice):
    """:class:`SharedCurvature` on a device."""

    def __init__(self, machine: Any, Q: Floats, d: float) -> None:
        super().__init__(machine, np.zeros(len(Q)), Q, 0.0)
        self.d = d

    def tangents(self, x: Floats) -> tuple[Floats, Floats]:
        """As above."""
        slopes = x @ self.P - self.d * x
        return -0.5 * (slopes * x).sum(axis=1), slopes + 0.5 * self.d


def share_curvature(f: Sum, g: Sum) -> tuple[Sum, Sum]:
    """f + q and g + q, or f and g as they are where they share nothing worth it."""
    curved_f, curved_g = f.curvature(), g.curvature()
    if curved_f is None or curved_g is None:
        return f, g
    Q = np.minimum(curved_f, curved_g)
    np.fill_diagonal(Q, 0.0)
    least = float(np.linalg.eigvalsh(curved_g - Q)[0]) - 1e-12 * float(np.abs(curved_g).max())
    if Q.sum() <= len(Q) * max(0.0, -least):  # at x = ½ the chains gain ⅛ Σ_ij Q_ij and the tangents lose ⅛ Σ_j d
        return f, g
    q = SharedCurvature(Q, -least)
    return Sum(f.n, [*f.terms, (1.0, q)]), Sum(g.n, [*g.terms, (1.0, q)])
