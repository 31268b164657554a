"""The diagonal D of the perspective bound, raised towards its optimum.

The value of the relaxation is concave in D, with supergradient S_j = ∂h_j/∂D_j - w_j² = |w_j| (s_j - |w_j|)₊ at its
minimiser w, on the D with G - 2D positive semidefinite. A step maximises Σ S_j D_j + μ log det(G - 2D) one coordinate
after the other: with Z = (G - 2D)⁻¹ the determinant falls by the factor 1 - 2δZ_jj as D_j rises by δ, so that the
best move is 2δ = 1/Z_jj - 2μ/S_j. The barrier keeps G - 2D positive definite, and a Cholesky factorisation confirms
it before any bound is built on the new D.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats
from dsprog.exact.regression.elimination import factorise
from dsprog.exact.regression.perspective_bound import Relaxed


@part
def add_outer(Z, row, scale):
    """Z += scale · row row'."""
    for i in range(len(row)):
        factor = scale * row[i]
        for k in range(len(row)):
            Z[i, k] += factor * row[k]


def supergradient(problem: Relaxed, w: Floats) -> Floats:
    """|w_j| (s_j - |w_j|)₊, with s_j the knee of h_j on the side of w_j."""
    lo, hi, size = problem.lo, problem.hi, np.abs(w)
    least = np.where(w > 0, np.maximum(lo, 0.0), np.maximum(-hi, 0.0))
    most = np.where(w > 0, hi, -lo)
    knees = np.minimum(np.maximum(np.sqrt(problem.d / problem.D), least), most)
    return size * np.maximum(knees - size, 0.0)


@kernel
def raise_diagonal(G, D, S, mu, floor, shift, new):
    """``new``: D after one round of coordinate moves; False if G - 2 new is not certified positive semidefinite."""
    n = len(G)
    Z, row = np.empty((n, n)), np.empty(n)
    for i in range(n):
        new[i] = D[i]
        for k in range(n):
            Z[i, k] = G[i, k] if i != k else G[i, k] - 2.0 * D[i] - shift
    for j in range(n):  # sweep one coordinate after the other: Z becomes -(G - 2D)⁻¹
        pivot = Z[j, j]
        if not pivot > 0.0:
            return False
        for k in range(n):
            row[k] = Z[j, k]
        add_outer(Z, row, -1.0 / pivot)
        for k in range(n):
            Z[j, k] = Z[k, j] = row[k] / pivot
        Z[j, j] = -1.0 / pivot
    for j in range(n):
        room = -1.0 / Z[j, j]
        move = max(room - 2.0 * mu / max(S[j], 1e-300), 2.0 * (floor - new[j]))
        move = min(move, 0.999 * room)
        if move == 0.0:
            continue
        new[j] += 0.5 * move
        for k in range(n):
            row[k] = Z[j, k]
        add_outer(Z, row, -move / (1.0 + move * row[j]))
    return factorise(G, new, shift, Z)
