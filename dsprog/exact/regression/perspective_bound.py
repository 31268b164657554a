"""The perspective bound of least squares with a penalty on the chosen features.

Minimise ½ w'Gw - b'w + c + Σ_{j∈S} d_j over the sets S of free features and coefficients w that vanish outside S, with
lo_j <= w_j <= hi_j for j in S. Here G, b and c stand for the loss after the included features were eliminated
(:mod:`dsprog.exact.regression.elimination`), and d is a modular minorant of a submodular penalty. No submodularity of
the loss is used.

Take a diagonal D > 0 with H = G - 2D positive semidefinite. For every point w, with v = b - Hw, any S and u satisfy

    ½ u'Gu - b'u = ½ u'Hu - b'u + Σ D_j u_j² >= -½ w'Hw - v'u + Σ D_j u_j²,

since the convex ½ u'Hu lies above its tangent at w. What is left separates, and

    LB = c - ½ w'Hw - Σ_j max(0, val_j),    val_j = max over lo_j <= t <= hi_j of v_j t - D_j t²  -  d_j

is a lower bound for any w: no inner convergence is needed. The sets that have j are bounded by LB + max(0, -val_j),
those without it by LB + max(0, val_j), which fixes features against a cutoff.

The best w minimises the *primal* relaxation ½ w'Hw - b'w + Σ h_j(w_j) with h_j the convex hull of 0 at 0 and
D_j t² + d_j elsewhere in the box: from 0 a line of slope k = d_j/s + D_j s up to s = √(d_j/D_j), clipped to the box,
then the parabola. Coordinate descent minimises it. With a feature *forced*, h_j is D_j t² + d_j everywhere, and the
bound, in which val_j takes the place of max(0, val_j), is one of the sets that have j.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.exact.regression.elimination import factorise

ROUNDS = 4  # of coordinate descent on the support between two looks at the bound


@kernel
def knee(d, D, least, most):
    """Where line and parabola of h_j meet, on a side where |w_j| lies between least and most if j is chosen."""
    return min(max(np.sqrt(d / D), least), most)


@kernel
def shape(d, D, lo, hi, j, knees, slopes):
    """Fill in knee and slope of h_j on the positive side (row 0) and the negative side (row 1)."""
    for side in range(2):
        least, most = (max(lo[j], 0.0), hi[j]) if side == 0 else (max(-hi[j], 0.0), -lo[j])
        s = knee(d[j], D[j], least, most)
        knees[side, j] = s
        slopes[side, j] = np.inf if most <= 0.0 else d[j] / s + D[j] * s if s > 0.0 else 0.0


@kernel
def shape_all(d, D, lo, hi, knees, slopes):
    """Knees and slopes of every feature."""
    for j in range(len(d)):
        shape(d, D, lo, hi, j, knees, slopes)


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
def sweep(G, b, D, lo, hi, knees, slopes, w, Gw, support_only):
    """One round of coordinate descent, Gw following w; returns the largest G_jj (change of w_j)²."""
    n = len(w)
    largest = 0.0
    for j in range(n):
        if support_only and w[j] == 0.0:
            continue
        r = b[j] - Gw[j] + G[j, j] * w[j]
        side, most = (0, hi[j]) if r > 0.0 else (1, -lo[j])
        size = abs(r) - slopes[side, j]
        new = 0.0
        if size > 0.0:  # on the line up to the knee, beyond it on the parabola
            s, H = knees[side, j], G[j, j] - 2.0 * D[j]
            new = size / H if size <= s * H else min(max(abs(r) / G[j, j], s), most)
        change = (new if side == 0 else -new) - w[j]
        if change != 0.0:
            w[j] += change
            for k in range(n):
                Gw[k] += G[j, k] * change
            largest = max(largest, G[j, j] * change * change)
    return largest


@kernel
def best_value(v, D, lo, hi):
    """max over lo <= t <= hi of v t - D t²."""
    t = min(max(v / (2.0 * D), lo), hi)
    return v * t - D * t * t


@kernel
def bound(b, c, d, D, lo, hi, w, Gw, forced, val):
    """LB at w, and how far below the relaxation's value at w it lies; fills in val. No feature is forced if -1 is."""
    lower = c
    excess = 0.0
    for j in range(len(w)):
        lower -= 0.5 * w[j] * Gw[j] - D[j] * w[j] * w[j]
        v = b[j] - Gw[j] + 2.0 * D[j] * w[j]
        val[j] = best_value(v, D[j], lo[j], hi[j]) - d[j]
        gain = val[j] if j == forced else max(0.0, val[j])
        height = D[j] * w[j] * w[j] + d[j] if j == forced else hull(w[j], d[j], D[j], lo[j], hi[j])[0]
        lower -= gain
        excess += height + gain - v * w[j]
    return lower, excess


