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
from dsprog.exact.regression.elimination import factorise, invert
from dsprog.exact.regression.perspective_bound import hull


@kernel
def supergradient(problem, w, S, memory):
    """S ← memory · S + (1 - memory) |w_j| (s_j - |w_j|)₊, an average that damps the zigzag of supergradients."""
    d, D, lo, hi = problem.d, problem.D, problem.lo, problem.hi
    for j in range(len(w)):
        gain = hull(w[j], d[j], D[j], lo[j], hi[j])[1] - w[j] * w[j]
        S[j] = memory * S[j] + (1.0 - memory) * max(0.0, gain)


@kernel
def raise_diagonal(G, D, S, mu, floor, shift, new):
    """``new``: D after one round of coordinate moves; False if G - 2 new is not certified positive semidefinite."""
    n = len(G)
    L, Z, column = np.empty((n, n)), np.empty((n, n)), np.empty(n)
    for j in range(n):
        new[j] = D[j]
    if not factorise(G, D, shift, L):
        return False
    invert(L, Z)
    for j in range(n):
        room = 1.0 / Z[j, j]
        move = max(room - 2.0 * mu / max(S[j], 1e-300), 2.0 * (floor - new[j]))
        move = min(move, 0.999 * room)
        if move == 0.0:
            continue
        new[j] += 0.5 * move
        factor = move / (1.0 - move * Z[j, j])
        for k in range(n):
            column[k] = Z[j, k]
        for i in range(n):
            scale = factor * column[i]
            for k in range(n):
                Z[i, k] += scale * column[k]
    return factorise(G, new, shift, L)
