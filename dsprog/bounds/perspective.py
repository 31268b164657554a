"""The perspective bound of least squares with a penalty on the chosen features.

Minimise ½ w'Gw - b'w + c + Σ_{j∈S} d_j over the sets S of free features and coefficients w that vanish outside S, with
lo_j <= w_j <= hi_j for j in S. Here G, b and c stand for the loss after the included features were eliminated
(:mod:`dsprog.bounds.elimination`), and d is a modular minorant of a submodular penalty. No submodularity of the loss
is used.

Take a diagonal D > 0 with H = G - 2D positive semidefinite. For every point w, with v = b - Hw, any S and u satisfy

    ½ u'Gu - b'u = ½ u'Hu - b'u + Σ D_j u_j² >= -½ w'Hw - v'u + Σ D_j u_j²,

since the convex ½ u'Hu lies above its tangent at w. What is left separates, and

    LB = c - ½ w'Hw - Σ_j max(0, val_j),    val_j = max over lo_j <= t <= hi_j of v_j t - D_j t²  -  d_j

is a lower bound for any w: no inner convergence is needed. The sets that have j are bounded by LB + max(0, -val_j),
those without it by LB + max(0, val_j), which fixes features against a cutoff.

The best w minimises the *primal* relaxation ½ w'Hw - b'w + Σ h_j(w_j) with h_j the convex hull of 0 at 0 and
D_j t² + d_j elsewhere in the box: from 0 a line of slope k = d_j/s + D_j s up to s = √(d_j/D_j), clipped to the box,
then the parabola. Coordinate descent minimises it.
"""

from __future__ import annotations

import numpy as np

from dsprog.kernel import kernel


@kernel
def knee(d, D, least, most):
    """Where line and parabola of h_j meet, on a side where |w_j| lies between least and most if j is chosen."""
    return min(max(np.sqrt(d / D), least), most)


@kernel
def coordinate(r, curvature, d, D, least, most):
    """The minimiser t >= 0 of ½ (curvature - 2D) t² - r t + h(t), for r > 0."""
    s = knee(d, D, least, most)
    slope = d / s + D * s if s > 0.0 else 0.0
    if most <= 0.0 or r <= slope:
        return 0.0
    H = curvature - 2.0 * D
    if r - slope <= s * H:
        return (r - slope) / H
    return min(max(r / curvature, s), most)


@kernel
def hull(t, d, D, lo, hi):
    """h(t), and what it gains for each unit of D, which is |t| s on the line and t² beyond."""
    least, most = (max(lo, 0.0), hi) if t > 0.0 else (max(-hi, 0.0), -lo)
    size = abs(t)
    s = knee(d, D, least, most)
    if size < s:
        return (d / s + D * s) * size, size * s
    return (D * t * t + d, t * t) if size > 0.0 else (0.0, 0.0)


@kernel
def sweep(G, b, d, D, lo, hi, w, Gw, support_only):
    """One round of coordinate descent, Gw following w; returns the largest G_jj (change of w_j)²."""
    n = len(w)
    largest = 0.0
    for j in range(n):
        if support_only and w[j] == 0.0:
            continue
        r = b[j] - Gw[j] + G[j, j] * w[j]
        if r > 0.0:
            new = coordinate(r, G[j, j], d[j], D[j], max(lo[j], 0.0), hi[j])
        else:
            new = -coordinate(-r, G[j, j], d[j], D[j], max(-hi[j], 0.0), -lo[j])
        change = new - w[j]
        if change != 0.0:
            w[j] = new
            for k in range(n):
                Gw[k] += G[j, k] * change
            largest = max(largest, G[j, j] * change * change)
    return largest


@kernel
def bound(G, b, c, d, D, lo, hi, w, Gw, val):
    """LB at w, and how far below the relaxation's value at w it lies; fills in val."""
    lower = c
    excess = 0.0
    for j in range(len(w)):
        lower -= 0.5 * w[j] * Gw[j] - D[j] * w[j] * w[j]
        v = b[j] - Gw[j] + 2.0 * D[j] * w[j]
        t = min(max(v / (2.0 * D[j]), lo[j]), hi[j])
        val[j] = v * t - D[j] * t * t - d[j]
        lower -= max(0.0, val[j])
        excess += hull(w[j], d[j], D[j], lo[j], hi[j])[0] + max(0.0, val[j]) - v * w[j]
    return lower, excess


@kernel
def relax(G, b, c, d, D, lo, hi, w, cutoff, accuracy, sweeps, val):
    """Coordinate descent from w until LB is near the relaxation's value or reaches the cutoff; returns LB.

    ``w`` becomes the point of the bound and ``val`` its values. A round over all features is followed by rounds over
    the support; then the bound says whether more is worth while.
    """
    n = len(w)
    Gw = np.zeros(n)
    for j in range(n):
        w[j] = min(max(w[j], min(lo[j], 0.0)), max(hi[j], 0.0))
        if w[j] != 0.0:
            for k in range(n):
                Gw[k] += G[j, k] * w[j]
    lower = -np.inf
    done = 0
    while done < sweeps:
        sweep(G, b, d, D, lo, hi, w, Gw, False)
        for _ in range(8):
            done += 1
            if sweep(G, b, d, D, lo, hi, w, Gw, True) < 1e-3 * accuracy:
                break
        lower, excess = bound(G, b, c, d, D, lo, hi, w, Gw, val)
        if lower >= cutoff or excess < accuracy:
            break
    return lower
