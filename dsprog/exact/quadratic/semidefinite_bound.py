"""The semidefinite bound for quadratic functions of signs, and what certifies it.

For any y and any weights γ >= 0 of cuts (a_k's)² >= 1 (:mod:`dsprog.exact.quadratic.semidefinite_cuts`) with

    Z = Diag(y) - Σ_k γ_k a_k a_k' - C   positive semidefinite,    s'Cs <= Σ y_i - Σ γ_k   for all signs s,

because s'Cs = Σ y_i - Σ γ_k (a_k's)² - s'Zs. Every such point gives a valid bound, converged or not, and a Cholesky
factorisation of Z that succeeds certifies it up to a rounding term.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.exact.quadratic.semidefinite_cuts import OddCuts
from dsprog.run.blas import lapack

EPS = float(np.finfo(float).eps)


def inverse(Z: Floats) -> Floats | None:
    """Z⁻¹ by a Cholesky factorisation, or None if Z is not positive definite."""
    factor, info = lapack().dpotrf(Z.T, lower=0, clean=0)
    if info:
        return None
    half, info = lapack().dpotri(factor, lower=0, overwrite_c=1)
    if info:
        return None
    W = half.T  # rows in order; its lower triangle is filled
    return np.asarray(np.tril(W) + np.tril(W, -1).T)


def is_positive_definite(Z: Floats) -> bool:
    """Whether a Cholesky factorisation succeeds."""
    return bool(lapack().dpotrf(Z.T, lower=0, clean=0)[1] == 0)


@dataclass
class SemidefinitePoint:
    """A dual feasible point (y, γ) of the bound for a matrix C with an empty diagonal."""

    C: Floats
    y: Floats
    cuts: OddCuts

    @staticmethod
    def diagonally_dominant(C: Floats) -> SemidefinitePoint:
        """y_i = 1.1 Σ_j |C_ij| and no cuts: Z is positive definite by its diagonal."""
        rows = np.abs(C).sum(axis=1)
        return SemidefinitePoint(C, 1.1 * rows + 1e-3 * max(float(rows.max(initial=0.0)), 1e-300), OddCuts())

    def Z(self) -> Floats:
        """Diag(y) - Σ γ aa' - C."""
        Z = np.diag(self.y) - self.C
        self.cuts.add_to(Z, -self.cuts.gamma)
        return Z

    @property
    def value(self) -> float:
        """Σ y_i - Σ γ_k."""
        return float(self.y.sum() - self.cuts.gamma.sum())

    @property
    def rounding(self) -> float:
        """What the bound may lose if a Cholesky factorisation of Z has succeeded.

        Then Z + E is positive semidefinite with |E_ij| <= (N + 2) eps √(Z_ii Z_jj), and s'Es <= (N + 2) eps
        (Σ_i √Z_ii)² <= (N + 2) eps N Σ Z_ii. Summing Z_ij itself loses m + 2 units of |y_i| + |C_ij| +
        Σ_k γ_k |a_ki| |a_kj|, whose sum over j is ``size``; the factor 4 covers the sums of y and γ.
        """
        N, m = len(self.y), len(self.cuts)
        size = np.abs(self.y) + np.abs(self.C).sum(axis=1) + self.cuts.sums(N)
        return 4 * EPS * (N + m + 2) * N * float(size.sum())

    def implied(self, X: Floats, target: float) -> Ints:
        """Signs relative to vertex 0 (0: open) that all s with s'Cs > target have.

        Let b = e_0 - τe_j. Where s_j = -τs_0, (b's)² = 4, so if Z - t bb' is positive semidefinite, s'Zs >= 4t and
        s'Cs <= Σ y_i - Σ γ_k - 4t. The largest such t is 1/(b'Z⁻¹b); a little less is tried, and a
        factorisation proves it.
        """
        N, Z = len(self.y), self.Z()
        signs, W = np.zeros(N, dtype=np.int64), inverse(Z)
        if W is None:
            return signs
        tau = np.where(X[0] < 0, -1.0, 1.0)
        t = 0.99 / np.maximum(W[0, 0] + np.diag(W) - 2 * tau * W[0], 1e-300)
        bounds = self.bound() - 4 * t + 16 * EPS * (N + len(self.cuts) + 2) * N * t
        for j in range(1, N):
            if bounds[j] > target:
                continue
            b = np.zeros(N)
            b[0], b[j] = 1.0, -tau[j]
            less = Z - t[j] * np.outer(b, b)
            if is_positive_definite(less):
                signs[j] = int(tau[j])
        return signs

    def bound(self) -> float:
        """An upper bound on s'Cs, valid if a Cholesky factorisation of Z has succeeded."""
        return self.value + self.rounding
