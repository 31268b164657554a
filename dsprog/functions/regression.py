"""Least squares: the loss of the best linear model on the chosen features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsprog.functions.cholesky import append, inverse_factor, project
from dsprog.kernel import kernel
from dsprog.knowledge import Knowledge
from dsprog.set_function import SetFunction
from dsprog.validation import Floats, Ints, Masks, as_matrix, as_number


@kernel
def grow(G, b, factor, members, count, j, row, z):
    """Add j to the factor and return how much ½ b_S' G_S⁻¹ b_S grew; a dependent column adds nothing (-1)."""
    pivot = project(G, factor, members, count, j, row)
    if pivot <= 1e-10 * G[j, j]:  # numerically a combination of the others
        return -1.0
    append(factor, members, count, j, row, pivot)
    total = b[j]
    for p in range(count):
        total -= row[p] * z[p]
    z[count] = total / factor[count, count]
    return 0.5 * z[count] * z[count]


@kernel
def chains_kernel(G, b, orders, start, out):
    """Falls of the loss along orders."""
    n = len(G)
    factor, row, z = np.empty((n, n)), np.empty(n), np.empty(n)
    members = np.empty(n, dtype=np.int64)
    inside = np.empty(n, dtype=np.bool_)
    for batch in range(len(orders)):
        inside[:] = start[batch]
        count = 0
        for j in range(n):
            if inside[j] and grow(G, b, factor, members, count, j, row, z) >= 0:
                count += 1
        for k in range(orders.shape[1]):
            j = orders[batch, k]
            out[batch, k] = 0.0
            if j < 0 or inside[j]:
                continue
            inside[j] = True
            gain = grow(G, b, factor, members, count, j, row, z)
            if gain >= 0:
                count += 1
                out[batch, k] = -gain


@kernel
def marginals_kernel(G, b, masks, out, regular):
    """Falls of the loss by one column; ``regular`` is False where chosen columns are dependent, and members are not
    filled in.
    """
    n = len(G)
    factor, inverse, row, z = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n)
    members = np.empty(n, dtype=np.int64)
    for batch in range(len(masks)):
        count = 0
        regular[batch] = True
        for j in range(n):
            if masks[batch, j]:
                if grow(G, b, factor, members, count, j, row, z) >= 0:
                    count += 1
                else:
                    regular[batch] = False
        for j in range(n):
            if not masks[batch, j]:
                out[batch, j] = -max(0.0, grow(G, b, factor, members, count, j, row, z))
        if not regular[batch]:
            continue
        inverse_factor(factor, count, inverse)
        for c in range(count):  # w_j²/(2 (G_S⁻¹)_jj), with w = L⁻ᵀ z
            diagonal = 0.0
            w = 0.0
            for p in range(c, count):
                diagonal += inverse[p, c] * inverse[p, c]
                w += inverse[p, c] * z[p]
            out[batch, members[c]] = -0.5 * w * w / diagonal


class LeastSquares(SetFunction):
    """f(S) = min over w of (1/2m) ‖y - X_S w‖² + (ridge/2) ‖w‖², m the number of rows.

    Decreasing. It is often called supermodular; in general it is not (two correlated features that each tell little may
    together tell much), so nothing of the kind is assumed unless the columns are orthogonal, where it is modular.

    Parameters
    ----------
    X : (m, n) array
    y : (m,) array
    ridge : float, optional

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.LeastSquares([[1.0, 1.0], [0.0, 1.0]], [0.0, 2.0])
    >>> round(f([]), 6), round(f([0]), 6), round(f([0, 1]), 6)
    (1.0, 1.0, 0.0)
    >>> f.knows.supermodular
    False
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, ridge: float = 0.0) -> None:
        self.X = as_matrix(X, "X", shape=(None, None))
        rows, self.n = self.X.shape
        self.y = as_matrix(y, "y", shape=(rows,))
        self.ridge = as_number(ridge, "ridge")
        if self.ridge < 0:
            raise ValueError(f"ridge must be non-negative, got {self.ridge:g}")
        if rows == 0:
            raise ValueError("X must have at least one row, got none")
        self.gram = self.X.T @ self.X / rows + self.ridge * np.eye(self.n)
        self.moments = self.X.T @ self.y / rows
        self.loss_of_nothing = float(self.y @ self.y) / (2 * rows)
        orthogonal = not (self.gram - np.diag(np.diag(self.gram))).any()
        self.knows = Knowledge(submodular=orthogonal, supermodular=orthogonal, decreasing=True)

    def _values(self, masks: Masks) -> Floats:
        orders = np.where(masks, np.arange(self.n), -1)
        return self.loss_of_nothing + self._chains(orders, np.zeros(masks.shape, dtype=bool)).sum(axis=1)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out, regular = np.empty(masks.shape), np.empty(len(masks), dtype=bool)
        marginals_kernel(self.gram, self.moments, masks, out, regular)
        if not regular.all():
            out[~regular] = super()._marginals(masks[~regular], None if among is None else among[~regular])
        return out

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(self.gram, self.moments, orders, start, out)
        return out
