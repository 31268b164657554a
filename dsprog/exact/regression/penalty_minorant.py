"""The modular minorant of the penalty at a node, tight along an order of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dsprog.core.algebra import Sum
from dsprog.core.validation import Floats, Ints, Masks

if TYPE_CHECKING:
    from dsprog.exact.regression.losses import AnyRelaxation


def minorant(penalty: Sum, U: Masks, order: Ints) -> Floats:
    """d with penalty(S) >= penalty(∅) + d(S) for all S ⊆ U: the increments along an order of U.

    The increments of a submodular function along a chain are a vertex of its base polytope, and equal it at every
    prefix of the order.
    """
    order = order[U[order]]
    d = np.zeros(len(U))
    d[order] = penalty.chains(order[None])[0]
    return d


def least_penalty(at_empty: float, node: dict[str, Any]) -> float:
    """penalty(∅) + Σ_I d_j + Σ_F min(0, d_j): what the penalty of a node is at least, and its loss is never below 0."""
    d, I = node["d"], node["I"]
    return at_empty + float(d[I].sum() + np.minimum(d[node["U"] & ~I], 0.0).sum())


def order_of(node: dict[str, Any], relaxation: AnyRelaxation) -> Ints:
    """The features of a node: I first, then by |w|."""
    size = np.full(len(node["I"]), -1.0)
    size[relaxation.free] = np.abs(relaxation.w)
    size[node["I"]] = np.inf
    return np.argsort(-size, kind="stable")
