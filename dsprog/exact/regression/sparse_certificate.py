"""A quadratic form below a Gram matrix on all vectors with few nonzeros, definite where the Gram matrix is not.

With more features than rows G = X'X/m is singular, and no diagonal D > 0 leaves G - 2D positive semidefinite. But only
vectors u with at most k nonzeros count. Let U be symmetric with |U_ij| <= ρ. Then

    u'Uu <= ρ ‖u‖₁² <= ρ k ‖u‖²,    so that    u'Gu >= u'(G + U - kρ I)u,

and the matrix on the right may be positive definite. How definite it can be is a semidefinite programme (d'Aspremont,
Bach and El Ghaoui, 2008: sparse eigenvalues), with its dual

    max over ρ, |U_ij| <= ρ of  λ_min(G + U) - kρ   =   min over W ⪰ 0, tr W = 1, Σ|W_ij| <= k of  ⟨G, W⟩.

Splitting W from a copy Z that keeps the second condition (ADMM), every step is one eigenvalue decomposition and one
projection on a ball of the 1-norm, and the multipliers of W = Z are U. Any U will do: it is clipped, and what it is
worth is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dsprog.core.validation import Floats
from dsprog.exact.regression.elimination import safe_shift

PENALTY = 20.0  # of W - Z in the splitting
RELAXED = 1.8  # of the way to W that Z follows: beyond 1, half the steps are enough
LOOK, STALLED = 5, 1.04  # steps between two looks at U, and the factor by which it must have improved since the last


class SparseShift(NamedTuple):
    """U - kρ I, and the least eigenvalue of G + U - kρ I."""

    matrix: Floats
    eigenvalue: float


def on_simplex(v: Floats, total: float) -> tuple[Floats, float]:
    """The nearest point to v >= 0 or not, of nonnegative entries with this sum, and what was taken off each entry.

    >>> on_simplex(np.array([3.0, 2.0, -1.0]), 1.0)[0].tolist()
    [1.0, 0.0, 0.0]
    """
    ordered = np.sort(v)[::-1]
    levels = (np.cumsum(ordered) - total) / np.arange(1, len(v) + 1)
    level = float(levels[np.flatnonzero(ordered > levels)[-1]])
    return np.maximum(v - level, 0.0), level


def in_ball(A: Floats, radius: float) -> Floats:
    """The nearest matrix whose entries have absolute values of at most this sum."""
    sizes = np.abs(A)
    if sizes.sum() <= radius:
        return A
    level = on_simplex(sizes.ravel(), radius)[1]
    return np.sign(A) * np.maximum(sizes - level, 0.0)


def clipped(G: Floats, U: Floats, k: int) -> SparseShift:
    """The best shift made of U, cut off at a part of its largest entry."""
    best = SparseShift(np.zeros_like(G), -np.inf)
    largest = float(np.abs(U).max(initial=0.0))
    for rho in (largest, 0.97 * largest, 0.9 * largest):
        shift = np.clip(U, -rho, rho)
        shift[np.diag_indices(len(G))] -= k * rho
        least = float(np.linalg.eigvalsh(G + shift)[0])
        if least > best.eigenvalue:
            best = SparseShift(shift, least)
    return best


class SparseEigenvalue:
    """The splitting for one G and k, which can be continued; ``best`` is the best shift so far."""

    def __init__(self, G: Floats, k: int) -> None:
        self.G, self.k = G, k
        self.Z, self.Y = np.eye(len(G)) / len(G), np.zeros_like(G)
        self.best = SparseShift(np.zeros_like(G), -np.inf)

    def advance(self, steps: int, enough: float = np.inf, stop: Callable[[], bool] = lambda: False) -> None:
        """Some steps, or until the eigenvalue is enough, or stalls.

        It is an eigenvalue of floating point: what is built on it is checked by a factorisation.
        """
        for step in range(1, steps + 1):
            values, vectors = np.linalg.eigh(self.Z - (self.Y + self.G) / PENALTY)
            values = on_simplex(values, 1.0)[0]
            kept = vectors[:, values > 0]
            W = RELAXED * ((kept * values[values > 0]) @ kept.T) + (1.0 - RELAXED) * self.Z
            self.Z = in_ball(W + self.Y / PENALTY, float(self.k))
            self.Y = self.Y + PENALTY * (W - self.Z)
            ended = step == steps or stop()
            if step % LOOK == 0 or ended:
                before = self.best.eigenvalue
                found = clipped(self.G, 0.5 * (self.Y + self.Y.T), self.k)
                if found.eigenvalue > before:
                    self.best = found
                if ended or found.eigenvalue >= enough or (before > 0.0 and found.eigenvalue < STALLED * before):
                    return


def shifted(G: Floats, shift: SparseShift, part: float) -> Floats:
    """G with a part of a shift, less what rounding can have added."""
    low = G + part * shift.matrix
    low[np.diag_indices(len(G))] -= safe_shift(G)
    return low
