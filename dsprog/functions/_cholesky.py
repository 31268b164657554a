"""Cholesky factors that grow by one element: what determinants and least squares share.

Adding element j to a factor L L' = M_S costs |S|² operations; its squared pivot is the Schur complement M_jj - M_jS
M_S⁻¹ M_Sj. A chain through all n elements is thus one factorisation, O(n³) in all.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part


@part
def project(M, factor, members, count, j, row):
    """Write L⁻¹ M_Sj into ``row`` and return the Schur complement of j."""
    rest = M[j, j]
    for p in range(count):
        total = M[j, members[p]]
        for q in range(p):
            total -= row[q] * factor[p, q]
        row[p] = total / factor[p, p]
        rest -= row[p] * row[p]
    return rest


@part
def append(factor, members, count, j, row, pivot):
    """Make j the next member, with ``row`` from :func:`project` and its positive Schur complement."""
    for p in range(count):
        factor[count, p] = row[p]
    factor[count, count] = np.sqrt(pivot)
    members[count] = j


@part
def inverse_factor(factor, count, inverse):
    """L⁻¹ for the leading ``count`` rows, by forward substitution."""
    for c in range(count):
        inverse[c, c] = 1.0 / factor[c, c]
        for p in range(c + 1, count):
            total = 0.0
            for q in range(c, p):
                total -= factor[p, q] * inverse[q, c]
            inverse[p, c] = total / factor[p, p]
