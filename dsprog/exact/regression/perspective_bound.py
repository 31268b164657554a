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

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import part
from dsprog.core.validation import Floats

ROUNDS = 4  # of coordinate descent on the support between two looks at the bound


class Relaxed(NamedTuple):
    """The problem of a node: ½ w'Gw - b'w + c + Σ_{j∈S} d_j, the diagonal D, and the boxes lo <= w <= hi."""

    G: Floats
    b: Floats
    c: float
    d: Floats
    D: Floats
    lo: Floats
    hi: Floats


class Shape(NamedTuple):
    """Where line and parabola of each h_j meet, and the line's slope: (2, n), positive side first."""

    knees: Floats
    slopes: Floats


class Point(NamedTuple):
    """A point w of the relaxation, and Gw, which follows it."""

    w: Floats
    Gw: Floats


class DescentLimits(NamedTuple):
    """When a descent ends: LB reaches the cutoff, it is this near to the relaxation's value, or rounds are used up."""

    cutoff: float
    accuracy: float
    sweeps: int


@part
def knee(d, D, least, most):
    """Where line and parabola of h_j meet, on a side where |w_j| lies between least and most if j is chosen."""
    return min(max(np.sqrt(d / D), least), most)


@part
def shape(problem, j, shapes):
    """Fill in knee and slope of h_j on the positive side (row 0) and the negative side (row 1)."""
    d, D, lo, hi = problem.d[j], problem.D[j], problem.lo[j], problem.hi[j]
    for side in range(2):
        least, most = (max(lo, 0.0), hi) if side == 0 else (max(-hi, 0.0), -lo)
        s = knee(d, D, least, most)
        shapes.knees[side, j] = s
        shapes.slopes[side, j] = np.inf if most <= 0.0 else d / s + D * s if s > 0.0 else 0.0


@part
def shape_all(problem):
    """Knees and slopes of every feature."""
    n = len(problem.d)
    shapes = Shape(np.empty((2, n)), np.empty((2, n)))
    for j in range(n):
        shape(problem, j, shapes)
    return shapes


@part
def hull(t, d, D, lo, hi):
    """h(t), and what it gains for each unit of D, which is |t| s on the line and t² beyond."""
    least, most = (max(lo, 0.0), hi) if t > 0.0 else (max(-hi, 0.0), -lo)
    size = abs(t)
    s = knee(d, D, least, most)
    if size < s:
        return (d / s + D * s) * size, size * s
    return (D * t * t + d, t * t) if size > 0.0 else (0.0, 0.0)


@part
def sweep(problem, shapes, point, support_only):
    """One round of coordinate descent, Gw following w; returns the largest G_jj (change of w_j)²."""
    G, w, Gw = problem.G, point.w, point.Gw
    n = len(w)
    largest = 0.0
    for j in range(n):
        if support_only and w[j] == 0.0:
            continue
        r = problem.b[j] - Gw[j] + G[j, j] * w[j]
        side, most = (0, problem.hi[j]) if r > 0.0 else (1, -problem.lo[j])
        size = abs(r) - shapes.slopes[side, j]
        new = 0.0
        if size > 0.0:  # on the line up to the knee, beyond it on the parabola
            s, H = shapes.knees[side, j], G[j, j] - 2.0 * problem.D[j]
            new = size / H if size <= s * H else min(max(abs(r) / G[j, j], s), most)
        change = (new if side == 0 else -new) - w[j]
        if change != 0.0:
            w[j] += change
            for k in range(n):
                Gw[k] += G[j, k] * change
            largest = max(largest, G[j, j] * change * change)
    return largest


@part
def best_value(v, D, lo, hi):
    """max over lo <= t <= hi of v t - D t²."""
    t = min(max(v / (2.0 * D), lo), hi)
    return v * t - D * t * t


@part
def bound(problem, point, forced, val):
    """LB at w, and how far below the relaxation's value at w it lies; fills in val. No feature is forced if -1 is."""
    w, Gw = point
    lower = problem.c
    excess = 0.0
    for j in range(len(w)):
        d, D, lo, hi = problem.d[j], problem.D[j], problem.lo[j], problem.hi[j]
        lower -= 0.5 * w[j] * Gw[j] - D * w[j] * w[j]
        v = problem.b[j] - Gw[j] + 2.0 * D * w[j]
        val[j] = best_value(v, D, lo, hi) - d
        gain = val[j] if j == forced else max(0.0, val[j])
        height = D * w[j] * w[j] + d if j == forced else hull(w[j], d, D, lo, hi)[0]
        lower -= gain
        excess += height + gain - v * w[j]
    return lower, excess


