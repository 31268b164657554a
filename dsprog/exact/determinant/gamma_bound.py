"""The spectral bound Γ of log determinants with at most s rows.

Let A = I + P with P positive semidefinite, P = FF', M(x) = F' diag(x) F with eigenvalues λ_1 >= λ_2 >= ..., and

    Γ_s(λ) = Σ_{j<=k} log(1 + λ_j) + (s - k) log(1 + τ),   τ = Σ_{j>k} λ_j / (s - k),  k the least with λ_{k+1} <= τ.

*Exact*: at x = 1_S with |S| <= s, log det A_S = log det(I + F_S'F_S), and M has at most s nonzero eigenvalues, so that
Γ_s adds log(1 + λ_j) over all of them. Hence Γ_b serves all sizes a <= |S| <= b at once.
*Concave*: Γ_s(λ) is the largest Σ_{j<=s} log(1 + μ_j) over μ >= 0 of s entries that majorise λ: the sum is
Schur-concave, so the flattest such μ wins, which is λ_1..λ_k, τ, ..., τ. If M = θM₁ + (1-θ)M₂ and μ₁, μ₂ majorise
λ(M₁), λ(M₂), then θμ₁ + (1-θ)μ₂ majorises λ(M), since the sum of the k largest eigenvalues is convex and the trace
linear; the objective is concave in μ, and M is linear in x.

A concave function lies below its tangents: with B(x) = u·x + Σ_k a_k Γ_s(λ^k(x)) and g its gradient,

    value(S) <= B(x) - g·x + g(S)  for every S and any x in the cube; no convergence is needed.

The nonzero eigenvalues of M are those of X^½ P X^½ with unit eigenvectors v, so F is never made: with Z = P X^½ V,
β_j = 1/(1 + λ_j) and b = 1/(1 + τ), the gradient is u_i + b P_ii + Σ_{j<=k} (β_j - b) Z_ij² / λ_j.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dsprog.core.validation import Floats, Ints

TINY = 1e-12  # eigenvalues below it, relative to 1, add nothing to slopes: their factor β_j - b is smaller still


@dataclass(frozen=True)
class DeterminantNode:
    """Maximise base + u(T) + Σ_k a_k log det (I + P_k)_T over sets T of m free elements with least <= |T| <= most."""

    base: float
    u: Floats
    a: Floats
    P: tuple[Floats, ...]
    least: int
    most: int

    @property
    def m(self) -> int:
        """Free elements."""
        return len(self.u)

    def without(self, i: int) -> DeterminantNode:
        """The sets that leave out free element i."""
        P = tuple(np.delete(np.delete(M, i, axis=0), i, axis=1) for M in self.P)
        return replace(self, u=np.delete(self.u, i), P=P, most=min(self.most, self.m - 1))


@dataclass(frozen=True)
class Spectrum:
    """Γ of one matrix at x: its value, the k eigenvalues that count for themselves, their vectors, and what is flat.

    ``rooted`` is X^½ V and ``Z`` is P X^½ V on the support, k columns each; ``flat`` is b.
    """

    value: float
    support: Ints
    lam: Floats
    rooted: Floats
    Z: Floats
    flat: float


def flattened(lam: Floats, s: int) -> tuple[int, float]:
    """k and τ of Γ_s for eigenvalues in falling order."""
    top = min(len(lam), s)
    tails = lam.sum() - np.concatenate([[0.0], np.cumsum(lam[:top])])
    ks = np.arange(top)
    flat = lam[:top] * (s - ks) <= tails[:top] * (1.0 + 1e-14)
    k = int(np.argmax(flat)) if flat.any() else top
    return k, max(0.0, float(tails[k])) / (s - k) if k < s else 0.0


def spectrum(P: Floats, x: Floats, s: int) -> Spectrum:
    """Γ_s of P at x."""
    support = np.flatnonzero(x > 0.0)
    root = np.sqrt(x[support])
    columns = P[:, support]
    lam, V = np.linalg.eigh(columns[support] * root[:, None] * root)
    lam = np.maximum(lam[::-1], 0.0)
    k, tau = flattened(lam, s)
    rooted = root[:, None] * V[:, ::-1][:, :k]
    value = float(np.log1p(lam[:k]).sum()) + (s - k) * float(np.log1p(tau))
    return Spectrum(value, support, lam[:k], rooted, columns @ rooted, 1.0 / (1.0 + tau))


def tangent(node: DeterminantNode, x: Floats) -> tuple[float, Floats]:
    """B(x) and its gradient g."""
    value, g = node.base + float(node.u @ x), node.u.copy()
    for a, P in zip(node.a, node.P):
        at = spectrum(P, x, node.most)
        factors = np.where(at.lam > TINY, (1.0 / (1.0 + at.lam) - at.flat) / np.maximum(at.lam, TINY), 0.0)
        value += a * at.value
        g += a * (at.flat * np.diagonal(P) + (at.Z * at.Z) @ factors)
    return value, g


def diagonal_slope(P: Floats, x: Floats, s: int) -> Floats:
    """d/dθ_i of Σ x_i θ_i + Γ_s, where θ = log d and I + P = D^-½ C D^-½ moves with D.

    dP = -½ (E_i A + A E_i) dθ_i with A = I + P, hence the slope
    x_i - b x_i A_ii - Σ_{j<=k} (β_j - b) r_ij (Z_ij + r_ij) with r = X^½ V.
    """
    at = spectrum(P, x, s)
    slope = x - at.flat * x * (1.0 + np.diagonal(P))
    slope[at.support] -= (at.rooted * (at.Z[at.support] + at.rooted)) @ (1.0 / (1.0 + at.lam) - at.flat)
    return slope
