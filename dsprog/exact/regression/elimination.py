"""Dense kernels under the perspective bound: Cholesky factors, and the elimination of included features.

With I chosen, the coefficients of I are minimised out of ½ w'Gw - b'w + c exactly:

    G' = G_FF - G_FI G_II⁻¹ G_IF,    b' = b_F - G_FI G_II⁻¹ b_I,    c' = c - ½ b_I' G_II⁻¹ b_I,

a problem of the same kind in the free features F alone. G' is a Schur complement: if G - 2D is positive semidefinite
for a diagonal D >= 0, so is G' - 2D_F (set D to 0 on I, which adds to the matrix, and take the complement).
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel

ROUNDING = 50 * float(np.finfo(float).eps)


@kernel
def factorise(A, diagonal, shift, L):
    """The Cholesky factor of A - 2 diag(diagonal) - shift·I into L; False if a pivot is not positive.

    Where the factorisation succeeds in floating point, A - 2 diag(diagonal) + E is positive semidefinite for every E
    within the rounding error of the factorisation, provided shift is above (n + 2) ε tr A (Rump): see
    :func:`safe_shift`.
    """
    n = len(A)
    for i in range(n):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j]
        pivot = A[i, i] - 2.0 * diagonal[i] - shift
        for k in range(i):
            pivot -= L[i, k] * L[i, k]
        if not pivot > 0.0:
            return False
        L[i, i] = np.sqrt(pivot)
    return True


@kernel
def eliminate(G, b, c, chosen, free, reduced_G, reduced_b):
    """G' and b' of the free features given the chosen ones; returns c', or infinity if G is singular on I."""
    m, n = len(chosen), len(free)
    A = np.empty((m + n, m + n + 1))  # the upper triangle of G over chosen and free features, and b beside it
    order = np.empty(m + n, dtype=np.int64)
    for i in range(m + n):
        order[i] = chosen[i] if i < m else free[i - m]
    for i in range(m + n):
        for k in range(i, m + n):
            A[i, k] = G[order[i], order[k]]
        A[i, m + n] = b[order[i]]
    for k in range(m):
        if not A[k, k] > 0.0:
            return np.inf
        for i in range(k + 1, m + n):
            scale = A[k, i] / A[k, k]
            for l in range(i, m + n + 1):
                A[i, l] -= scale * A[k, l]
        c -= 0.5 * A[k, m + n] * A[k, m + n] / A[k, k]
    for i in range(n):
        reduced_b[i] = A[m + i, m + n]
        for k in range(i, n):
            reduced_G[i, k] = A[m + i, m + k]
            reduced_G[k, i] = A[m + i, m + k]
    return c


def safe_shift(G: np.ndarray) -> float:
    """A shift that covers the rounding of a Schur complement of G and of its Cholesky factorisation."""
    return ROUNDING * (len(G) + 2) * float(np.trace(G))
