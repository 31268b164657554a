"""Determinants of principal submatrices, and Gaussian entropy, which makes them submodular."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.determinant_form import DeterminantForm
from dsprog.core.kernel import kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import LARGEST_ROOT, Floats, Ints, Masks, as_matrix, chosen_entries
from dsprog.functions._cholesky import append, inverse_factor, project


@kernel
def chains_kernel(M, orders, start, out):
    """Log of the pivots of a Cholesky factorisation along each order."""
    n = len(M)
    factor = np.empty((n, n))
    members = np.empty(n, dtype=np.int64)
    row = np.empty(n)
    inside = np.empty(n, dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        count = 0
        for j in range(n):
            if inside[j]:
                append(factor, members, count, j, row, max(1e-300, project(M, factor, members, count, j, row)))
                count += 1
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j]:
                continue
            inside[j] = True
            pivot = max(1e-300, project(M, factor, members, count, j, row))
            append(factor, members, count, j, row, pivot)
            count += 1
            out[b, k] = np.log(pivot)


@kernel
def marginals_kernel(M, masks, among, out):
    """Outsiders: log of their Schur complement. Members: -log of their entry on the diagonal of M_S⁻¹."""
    n = len(M)
    factor = np.empty((n, n))
    inverse = np.empty((n, n))
    members = np.empty(n, dtype=np.int64)
    row = np.empty(n)
    for b in range(len(masks)):
        count = 0
        for j in range(n):
            if masks[b, j]:
                append(factor, members, count, j, row, max(1e-300, project(M, factor, members, count, j, row)))
                count += 1
        for j in range(n):
            if among[b, j] and not masks[b, j]:
                out[b, j] = np.log(max(1e-300, project(M, factor, members, count, j, row)))
        wanted = False
        for c in range(count):
            wanted = wanted or among[b, members[c]]
        if not wanted:
            continue
        inverse_factor(factor, count, inverse)
        for c in range(count):
            total = 0.0
            for p in range(c, count):
                total += inverse[p, c] * inverse[p, c]
            out[b, members[c]] = -np.log(total)


@kernel
def determinant_tangents_kernel(B, x, values, slopes):
    """G(x) = log det M, M = I + B diag(x) B' = RR', and its slopes b_j' M⁻¹ b_j = |R⁻¹ b_j|²."""
    r, n = B.shape
    M, Y, column = np.empty((r, r)), np.empty((r, n)), np.empty(r)
    for row in range(len(x)):
        for p in range(r):
            for q in range(p + 1):
                M[p, q] = 1.0 if p == q else 0.0
            for j in range(n):
                Y[p, j] = B[p, j]
        for j in range(n):
            if x[row, j] != 0.0:
                for p in range(r):
                    column[p] = B[p, j]
                for p in range(r):
                    weight = x[row, j] * column[p]
                    for q in range(p + 1):
                        M[p, q] += weight * column[q]
        total = 0.0
        for j in range(n):
            slopes[row, j] = 0.0
        for k in range(r):  # one column of R, and one row of R⁻¹B
            pivot = M[k, k]
            total += np.log(pivot)
            root = 1.0 / np.sqrt(pivot)
            for j in range(n):
                Y[k, j] *= root
                slopes[row, j] += Y[k, j] * Y[k, j]
            for p in range(k + 1, r):
                column[p] = M[p, k] * root
            for p in range(k + 1, r):
                weight = column[p]
                for q in range(k + 1, p + 1):
                    M[p, q] -= weight * column[q]
                for j in range(n):
                    Y[p, j] -= weight * Y[k, j]
        values[row] = total


