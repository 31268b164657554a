"""Modular functions: the linear functions among set functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import GainModel
from dsprog.core.kernel import kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix, as_number


@kernel
def chains_kernel(weights, orders, start, out):
    """The weight of each element that is new to its chain."""
    inside = np.empty(len(weights), dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j >= 0 and not inside[j]:
                inside[j] = True
                out[b, k] = weights[j]


class Modular(SetFunction):
    """f(S) = constant + Σ_{j∈S} weights_j.

    Parameters
    ----------
    weights : (n,) array
    constant : float, optional

    Examples
    --------
    >>> import dsprog as ds
    >>> ds.Modular([1.0, -2.0, 3.0])([0, 2])
    4.0
    """

    has_concave_extension = True
    has_columns = True
    has_gains = True
    has_gain_table = True

    def __init__(self, weights: ArrayLike, constant: float = 0.0) -> None:
        self.weights = as_matrix(weights, "weights", shape=(None,))
        self.constant = as_number(constant, "constant")
        self.n = len(self.weights)
        self.knows = Knowledge(
            submodular=True,
            supermodular=True,
            increasing=bool((self.weights >= 0).all()),
            decreasing=bool((self.weights <= 0).all()),
            symmetric=True if not self.weights.any() else None,
            integral=bool((self.weights % 1 == 0).all() and self.constant % 1 == 0) or None,
        )

    def _values(self, masks: Masks) -> Floats:
        return self.constant + masks @ self.weights

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return np.broadcast_to(self.weights, masks.shape).copy()

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(self.weights, orders, start, out)
        return out

    def _concave_extension(self, x: Floats) -> Floats:
        return self.constant + x @ self.weights

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        return np.full(len(x), self.constant), np.broadcast_to(self.weights, x.shape).copy()

    def groups(self) -> list[Ints]:
        """None: it is modular."""
        return []

    def gain_table(self, j: int, others: Ints, given: Masks) -> Floats:
        """The weight of j."""
        return np.full(1 << len(others), self.weights[j])

    def quadratic_form(self) -> QuadraticForm:
        """Without pairs."""
        return QuadraticForm.linear(self.weights, self.constant)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """constant + Σ weights_j x_j."""
        return Expression(elements, self.weights, self.constant)

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Weights, and no client."""
        model.linear(self.weights, self.constant, elements, weight)

    def _restrict(self, include: Ints, free: Ints) -> Modular:
        return Modular(self.weights[free], self.constant + self.weights[include].sum())

    def _complement(self) -> Modular:
        return Modular(-self.weights, self.constant + self.weights.sum())

    def _relabel(self, order: Ints) -> Modular:
        return Modular(self.weights[order], self.constant)
