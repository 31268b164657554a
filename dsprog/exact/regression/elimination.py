"""Dense linear algebra under the perspective bound: Cholesky factors, and the elimination of included features.

With I chosen, the coefficients of I are minimised out of ½ w'Gw - b'w + c exactly:

    G' = G_FF - G_FI G_II⁻¹ G_IF,    b' = b_F - G_FI G_II⁻¹ b_I,    c' = c - ½ b_I' G_II⁻¹ b_I,

a problem of the same kind in the free features F alone. G' is a Schur complement: if G - 2D is positive semidefinite
for a diagonal D >= 0, so is G' - 2D_F (set D to 0 on I, which adds to the matrix, and take the complement).

That holds of the G' that is computed, too, if G - 2D was factorised with a shift (:func:`factorised`): with the
computed LL' = G_II + E_1, LW = G_IF + E_2 and G' = G_FF - W'W + E_3 it is exactly the Schur complement of G + E, whose
E is made of these three. Each is bounded entry by entry by (|I| + 2) ε times |L||L'|, |L||W| and |G_FF| + |W'||W|,
hence by 2 (|I| + 2) ε √(G_ii G_jj), and E by 2 (n + 2) ε tr G, a small part of the shift.

All of it is LAPACK's, which costs no compilation.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.run.blas import blas, lapack

ROUNDING = 50 * float(np.finfo(float).eps)
SUMMED, ENTRY = 8.0, 2.0 * float(np.finfo(float).eps)  # of sums in a bound, and of an entry of G


def factorised(G: Floats, diagonal: Floats, shift: float) -> Floats | None:
    """The Cholesky factor of G - 2 diag(diagonal) - shift·I, lower and by columns; None if a pivot is not positive.

    Where the factorisation succeeds in floating point, G - 2 diag(diagonal) + E is positive semidefinite for every E
    within the rounding error of the factorisation, provided shift is above (n + 2) ε tr G (Rump): see
    :func:`safe_shift`. The bound holds for every order of the sums, so for LAPACK's blocks, too.
    """
    H = np.array(G.T, order="F")  # G is symmetric, and its transpose copied without a stride
    H.ravel("K")[:: len(H) + 1] -= 2.0 * diagonal + shift
    if len(H) == 0:
        return H
    factor, failed = lapack().dpotrf(H, lower=1, clean=1, overwrite_a=1)
    return None if failed else factor


def eliminated(G: Floats, b: Floats, c: float, chosen: Ints, free: Ints) -> tuple[Floats, Floats, float]:
    """G', b' and c' of the free features given the chosen ones; c' is infinite if G is singular on I.

    With G_II = LL' and [W, z] = L⁻¹ [G_IF, b_I] they are G_FF - W'W, b_F - W'z and c - ½|z|².
    """
    G_F, b_F = block(G, free, free), b[free]
    if len(chosen) == 0:
        return G_F, b_F, c
    L = factorised(block(G, chosen, chosen), np.zeros(len(chosen)), 0.0)
    if L is None:
        return G_F, b_F, np.inf
    W, z = whitened(L, block(G, chosen, free), b[chosen])
    G_F -= W.T @ W
    return G_F, b_F - W.T @ z, c - 0.5 * float(z @ z)


def block(G: Floats, some: Ints, others: Ints) -> Floats:
    """Rows and columns of a matrix, as its own; four times sooner than by ``np.ix_``."""
    return G.take(some, axis=0).take(others, axis=1)


def whitened(L: Floats, rows: Floats, b: Floats) -> tuple[Floats, Floats]:
    """L⁻¹ rows and L⁻¹ b for a lower factor; it may be made in place of ``rows``."""
    # By columns rows' has no stride, and W' = rows' L⁻ᵀ is solved where it lies.
    W = blas().dtrsm(1.0, L, rows.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    return W, lapack().dtrtrs(L, b, lower=1)[0]


def safe_shift(G: Floats) -> float:
    """A shift that covers the rounding of a Schur complement of G and of its Cholesky factorisation."""
    return shift_of(len(G), float(np.trace(G)))


def explained_at_most(c: float, b: Floats, D: Floats) -> float:
    """What features can explain of c: ½ b'G⁻¹b, no more than Σ b_j² / 4D_j, since G - 2D is positive semidefinite."""
    with np.errstate(over="ignore"):
        return min(max(c, 0.0), float((0.25 * b**2 / D).sum())) if np.isfinite(c) else 0.0


def hidden_by_rounding(explained: float, least_eigenvalue: float, n: int, rows: int) -> float:
    """What a bound in floating point may be too large by, given how much of c features can explain.

    G is that of rows that are a little others, G + E with |E_ij| <= δ, δ some ε √rows (units make G_jj = 1). The best
    coefficients u of a set that explains e have u'Gu = 2e, hence ‖u‖₁² <= 2ne / λ with λ the least eigenvalue, so that
    its loss differs by no more than δ ‖u‖₁² / 2 <= δne / λ. The points of relaxations are bounded in the same way, and
    what the sums of a bound and the products Gw lose with them is some ε times the same.
    """
    return ENTRY * (SUMMED + rows**0.5) * n * explained / max(least_eigenvalue, np.finfo(float).tiny)


def shift_of(n: int, trace: float) -> float:
    """The same for any matrix of this order and trace, or of less."""
    return ROUNDING * (n + 2) * trace
