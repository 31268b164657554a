"""The least eigenvalue of a Gram matrix, or a little more: the diagonal D begins there."""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats
from dsprog.exact.regression.elimination import factorised
from dsprog.run.blas import lapack

MANY, INVERSE_STEPS = 150, 12  # features beyond which it is estimated, and steps for it


def least_eigenvalue_of(G: Floats) -> float:
    """Of G, or a little more."""
    if len(G) > MANY:
        found = rayleigh_quotient(G)
        if found is not None:
            return found
    return float(np.linalg.eigvalsh(G)[0]) if len(G) else 0.0


def rayleigh_quotient(G: Floats) -> float | None:
    """v'Gv for a unit vector v after some steps of inverse iteration; None if G has no Cholesky factor."""
    factor = factorised(G, np.zeros(len(G)), 0.0)
    if factor is None:
        return None
    v = np.cos(np.arange(len(G)))  # any vector that no eigenvector is likely to be orthogonal to
    for _ in range(INVERSE_STEPS):
        v = lapack().dpotrs(factor, v / np.linalg.norm(v), lower=1)[0]
    return float(v @ G @ v / (v @ v))
