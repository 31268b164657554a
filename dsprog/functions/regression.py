"""Least squares: the loss of the best linear model on the chosen features."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import LARGEST_ROOT, Floats, Ints, Masks, as_matrix, as_number
from dsprog.functions._cholesky import inverse_factor
from dsprog.functions._leave_one_out import explained_by, marginals_of_dependent

FEW, MEMBERS = 16, 256  # sets, and elements in them, that are not worth a kernel
LONGEST = 1e3  # mean squared length of the rows of X / √(m ridge) up to which I + XX' keeps its digits
MANY = 1000  # columns whose triangle is not made for small sets
BLOCK = 64  # columns that are tested for orthogonality at a time


@part
def grow(R, target, basis, factor, members, count, j, z):
    """Add column j to an orthonormal basis and return what it explains of ½|target|², or -1 if it is dependent.

    Orthogonalised twice, since once is not enough where columns are nearly dependent. ``factor`` keeps the
    coefficients, so that the chosen columns are basis' times factor'.
    """
    n = len(target)
    length = 0.0
    for r in range(n):
        basis[count, r] = R[r, j]
        length += R[r, j] * R[r, j]
    factor[count, :count] = 0.0
    for _ in range(2):
        for p in range(count):
            product = 0.0
            for r in range(n):
                product += basis[p, r] * basis[count, r]
            factor[count, p] += product
            for r in range(n):
                basis[count, r] -= product * basis[p, r]
    rest = 0.0
    for r in range(n):
        rest += basis[count, r] * basis[count, r]
    if rest <= (1e-13 * n) ** 2 * length:
        return -1.0
    factor[count, count] = np.sqrt(rest)
    z[count] = 0.0
    for r in range(n):
        basis[count, r] /= factor[count, count]
        z[count] += basis[count, r] * target[r]
    members[count] = j
    return 0.5 * z[count] * z[count]


@kernel
def chains_kernel(R, target, orders, start, out):
    """Falls of the loss along orders."""
    n = R.shape[1]
    most = min(n, len(target)) + 1  # no more columns are independent
    factor, basis, z = np.empty((most, most)), np.empty((most, len(target))), np.empty(most)
    members = np.empty(most, dtype=np.int64)
    inside = np.empty(n, dtype=np.bool_)
    for batch in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[batch, j]
        count = 0
        for j in range(n):
            if inside[j] and grow(R, target, basis, factor, members, count, j, z) >= 0:
                count += 1
        for k in range(orders.shape[1]):
            j = orders[batch, k]
            out[batch, k] = 0.0
            if j < 0 or inside[j]:
                continue
            inside[j] = True
            gain = grow(R, target, basis, factor, members, count, j, z)
            if gain >= 0:
                count += 1
                out[batch, k] = -gain


@kernel
def marginals_kernel(R, target, masks, out, regular):
    """Falls of the loss by one column; ``regular`` is False where chosen columns are dependent, and members are not
    filled in.
    """
    n = R.shape[1]
    factor, inverse = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    basis, z = np.empty((n + 1, len(target))), np.empty(n + 1)
    members = np.empty(n + 1, dtype=np.int64)
    for batch in range(len(masks)):
        count = 0
        regular[batch] = True
        for j in range(n):
            if masks[batch, j]:
                if grow(R, target, basis, factor, members, count, j, z) >= 0:
                    count += 1
                else:
                    regular[batch] = False
        for j in range(n):
            if not masks[batch, j]:
                out[batch, j] = -max(0.0, grow(R, target, basis, factor, members, count, j, z))
        if not regular[batch]:
            continue
        inverse_factor(factor, count, inverse)
        for c in range(count):  # w_j²/(2 (G_S⁻¹)_jj), with G_S = LL' and w = L⁻ᵀ z
            diagonal = 0.0
            w = 0.0
            for p in range(c, count):
                diagonal += inverse[p, c] * inverse[p, c]
                w += inverse[p, c] * z[p]
            out[batch, members[c]] = -0.5 * w * w / diagonal


def marginals_of_one(R: Floats, target: Floats, mask: Masks, out: Floats) -> bool:
    """What :func:`marginals_kernel` does, for one set and by LAPACK: a greedy search then needs no compilation."""
    negligible, lengths = 1e-13 * R.shape[1], np.linalg.norm(R, axis=0)
    Q, T = np.linalg.qr(R[:, mask])
    if len(T) < T.shape[1] or (np.abs(np.diag(T)) <= negligible * lengths[mask]).any():
        return False
    left = R[:, ~mask]
    for _ in range(2):
        left = left - Q @ (Q.T @ left)
    rest = np.linalg.norm(left, axis=0)
    explained = np.divide(target @ left, rest, out=np.zeros(len(rest)), where=rest > negligible * lengths[~mask])
    out[~mask] = -0.5 * explained**2
    inverse = np.linalg.inv(T)  # w_j²/(2 (G_S⁻¹)_jj), with G_S = T'T and w = T⁻¹ Q' target
    out[mask] = -0.5 * (inverse @ (target @ Q)) ** 2 / (inverse**2).sum(axis=1)
    return True


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
        self.X = as_matrix(X, "X", shape=(None, None), largest=LARGEST_ROOT)
        rows, self.n = self.X.shape
        self.y = as_matrix(y, "y", shape=(rows,), largest=LARGEST_ROOT)
        self.ridge = as_number(ridge, "ridge")
        if self.ridge < 0:
            raise ValueError(f"ridge must be non-negative, got {self.ridge:g}")
        if rows == 0:
            raise ValueError("X must have at least one row, got none")
        self._loss_of_nothing = float(self.y @ self.y) / (2 * rows)

    @cached_property
    def knows(self) -> Knowledge:  # type: ignore[override]
        """Decreasing; modular if the columns are orthogonal."""
        orthogonal = all(self._orthogonal_to_later(first) for first in range(0, self.n, BLOCK))
        return Knowledge(submodular=orthogonal, supermodular=orthogonal, decreasing=True)

    def _orthogonal_to_later(self, first: int) -> bool:
        """Whether some columns from ``first`` on are orthogonal to each other, and then to all later ones."""
        some = self.X[:, first : first + BLOCK]
        gram = some.T @ some
        gram[np.diag_indices(len(gram))] = 0.0
        return not gram.any() and not (some.T @ self.X[:, first + BLOCK :]).any()

    def extremes(self) -> Floats:
        """The loss of ∅ and 0: all others lie between, and that of V would cost a factorisation of all columns."""
        return np.array([self._loss_of_nothing, 0.0])

    @cached_property
    def _triangle(self) -> tuple[Floats, Floats]:
        """R and Q'y of all columns, see :meth:`_triangle_of`."""
        return self._triangle_of(np.ones(self.n, dtype=bool))

    def _triangle_of(self, mask: Masks) -> tuple[Floats, Floats]:
        """min ‖y - Xw‖²/m + ridge ‖w‖² is least squares on rows extended by √ridge I; of QR only R, Q'y matter."""
        rows, size = len(self.X), int(mask.sum())
        below = np.zeros((size if self.ridge else 0, size + 1))
        below.flat[:: size + 2] = np.sqrt(self.ridge)
        extended = np.vstack([np.column_stack([self.X[:, mask], self.y]) / np.sqrt(rows), below])
        R: Floats = np.linalg.qr(extended, mode="r")  # type: ignore[assignment]  # its last column is Q'y
        R = R[:size]
        return np.ascontiguousarray(R[:, :size]), np.ascontiguousarray(R[:, size])

    def _values(self, masks: Masks) -> Floats:
        """Single features by their formula, large sets and a few small ones by LAPACK, all others by the kernel."""
        sizes, out = masks.sum(axis=1), np.full(len(masks), np.nan)
        out[sizes == 0] = self._loss_of_nothing
        single, small = sizes == 1, (sizes > 1) & (sizes <= MEMBERS)
        if single.any():
            out[single] = self._loss_of_nothing - self._explained_alone[np.nonzero(masks[single])[1]]
        few = small.sum() <= FEW or self.n > MANY  # one triangle of many columns costs more than many sets
        large = (sizes > MEMBERS) | ((sizes > 1) & (sizes == self.n))
        for b in np.flatnonzero(large | (small & few)):
            out[b] = self._value_by_factors(masks[b])
        for b in np.flatnonzero(np.isnan(out) & (sizes > MEMBERS)):
            out[b] = self._loss_of_nothing - explained_by(*self._triangle, masks[b])
        left = np.isnan(out)
        if left.any():
            orders = np.where(masks[left], np.arange(self.n), -1)
            out[left] = self._loss_of_nothing + self._chains(orders, np.zeros(orders.shape, dtype=bool)).sum(axis=1)
        return out

    @cached_property
    def _explained_alone(self) -> Floats:
        """What each feature explains alone."""
        rows = len(self.X)
        lengths = np.einsum("ij,ij->j", self.X, self.X) / rows + self.ridge
        return np.divide(0.5 * (self.y @ self.X / rows) ** 2, lengths, out=np.zeros(self.n), where=lengths > 0)

    def _value_by_factors(self, mask: Masks) -> float:
        """The loss of a set by QR or, with a ridge and fewer rows than features, (1/2m) y'(I + XX'/(m ridge))⁻¹ y.

        Not a number if the columns are dependent. The second way rounds the I away where XX' is long beside it: it is
        taken up to ``LONGEST``, and loses no more digits than that has.
        """
        rows, size = len(self.X), int(mask.sum())
        if self.ridge and rows < size:
            X = self.X[:, mask] / np.sqrt(rows * self.ridge)
            if np.vdot(X, X) <= LONGEST * rows:
                z = np.linalg.solve(np.linalg.cholesky(np.eye(rows) + X @ X.T), self.y)
                return float(z @ z) / (2 * rows)
        R, z = self._triangle if size == self.n else self._triangle_of(mask)
        if len(R) < size or (np.abs(R.diagonal()) <= 1e-13 * self.n * np.linalg.norm(R, axis=0)).any():
            return np.nan
        return self._loss_of_nothing - 0.5 * float(z @ z)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out, regular = np.empty(masks.shape), np.empty(len(masks), dtype=bool)
        if (len(masks) <= FEW and masks.sum() <= MEMBERS) or masks.sum(axis=1).max(initial=0) > MEMBERS:
            for b, mask in enumerate(masks):
                regular[b] = marginals_of_one(*self._triangle, mask, out[b])
        else:
            marginals_kernel(*self._triangle, masks, out, regular)
        for row in np.flatnonzero(~regular).tolist():
            out[row] = marginals_of_dependent(*self._triangle, masks[row])
        return out

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(chains_kernel, orders.shape, *self._triangle, orders, start)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """Least squares again: columns outside U are dropped, those of I projected away.

        With rows √(m ridge) I below the columns of I, called A_I, the best coefficients of I leave y and X_F the parts
        that are orthogonal to A_I. The ridge of F stays, and m' rows in place of m are scaled by √(m'/m).
        """
        if len(include) == 0:
            return LeastSquares(self.X[:, free], self.y, self.ridge)
        if self.knows.modular:  # rounding in the projection would hide that the columns are orthogonal
            return super()._restrict(include, free)
        rows = len(self.X)
        below = np.sqrt(rows * self.ridge) * np.eye(len(include)) if self.ridge else np.zeros((0, len(include)))
        A = np.vstack([self.X[:, include], below])
        others = np.vstack([np.column_stack([self.X[:, free], self.y]), np.zeros((len(below), len(free) + 1))])
        left = np.sqrt(len(A) / rows) * projected_away(A, others)
        return LeastSquares(left[:, :-1], left[:, -1], self.ridge)


def projected_away(A: Floats, B: Floats) -> Floats:
    """The parts of the columns of B that are orthogonal to the columns of A; 0 where only rounding is left."""
    lengths, negligible = np.linalg.norm(A, axis=0), 1e-13 * sum(A.shape)
    vectors, values, _ = np.linalg.svd(A / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    Q = vectors[:, values > negligible * values.max(initial=0.0)]
    left = B - Q @ (Q.T @ B)
    left -= Q @ (Q.T @ left)  # once is not enough where little is left
    return left * (np.linalg.norm(left, axis=0) > negligible * np.linalg.norm(B, axis=0))