class LogDeterminant(SetFunction):
    """scale · log det M_S + shift · |S|, for the two families below.

    With M >= δI the matrix L = M/δ - I is positive semidefinite, M_S = δ(I + L_S), and log det(I + L_S) = log det(I +
    B diag(x) B') at x = the indicator of S, for any B with B'B = L. The right-hand side is concave in x: this is the
    concave extension.
    """

    has_concave_extension = True

    def _set_matrix(self, M: Floats, L: Floats, smallest: float, scale: float, shift: float) -> None:
        """Take M = smallest · (I + L)."""
        self.n, self._M, self._L, self._scale, self._shift = len(M), M, L, scale, shift
        self._modular_slope = shift + scale * np.log(smallest)

    @cached_property
    def _B(self) -> Floats:
        """A root of L: B'B = L."""
        eigenvalues, vectors = np.linalg.eigh(self._L)
        kept = eigenvalues > 0
        return np.ascontiguousarray(np.sqrt(eigenvalues[kept])[:, None] * vectors[:, kept].T)

    def _values(self, masks: Masks) -> Floats:
        return self._values_from_chains(masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out = np.zeros(masks.shape)
        marginals_kernel(self._M, masks, chosen_entries(masks, among), out)
        return self._scale * out + self._shift

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(self._M, orders, start, out)
        if self._shift == 0.0:
            return self._scale * out
        return self._scale * out + Modular(np.full(self.n, self._shift))._chains(orders, start)

    def determinant_form(self) -> DeterminantForm:
        """As it is."""
        return DeterminantForm(self._M, self._scale, np.full(self.n, self._shift))

    def on_device(self, machine: Any) -> Any:
        """By batched linear algebra."""
        from dsprog.device.batched_determinant import DeterminantOnDevice

        return DeterminantOnDevice(machine, self._M, self._B, self._scale, self._shift, self._modular_slope)

    def _concave_extension(self, x: Floats) -> Floats:
        inner = np.eye(len(self._B)) + (self._B * x[:, None, :]) @ self._B.T
        return self._scale * np.linalg.slogdet(inner)[1] + self._modular_slope * x.sum(axis=1)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # d/dx_j log det(I + B diag(x) B') = b_j' (I + B diag(x) B')⁻¹ b_j, and a concave function lies below its
        # tangents.
        values, slopes = np.empty(len(x)), np.empty(x.shape)
        determinant_tangents_kernel(self._B, x, values, slopes)
        slopes = self._scale * slopes + self._modular_slope
        return self._scale * values + self._modular_slope * x.sum(axis=1) - (slopes * x).sum(axis=1), slopes


class LogDet(LogDeterminant):
    """f(S) = log det(I + L_S), L positive semidefinite.

    Parameters
    ----------
    L : (n, n) array, symmetric positive semidefinite

    Examples
    --------
    >>> import dsprog as ds
    >>> round(ds.LogDet([[1.0, 0.0], [0.0, 3.0]])([0, 1]), 6)  # log(2 · 4)
    2.079442
    """

    def __init__(self, L: ArrayLike) -> None:
        self.L = as_symmetric(L, "L")
        n, smallest = len(self.L), float(np.linalg.eigvalsh(self.L).min(initial=0.0))
        if smallest < -10 * n * np.finfo(float).eps * np.abs(self.L).max(initial=0.0):
            raise ValueError(f"L must be positive semidefinite, got an eigenvalue {smallest:g}")
        self._set_matrix(np.eye(n) + self.L, self.L, 1.0, 1.0, 0.0)
        self.knows = Knowledge(submodular=True, increasing=True)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With nothing included, the same family on fewer rows of L."""
        return super()._restrict(include, free) if len(include) else LogDet(self.L[np.ix_(free, free)])


class GaussianEntropy(LogDeterminant):
    """f(S) = ½ log det(2πe Σ_S), the entropy in nats of the chosen variables of a Gaussian.

    Parameters
    ----------
    cov : (n, n) array, symmetric positive definite

    Examples
    --------
    >>> import dsprog as ds
    >>> round(ds.GaussianEntropy([[1.0]])([0]), 6)
    1.418939
    """

    def __init__(self, cov: ArrayLike) -> None:
        self.cov = as_symmetric(cov, "cov")
        eigenvalues = np.linalg.eigvalsh(self.cov)
        if eigenvalues.min(initial=np.inf) <= 1e-12 * eigenvalues.max(initial=0.0):
            raise ValueError(f"cov must be positive definite, got an eigenvalue {eigenvalues.min():g}")
        smallest = float(eigenvalues.min(initial=1.0)) * (1 - 1e-9)
        shift = 0.5 * math.log(2 * math.pi * math.e)
        self._set_matrix(self.cov, self.cov / smallest - np.eye(len(self.cov)), smallest, 0.5, shift)
        self.knows = Knowledge(submodular=True, increasing=True if self._modular_slope >= 0 else None)


def as_symmetric(value: ArrayLike, name: str) -> Floats:
    """A finite symmetric matrix; asymmetry at rounding level is averaged away."""
    matrix = as_matrix(value, name, shape=(None, None), largest=LARGEST_ROOT)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got {matrix.shape}")
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * np.abs(matrix).max(initial=0.0):
        raise ValueError(f"{name} must be symmetric")
    return as_matrix((matrix + matrix.T) / 2, name, shape=matrix.shape)