@kernel
def extrapolate(points, products, w, Gw):
    """w and Gw: the affine combination of consecutive points whose steps cancel best (Anderson); False if it is wild.

    With u_i the step from point i to the next, the weights minimise |Σ a_i u_i|² over Σ a_i = 1. Large weights would
    carry rounding errors of the products into Gw.
    """
    m = len(points) - 1
    steps = points[1:] - points[:-1]
    A, L = steps @ steps.T, np.zeros((m, m))
    if not factorise(A, np.zeros(m), -1e-10 * np.trace(A), L):
        return False
    a = np.ones(m)
    for i in range(m):
        for k in range(i):
            a[i] -= L[i, k] * a[k]
        a[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            a[i] -= L[k, i] * a[k]
        a[i] /= L[i, i]
    a /= a.sum()
    if not np.abs(a).sum() < 100.0:
        return False
    w[:] = a @ points[1:]
    Gw[:] = a @ products[1:]
    return True


@kernel
def descend(G, b, c, d, D, lo, hi, knees, slopes, w, Gw, forced, cutoff, accuracy, sweeps, val):
    """Coordinate descent from w until LB is near the relaxation's value or reaches the cutoff; returns LB.

    ``w`` becomes the point of the bound and ``val`` its values. A round over all features is followed by rounds over
    the support and a leap ahead, kept if the relaxation's value falls; then the bound says whether more is worth while.
    """
    n = len(w)
    points, products = np.empty((ROUNDS + 1, n)), np.empty((ROUNDS + 1, n))
    leap, leap_product, other = np.empty(n), np.empty(n), np.empty(n)
    lower = -np.inf
    done = 0
    while done < sweeps:
        sweep(G, b, D, lo, hi, knees, slopes, w, Gw, False)
        points[0], products[0] = w, Gw
        settled = False
        for k in range(ROUNDS):
            done += 1
            if sweep(G, b, D, lo, hi, knees, slopes, w, Gw, True) < 1e-3 * accuracy:
                settled = True
                break
            points[k + 1], products[k + 1] = w, Gw
        lower, excess = bound(b, c, d, D, lo, hi, w, Gw, forced, val)
        if lower >= cutoff or excess < accuracy:
            break
        if not settled and extrapolate(points, products, leap, leap_product):
            further, rest = bound(b, c, d, D, lo, hi, leap, leap_product, forced, other)
            if further + rest < lower + excess:
                w[:], Gw[:], val[:] = leap, leap_product, other
                lower, excess = further, rest
                if lower >= cutoff or excess < accuracy:
                    break
    return lower


@kernel
def product(G, w):
    """Gw, for a w with zeros."""
    Gw = np.zeros(len(w))
    for j in range(len(w)):
        if w[j] != 0.0:
            for k in range(len(w)):
                Gw[k] += G[j, k] * w[j]
    return Gw


@kernel
def relax(G, b, c, d, D, lo, hi, w, cutoff, accuracy, sweeps, val):
    """Coordinate descent from w, clipped to the boxes; returns LB."""
    n = len(w)
    knees, slopes = np.empty((2, n)), np.empty((2, n))
    shape_all(d, D, lo, hi, knees, slopes)
    for j in range(n):
        w[j] = min(max(w[j], min(lo[j], 0.0)), max(hi[j], 0.0))
    return descend(G, b, c, d, D, lo, hi, knees, slopes, w, product(G, w), -1, cutoff, accuracy, sweeps, val)
