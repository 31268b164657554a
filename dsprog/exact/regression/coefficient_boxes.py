"""Boxes around the coefficients of every set worth finding.

Let u be the least-squares coefficients of a set S that has j and whose value is below a cutoff. Shift b_j by η and
let F(η) be any lower bound of the shifted problem over the sets that have j. The shifted objective at (u, S) is the
value of S minus η u_j, hence

    cutoff > value(S) >= F(η) + η u_j,

which bounds u_j from above for η > 0 and from below for η < 0. Any η and inexact bounds will do. If F(0) reaches the
cutoff, no such set has j. Without the other features F(η) = F(0) - η w⁰ - η²/2G_jj, for which the best η is
√(2 G_jj (cutoff - F(0))); a little less is better with them.

Only what can matter is computed. The relaxation charges h_j(w_j) at w, and D_j w_j² + d_j with j forced: F(0) is at
most LB plus the difference, so it is computed only if that reaches the cutoff. Where w_j is not 0, a bound on its own
side is what raises h_j(w_j); the other side waits until the relaxation goes there.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import part
from dsprog.exact.regression.perspective_bound import (
    Point,
    descend,
    hull,
    product,
    shape,
    shape_all,
)


@part
def forced_bound(problem, shapes, point, j, eta, cutoff, limits, val):
    """F(η): the bound with j forced and b_j + η in place of b_j; leaves w as it is, and h_j to be shaped again."""
    lo, hi = problem.lo[j], problem.hi[j]
    shapes.knees[0, j], shapes.knees[1, j] = max(lo, 0.0), max(-hi, 0.0)
    shapes.slopes[0, j], shapes.slopes[1, j] = 0.0, 0.0
    before = problem.b[j]
    problem.b[j] = before + eta
    lower = descend(problem, shapes, Point(point.w.copy(), point.Gw.copy()), j, cutoff, limits, val)
    problem.b[j] = before
    return lower


@part
def tighten_boxes(problem, w, lower, limits, exclude):
    """Tighten the boxes, and mark features that no set below the cutoff has; ``lower`` is the bound at w."""
    d, D, lo, hi = problem.d, problem.D, problem.lo, problem.hi
    point, val, cutoff = Point(w, product(problem.G, w)), np.empty(len(w)), limits.cutoff
    shapes = shape_all(problem)
    for j in range(len(w)):
        most = lower + d[j] + D[j] * w[j] * w[j] - hull(w[j], d[j], D[j], lo[j], hi[j])[0]
        chosen = 0.3 * lower + 0.7 * most  # what F(0) will be, more or less
        if most >= cutoff:
            chosen = forced_bound(problem, shapes, point, j, 0.0, cutoff, limits, val)
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            if chosen >= cutoff or sign * w[j] < 0.0:
                continue
            eta = sign * 0.65 * np.sqrt(2.0 * (cutoff - chosen) * problem.G[j, j])
            end = forced_bound(problem, shapes, point, j, eta, np.inf, limits, val)
            if sign > 0.0:
                hi[j] = min(hi[j], (cutoff - end) / eta)
            else:
                lo[j] = max(lo[j], (cutoff - end) / eta)
        if chosen >= cutoff or lo[j] > hi[j]:
            exclude[j] = True
            lo[j] = 0.0
            hi[j] = 0.0
        shape(problem, j, shapes)
