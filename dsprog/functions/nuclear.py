"""The nuclear norm of chosen columns.

It is submodular: the square root is an integral of log(1 + λ/t) over t, and each of these is a log det of principal
submatrices of the Gram matrix A = X'X.

Where the columns are far from dependent, no spectrum is needed. For eigenvalues in [m, M] the square root is, up to
rounding, a short sum (Hale, Higham and Trefethen 2008)

    √λ = Σ_t c_t λ/(λ + t),    so    ‖X_S‖_* = tr A_S^½ = Σ_t c_t (|S| - t tr (A_S + t)⁻¹),

with m and M the extreme eigenvalues of A, between which those of all A_S lie. With Z = (A_S + t)⁻¹, q = Z A_Sj and
σ = A_jj + t - A_jS q, adding j raises tr Z by (1 + |q|²)/σ, and removing i lowers it by |Z_i|²/Z_ii.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import LARGEST_ROOT, Floats, Ints, Masks, as_matrix, chosen_entries

FEW, MEMBERS = 16, 256  # sets, and elements in them, that are not worth a kernel
CONDITION = 1e6  # of A, up to which inverses keep enough digits


def square_root_sum(m: float, M: float) -> tuple[Floats, Floats]:
    """t and c with √λ = Σ c λ/(λ + t) on [m, M]: the trapezoidal rule in a variable that elliptic functions provide.

    >>> t, c = square_root_sum(0.01, 4.0)
    >>> bool(abs((c * 2 / (2 + t)).sum() - 2**0.5) < 1e-13)
    True
    """
    from scipy.special import ellipj, ellipk  # costs as much as importing all of dsprog

    count = int(np.ceil((np.log(M / m) + 3) * 33 / (2 * np.pi**2)))  # the error is exp(-2π² count / (log(M/m) + 3))
    K = ellipk(1 - m / M)
    sn, cn, dn, _ = ellipj((np.arange(count) + 0.5) * K / count, 1 - m / M)
    return m * (sn / cn) ** 2, 2 * K * np.sqrt(m) / (np.pi * count) * dn / cn**2


@part
def answer(A, Z, members, count, j, t, q):
    """The first entries of q: Z A_Sj; returns σ and (1 + |q|²)/σ."""
    column = q[count : 2 * count]
    for p in range(count):
        column[p] = A[j, members[p]]
    sigma = A[j, j] + t
    length = 1.0
    for p in range(count):
        total = 0.0
        for r in range(count):
            total += Z[p, r] * column[r]
        q[p] = total
        sigma -= total * column[p]
        length += total * total
    return sigma, length / sigma


@part
def append(Z, members, count, j, q, sigma):
    """Make j the next member: the inverse of a matrix with one more row."""
    for p in range(count):
        scale = q[p] / sigma
        for r in range(count):
            Z[p, r] += scale * q[r]
        Z[p, count] = -scale
        Z[count, p] = -scale
    Z[count, count] = 1.0 / sigma
    members[count] = j


@kernel
def chains_kernel(A, t, c, orders, start, out):
    """Increments along each order, summed over t."""
    n = len(A)
    Z, q = np.empty((n, n)), np.empty(2 * n)
    members = np.empty(n, dtype=np.int64)
    inside = np.empty(n, dtype=np.bool_)
    out[:] = 0.0
    for b in range(len(orders)):
        for s in range(len(t)):
            count = 0
            for j in range(n):
                inside[j] = start[b, j]
                if inside[j]:
                    sigma, _ = answer(A, Z, members, count, j, t[s], q)
                    append(Z, members, count, j, q, sigma)
                    count += 1
            for k in range(orders.shape[1]):
                j = orders[b, k]
                if j < 0 or inside[j]:
                    continue
                inside[j] = True
                sigma, rise = answer(A, Z, members, count, j, t[s], q)
                append(Z, members, count, j, q, sigma)
                count += 1
                out[b, k] += c[s] * (1.0 - t[s] * rise)


@kernel
def marginals_kernel(A, t, c, masks, among, out):
    """f(S ∪ j) - f(S ∖ j), summed over t."""
    n = len(A)
    Z, q = np.empty((n, n)), np.empty(2 * n)
    members = np.empty(n, dtype=np.int64)
    out[:] = 0.0
    for b in range(len(masks)):
        for s in range(len(t)):
            count = 0
            for j in range(n):
                if masks[b, j]:
                    sigma, _ = answer(A, Z, members, count, j, t[s], q)
                    append(Z, members, count, j, q, sigma)
                    count += 1
            for j in range(n):
                if among[b, j] and not masks[b, j]:
                    out[b, j] += c[s] * (1.0 - t[s] * answer(A, Z, members, count, j, t[s], q)[1])
            for p in range(count):
                if among[b, members[p]]:
                    length = 0.0
                    for r in range(count):
                        length += Z[p, r] * Z[p, r]
                    out[b, members[p]] += c[s] * (1.0 - t[s] * length / Z[p, p])


def value_of_one(A: Floats, t: Floats, c: Floats, mask: Masks) -> float:
    """f(S), the sum over t of tr A_S (A_S + t)⁻¹, from the spectrum of A_S."""
    spectrum = np.linalg.eigvalsh(A[np.ix_(mask, mask)])
    return float(c @ (spectrum / (spectrum + t[:, None])).sum(axis=1))


def marginals_of_one(A: Floats, t: Floats, c: Floats, mask: Masks) -> Floats:
    """What :func:`marginals_kernel` does, for one set and by LAPACK: a greedy search then needs no compilation."""
    Z = np.linalg.inv(A[np.ix_(mask, mask)] + t[:, None, None] * np.eye(mask.sum()))  # one for each t
    Q = Z @ A[np.ix_(mask, ~mask)]
    sigma = np.diag(A)[~mask] + t[:, None] - (Q * A[np.ix_(mask, ~mask)]).sum(axis=1)
    out = np.empty(len(A))
    out[~mask] = c @ (1.0 - t[:, None] * (1.0 + (Q * Q).sum(axis=1)) / sigma)
    out[mask] = c @ (1.0 - t[:, None] * (Z * Z).sum(axis=1) / np.diagonal(Z, axis1=1, axis2=2))
    return out


class NuclearNorm(SetFunction):
    """f(S) = ‖X_S‖_* = tr (X_S' X_S)^½, the sum of the singular values of the chosen columns.

    Parameters
    ----------
    X : (rows, n) array

    Examples
    --------
    >>> import dsprog as ds
    >>> round(ds.NuclearNorm([[3.0, 0.0], [4.0, 2.0]])([0]), 6)
    5.0
    """

    has_concave_extension = True

    def __init__(self, X: ArrayLike) -> None:
        self.X = as_matrix(X, "X", shape=(None, None), largest=LARGEST_ROOT)
        self.n = self.X.shape[1]
        self.knows = Knowledge(submodular=True, increasing=True)

    @cached_property
    def _R(self) -> Floats:
        """X = QR with orthonormal Q: columns of R have the singular values of columns of X."""
        return np.asarray(np.linalg.qr(self.X, mode="r")) if self.X.size else np.zeros((1, self.n))

    @cached_property
    def _gram(self) -> Floats:
        return np.ascontiguousarray(self._R.T @ self._R)

    @cached_property
    def _sum(self) -> tuple[Floats, Floats] | None:
        """The sum that stands for the square root on the spectrum of X'X; None if that is too wide."""
        spectrum = np.linalg.eigvalsh(self._gram) if self.n else np.zeros(1)
        if not spectrum[0] * CONDITION > spectrum[-1] > 0:
            return None
        return square_root_sum(0.999 * spectrum[0], 1.001 * spectrum[-1])

    def _values(self, masks: Masks) -> Floats:
        if self._sum is None:
            return self._from_singular_values(masks)
        if len(masks) <= FEW:
            return np.array([value_of_one(self._gram, *self._sum, mask) for mask in masks])
        return self._values_from_chains(masks)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        if self._sum is None:
            return super()._chains(orders, start)
        return filled(chains_kernel, orders.shape, self._gram, *self._sum, orders, start)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        if self._sum is None:
            return super()._marginals(masks, among)
        if len(masks) <= FEW and masks.sum() <= MEMBERS:
            return np.array([marginals_of_one(self._gram, *self._sum, mask) for mask in masks]).reshape(masks.shape)
        return filled(marginals_kernel, masks.shape, self._gram, *self._sum, masks, chosen_entries(masks, among))

    def _from_singular_values(self, masks: Masks) -> Floats:
        out = np.zeros(len(masks))
        sizes = masks.sum(axis=1)
        for size in np.unique(sizes[sizes > 0]):
            rows = np.flatnonzero(sizes == size)
            columns = np.nonzero(masks[rows])[1].reshape(len(rows), size)
            per_chunk = max(1, (1 << 22) // (len(self._R) * int(size)))
            for first in range(0, len(rows), per_chunk):
                these = slice(first, first + per_chunk)
                blocks = np.moveaxis(self._R[:, columns[these]], 0, 1)
                out[rows[these]] = np.linalg.svd(blocks, compute_uv=False).sum(axis=1)
        return out

    def _spectrum(self, x: Floats) -> tuple[Floats, Floats]:
        vectors, roots, _ = np.linalg.svd(self._R * np.sqrt(x)[:, None, :], full_matrices=True)
        padding = np.zeros((len(x), len(self._R) - roots.shape[1]))
        return np.concatenate([roots, padding], axis=1), vectors

    def _concave_extension(self, x: Floats) -> Floats:
        return np.linalg.svd(self._R * np.sqrt(x)[:, None, :], compute_uv=False).sum(axis=1)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # tr M^½ <= ½ tr P + ½ tr(P⁻¹ M) for every positive definite P, with equality at P = M^½. Here M is linear in
        # the set, and P is M(x)^½ lifted away from zero, where the slope of the extension is infinite.
        roots, vectors = self._spectrum(x)
        lifted = np.sqrt(roots**2 + 1e-12 * (self._R**2).sum() + 1e-200)
        projected = np.swapaxes(vectors, 1, 2) @ self._R
        return 0.5 * lifted.sum(axis=1), 0.5 * (projected**2 / lifted[:, :, None]).sum(axis=1)
