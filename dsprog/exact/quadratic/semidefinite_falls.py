"""Which vertex to fix: by how far the semidefinite bound is to fall where it joins vertex 0, with either sign.

Fixing s_j = τ s_0 adds the row ⟨E, X⟩ = τ with E = (e_0 e_j' + e_j e_0')/2 to the primal problem, so one more column to
the Newton system of :mod:`dsprog.exact.quadratic.semidefinite_path`. With the system's matrix M and B = [I, A],

    S = ⟨E, W E X⟩ - c'M⁻¹c,    c_k = b_k'W E X b_k

is what eliminating all others leaves for it: a multiplier (τ - X_0j)/S would move X to the row, and the bound by about
(τ - X_0j)²/S. One system solves for all j. It is an estimate that chooses where to branch; no bound rests on it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.exact.quadratic.semidefinite_cuts import OddCuts

# The falls of 24 children of each of some nodes with 60 to 100 vertices were this multiple of (τ - X_0j)²/S, and less
# where X was far from τ: there the quadratic model is no good.
NEAR, FAR = 1.1, 0.9

ENOUGH = 1.5  # of the distance to the target: a fall beyond it closes a child, as far as the estimate can be trusted

LESSER = 0.75  # with 1, be120.8.1 takes about twice as long; with ½, g05_80.3 a tenth longer


def estimated_falls(X: Floats, W: Floats, cuts: OddCuts, solve: Callable[[Floats], Floats]) -> Floats:
    """How far the bound is to fall where each vertex joins vertex 0, with sign 1 and -1 (2, N); ``solve`` is M⁻¹."""
    unit = len(W) / float(np.trace(W))  # of y, as in the Newton system: nothing is too small for single precision
    W = unit * W
    BW, BX = (np.vstack([M, np.einsum("ke,kei->ki", cuts.signs, M[cuts.vertices])]) for M in (W, X))
    c = 0.5 * (BW[:, :1] * BX + BW * BX[:, :1])
    own = 0.25 * (W[0, 0] * np.diag(X) + np.diag(W) * X[0, 0] + 2 * W[0] * X[0])
    S = np.maximum(own - np.einsum("kj,kj->j", c, solve(c)) / unit, 1e-9 * own)
    way = np.maximum(0.0, np.stack([1.0 - X[0], 1.0 + X[0]]))
    return np.asarray(unit * NEAR * (1.0 - FAR * np.minimum(1.0, way / 2) ** 3) * way**2 / S)


def best_fall(falls: Floats, open_ones: Ints, distance: float) -> int:
    """The vertex among ``open_ones`` with the largest product of both falls, the lesser to the power LESSER.

    A fall counts up to what is enough. Where few nodes are open, a side that closes at once is worth more than balance.
    """
    counted = np.minimum(falls[:, open_ones], ENOUGH * distance)
    counted = counted / max(float(counted.max()), np.finfo(float).tiny)
    return int(open_ones[np.argmax(counted.max(axis=0) * counted.min(axis=0) ** LESSER)])
