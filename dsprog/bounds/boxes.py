"""Boxes around the coefficients of every set worth finding.

Let w be the least-squares coefficients of a set S that has j and whose value is below a cutoff. Shift b_j by η and
let F(η) be any lower bound of the shifted problem over the sets that have j. The shifted objective at (w, S) is the
value of S minus η w_j, hence

    cutoff > value(S) >= F(η) + η w_j,

which bounds w_j from above for η > 0 and from below for η < 0. Any η and inexact bounds will do. If F(0) reaches the
cutoff, no such set has j. Without the other features F(η) = F(0) - η w⁰ - η²/2G_jj, for which the best η is
√(2 G_jj (cutoff - F(0))); a little less is better with them.
"""

from __future__ import annotations

import numpy as np

from dsprog.bounds.perspective import relax
from dsprog.kernel import kernel


@kernel
def without_one(G, j, reduced_G):
    """The Schur complement of G at feature j."""
    n = len(G)
    for i in range(n - 1):
        row = i if i < j else i + 1
        factor = G[row, j] / G[j, j]
        for k in range(j):
            reduced_G[i, k] = G[row, k] - factor * G[j, k]
        for k in range(j, n - 1):
            reduced_G[i, k] = G[row, k + 1] - factor * G[j, k + 1]


@kernel
def shifted_bound(G, b, c, d, D, lo, hi, w, j, shift, reduced_G, cutoff, accuracy, sweeps):
    """F(shift): the bound with j chosen and b_j + shift in place of b_j; leaves w as it is."""
    n = len(b)
    others = np.empty(n - 1, dtype=np.int64)
    for i in range(n - 1):
        others[i] = i if i < j else i + 1
    target = b[j] + shift
    start = c + d[j] - 0.5 * target * target / G[j, j]
    return relax(
        reduced_G,
        b[others] - G[j][others] * (target / G[j, j]),
        start,
        d[others],
        D[others],
        lo[others],
        hi[others],
        w[others],
        cutoff,
        accuracy,
        sweeps,
        np.empty(n - 1),
    )


@kernel
def tighten_boxes(G, b, c, d, D, lo, hi, w, cutoff, accuracy, sweeps, exclude):
    """Tighten lo_j and hi_j of every feature, and mark those that no set below the cutoff has."""
    n = len(b)
    reduced_G = np.empty((n - 1, n - 1))
    for j in range(n):
        without_one(G, j, reduced_G)
        chosen = shifted_bound(G, b, c, d, D, lo, hi, w, j, 0.0, reduced_G, cutoff, accuracy, sweeps)
        if chosen >= cutoff:
            exclude[j] = True
            lo[j] = 0.0
            hi[j] = 0.0
            continue
        eta = 0.75 * np.sqrt(2.0 * (cutoff - chosen) * G[j, j])
        above = shifted_bound(G, b, c, d, D, lo, hi, w, j, eta, reduced_G, np.inf, accuracy, sweeps)
        below = shifted_bound(G, b, c, d, D, lo, hi, w, j, -eta, reduced_G, np.inf, accuracy, sweeps)
        hi[j] = min(hi[j], (cutoff - above) / eta)
        lo[j] = max(lo[j], (below - cutoff) / eta)
        if lo[j] > hi[j]:
            exclude[j] = True
            lo[j] = 0.0
            hi[j] = 0.0
