"""Dense kernels under the perspective bound: Cholesky factors, inverses, and the elimination of included features.

With I chosen, the coefficients of I are minimised out of ½ w'Gw - b'w + c exactly:

    G' = G_FF - G_FI G_II⁻¹ G_IF,    b' = b_F - G_FI G_II⁻¹ b_I,    c' = c - ½ b_I' G_II⁻¹ b_I,

a problem of the same kind in the free features F alone. G' is a Schur complement: if G - 2D is positive semidefinite
for a diagonal D >= 0, so is G' - 2D_F (set D to 0 on I, which adds to the matrix, and take the complement).
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel, part

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


@part
def invert(L, Z):
    """Z = (LL')⁻¹ = M'M from a lower triangular L, M = L⁻¹."""
    n = len(L)
    M = np.empty((n, n))
    Z[:] = 0.0
    for i in range(n):
        for j in range(i):
            M[i, j] = 0.0
        for k in range(i):
            scale = L[i, k]
            for j in range(k + 1):
                M[i, j] -= scale * M[k, j]
        M[i, i] = 1.0
        for j in range(i + 1):
            M[i, j] /= L[i, i]
        for j in range(i + 1):
            scale = M[i, j]
            for k in range(j + 1):
                Z[j, k] += scale * M[i, k]
    for i in range(n):
        for j in range(i):
            Z[j, i] = Z[i, j]


@kernel
def eliminate(G, b, c, chosen, free, reduced_G, reduced_b):
    """G' and b' of the free features given the chosen ones; returns c', or infinity if G is singular on I."""
    m, n = len(chosen), len(free)
    L, Y, z = np.empty((m, m)), np.empty((n, m)), np.empty(m)
    for i in range(m):
        for j in range(i + 1):
            total = G[chosen[i], chosen[j]]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = total / L[j, j]
            elif not total > 0.0:
                return np.inf
            else:
                L[i, i] = np.sqrt(total)
        total = b[chosen[i]]
        for k in range(i):
            total -= L[i, k] * z[k]
        z[i] = total / L[i, i]
        c -= 0.5 * z[i] * z[i]
    for f in range(n):  # row f of Y is L⁻¹ G_If
        for i in range(m):
            total = G[free[f], chosen[i]]
            for k in range(i):
                total -= L[i, k] * Y[f, k]
            Y[f, i] = total / L[i, i]
    for f in range(n):
        total = b[free[f]]
        for k in range(m):
            total -= Y[f, k] * z[k]
        reduced_b[f] = total
        for e in range(f + 1):
            total = G[free[f], free[e]]
            for k in range(m):
                total -= Y[f, k] * Y[e, k]
            reduced_G[f, e] = total
            reduced_G[e, f] = total
    return c


def safe_shift(G: np.ndarray) -> float:
    """A shift that covers the rounding of a Schur complement of G and of its Cholesky factorisation."""
    return ROUNDING * (len(G) + 2) * float(np.trace(G))
