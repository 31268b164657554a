"""The diagonal D of the perspective bound, raised towards its optimum.

The value of the relaxation is concave in D, with supergradient S_j = ∂h_j/∂D_j - w_j² = |w_j| (s_j - |w_j|)₊ at its
minimiser w, on the D with G - 2D positive semidefinite. A step maximises Σ S_j D_j + μ log det(G - 2D) one coordinate
after the other: with Z = (G - 2D)⁻¹ the determinant falls by the factor 1 - 2δZ_jj as D_j rises by δ, so that the
best move is 2δ = 1/Z_jj - 2μ/S_j. The barrier keeps G - 2D positive definite, and a Cholesky factorisation confirms
it before any bound is built on the new D.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats
from dsprog.exact.regression.elimination import factorised
from dsprog.exact.regression.perspective_bound import Relaxed
from dsprog.run.blas import lapack

PARTS = (*0.99 ** np.arange(60), *0.5 ** np.arange(1, 20))  # of a diagonal, that are tried


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


def proved_part(G: Floats, D: Floats, shift: float) -> Floats:
    """D, or as much of it as a factorisation proves; if that is hardly any, a D with which no bound says much."""
    for part in PARTS:
        if factorised(G, part * D, shift) is not None:
            return part * D
    return np.full_like(D, np.finfo(float).tiny)


@kernel
def raise_in_turn(Z, pulls, mu, floor, D):
    """One round of coordinate moves on D, in place; leaves nothing of use in Z, of which it reads the upper triangle.

    With row j of Z as it is then, a move of 2D_j adds move · row row' / (1 - move Z_jj) to Z. Every coordinate moves
    once, so that only what lies beyond row and column j is ever looked at again.
    """
    n = len(D)
    for j in range(n):
        room = 1.0 / Z[j, j]
        move = min(max(room - 2.0 * mu / max(pulls[j], 1e-300), 2.0 * (floor - D[j])), 0.999 * room)
        D[j] += 0.5 * move
        if move == 0.0:
            continue
        scale = move * room / (room - move)
        for i in range(j + 1, n):
            part = scale * Z[j, i]
            for k in range(i, n):
                Z[i, k] += part * Z[j, k]


def raised_diagonal(G: Floats, D: Floats, S: Floats, mu: float, floor: float, shift: float) -> Floats | None:
    """D after one round of coordinate moves; None if G - 2D is not certified positive semidefinite before and after."""
    factor = factorised(G, D, shift)
    if factor is None or len(D) == 0:
        return None
    inverse = lapack().dpotri(factor, lower=1, overwrite_c=1)[0].T  # by columns its lower triangle: by rows the upper
    new = D.copy()
    raise_in_turn(inverse, S, mu, floor, new)
    return new if factorised(G, new, shift) is not None else None