@part
def extrapolate(points, products, leap):
    """Leap to the affine combination of consecutive points whose steps cancel best (Anderson); False if it is wild.

    With u_i the step from point i to the next, the weights minimise |Σ a_i u_i|² over Σ a_i = 1. Large weights would
    carry rounding errors of the products into Gw.
    """
    m, n = len(points) - 1, points.shape[1]
    A = np.empty((m, m + 1))  # u_i·u_k beside a column of ones: the weights solve it, up to their sum
    trace = 0.0
    for i in range(m):
        for k in range(m):
            A[i, k] = 0.0
            for j in range(n):
                A[i, k] += (points[i + 1, j] - points[i, j]) * (points[k + 1, j] - points[k, j])
        A[i, m] = 1.0
        trace += A[i, i]
    total, size = 0.0, 0.0
    for i in range(m):  # Gauss and Jordan; the matrix is positive definite with a little more on its diagonal
        A[i, i] += 1e-10 * trace
    for i in range(m):
        if not A[i, i] > 0.0:
            return False
        for k in range(m):
            if k != i:
                scale = A[k, i] / A[i, i]
                for l in range(i, m + 1):
                    A[k, l] -= scale * A[i, l]
    for i in range(m):
        total += A[i, m] / A[i, i]
        size += abs(A[i, m] / A[i, i])
    if not size < 100.0 * abs(total):
        return False
    for j in range(n):
        leap.w[j], leap.Gw[j] = 0.0, 0.0
    for i in range(m):
        a = A[i, m] / A[i, i] / total
        for j in range(n):
            leap.w[j] += a * points[i + 1, j]
            leap.Gw[j] += a * products[i + 1, j]
    return True


@part
def descend(problem, shapes, point, forced, cutoff, limits, val):
    """Coordinate descent from w until LB is near the relaxation's value or reaches the cutoff; returns LB.

    ``w`` becomes the point of the bound and ``val`` its values. A round over all features is followed by rounds over
    the support and a leap ahead, kept if the relaxation's value falls; then the bound says whether more is worth while.
    """
    n = len(val)
    points, products = np.empty((ROUNDS + 1, n)), np.empty((ROUNDS + 1, n))
    leap, other = Point(np.empty(n), np.empty(n)), np.empty(n)
    lower = -np.inf
    done = 0
    while done < limits.sweeps:
        settled = False
        for k in range(ROUNDS + 1):  # the first round is over all features
            moved = sweep(problem, shapes, point, k > 0)
            done += 1 if k else 0
            if k and moved < 1e-3 * limits.accuracy:
                settled = True
                break
            for j in range(n):
                points[k, j], products[k, j] = point.w[j], point.Gw[j]
        lower, excess = bound(problem, point, forced, val)
        if lower >= cutoff or excess < limits.accuracy:
            break
        if not settled and extrapolate(points, products, leap):
            further, rest = bound(problem, leap, forced, other)
            if further + rest < lower + excess:
                for j in range(n):
                    point.w[j], point.Gw[j], val[j] = leap.w[j], leap.Gw[j], other[j]
                lower, excess = further, rest
                if lower >= cutoff or excess < limits.accuracy:
                    break
    return lower


@part
def product(G, w):
    """Gw, for a w with zeros."""
    Gw = np.empty(len(w))
    for k in range(len(w)):
        Gw[k] = 0.0
    for j in range(len(w)):
        if w[j] != 0.0:
            for k in range(len(w)):
                Gw[k] += G[j, k] * w[j]
    return Gw


@part
def relax(problem, w, limits, val):
    """Coordinate descent from w, clipped to the boxes; returns LB."""
    for j in range(len(w)):
        w[j] = min(max(w[j], min(problem.lo[j], 0.0)), max(problem.hi[j], 0.0))
    return descend(problem, shape_all(problem), Point(w, product(problem.G, w)), -1, limits.cutoff, limits, val)
