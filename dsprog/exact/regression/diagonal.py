"""The diagonal D of the perspective bound, raised towards its optimum.

The value of the relaxation is concave in D, with supergradient S_j = ∂h_j/∂D_j - w_j² = |w_j| (s_j - |w_j|)₊ at its
minimiser w, on the D with G - 2D positive semidefinite. A step maximises Σ S_j D_j + μ log det(G - 2D) one coordinate
after the other: with Z = (G - 2D)⁻¹ the determinant falls by the factor 1 - 2δZ_jj as D_j rises by δ, so that the
best move is 2δ = 1/Z_jj - 2μ/S_j. The barrier keeps G - 2D positive definite, and a Cholesky factorisation confirms
it before any bound is built on the new D.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats
from dsprog.exact.regression.elimination import factorised
from dsprog.exact.regression.perspective_bound import Relaxed
from dsprog.run.blas import blas, lapack


def knees(problem: Relaxed, w: Floats) -> Floats:
    """s_j, where line and parabola of h_j meet on the side of w_j."""
    lo, hi = problem.lo, problem.hi
    least = np.where(w > 0, np.maximum(lo, 0.0), np.maximum(-hi, 0.0))
    most = np.where(w > 0, hi, -lo)
    return np.minimum(np.maximum(np.sqrt(problem.d / problem.D), least), most)


def supergradient(problem: Relaxed, w: Floats) -> Floats:
    """|w_j| (s_j - |w_j|)₊, with s_j the knee of h_j."""
    size = np.abs(w)
    return size * np.maximum(knees(problem, w) - size, 0.0)


def raised_diagonal(G: Floats, D: Floats, S: Floats, mu: float, floor: float, shift: float) -> Floats | None:
    """D after one round of coordinate moves; None if G - 2D is not certified positive semidefinite before and after."""
    factor = factorised(G, D, shift)
    if factor is None or len(D) == 0:
        return None
    lower = lapack().dpotri(factor, lower=1)[0]
    Z = np.asfortranarray(lower + np.tril(lower, -1).T)
    with np.errstate(over="ignore"):  # no pull upwards: an infinite barrier
        barriers = 2.0 * mu / np.maximum(S, 1e-300)
    raised, dger = [], blas().dger
    for j, (now, barrier) in enumerate(zip(D.tolist(), barriers.tolist())):
        room = 1.0 / Z.item(j, j)
        move = min(max(room - barrier, 2.0 * (floor - now)), 0.999 * room)
        raised.append(now + 0.5 * move)
        if move != 0.0:
            row = Z[:, j].copy()
            dger(move * room / (room - move), row, row, a=Z, overwrite_a=1)  # Z += move row row' / (1 - move Z_jj)
    new = np.array(raised)
    return new if factorised(G, new, shift) is not None else None
