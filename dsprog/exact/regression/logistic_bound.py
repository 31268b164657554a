"""The perspective bound of logistic loss, through its Fenchel dual.

With rows a_i = y_i x_i the loss is L(w) = (1/m) Σ log(1 + exp(-a_i·w)). For every u in [0, 1]^m

    log(1 + exp(-t)) >= -u t + H(u),    H(u) = -u log u - (1 - u) log(1 - u),

so that with g = -(1/m) Σ u_i a_i any set S and any w on it satisfy

    L(w) + (ridge/2) ‖w‖² + d(S) >= (1/m) Σ H(u_i) + Σ_{j∈S} (g_j w_j + (ridge/2) w_j² + d_j)
                                 >= (1/m) Σ H(u_i) - Σ_{j∈S} val_j,    val_j = g_j² / (2 ridge) - d_j.

At most k of the free features are taken, so that (1/m) Σ H(u_i) - Σ_{j∈I} val_j - (the k largest positive val_j) bounds
a node. No convergence is needed. A good u is u_i = 1 / (1 + exp(a_i·w)) at the minimiser w of the relaxation, where a
free feature pays the convex hull of 0 at 0 and (ridge/2) t² + d_j elsewhere: coordinate descent, the price of a feature
moving with it as in :mod:`dsprog.exact.regression.priced_descent`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints
from dsprog.exact.regression.priced_descent import EVEN, LEAST_SWEEPS, STEEPEST, largest_sum

LEAST_CURVATURE = 0.05  # of the largest that a feature's part of the loss can have, for the step of a coordinate


class Classes(NamedTuple):
    """A node: y_i x_ij by feature, the features that are in and after them the free ones, their prices d, the ridge."""

    rows: Floats
    columns: Ints
    forced: int
    d: Floats
    ridge: float


@part
def odds(t):
    """1 / (1 + exp(t)), without overflow."""
    return np.exp(-t) / (1.0 + np.exp(-t)) if t > 0.0 else 1.0 / (1.0 + np.exp(t))


@part
def step_of(node, p, w, u, price):
    """Where coordinate p goes: the minimum of a parabola like the loss and of what its feature pays."""
    a = node.rows[node.columns[p]]
    g, H, most = 0.0, 0.0, 0.0
    for i in range(len(u)):
        g -= a[i] * u[i]
        H += a[i] * a[i] * u[i] * (1.0 - u[i])
        most += a[i] * a[i]
    m = len(u)
    H = max(H / m, LEAST_CURVATURE * 0.25 * most / m)
    r = H * w[p] - g / m
    if p < node.forced:
        return r / (H + node.ridge)
    d, D = node.d[p - node.forced] + price, 0.5 * node.ridge
    s = np.sqrt(d / D)
    size = abs(r) - (d / s + D * s if s > 0.0 else 0.0)
    if size <= 0.0 or most == 0.0:
        return 0.0
    new = size / H if size <= s * H else max(abs(r) / (H + node.ridge), s)
    return new if r > 0.0 else -new


@part
def logistic_lower(node, u, most, val, heap):
    """LB at u, without the constant of the penalty; fills in val of the free features."""
    m = len(u)
    lower = 0.0
    for i in range(m):
        if 0.0 < u[i] < 1.0:
            lower -= (u[i] * np.log(u[i]) + (1.0 - u[i]) * np.log(1.0 - u[i])) / m
    for p in range(len(node.columns)):
        a = node.rows[node.columns[p]]
        g = 0.0
        for i in range(m):
            g -= a[i] * u[i]
        gain = g * g / (2.0 * node.ridge * m * m)
        if p < node.forced:
            lower -= gain
        else:
            val[p - node.forced] = gain - node.d[p - node.forced]
    return lower - largest_sum(val, most, heap)


@part
def shares(node, w, price):
    """How many free features the relaxation takes in all."""
    total = 0.0
    for p in range(node.forced, len(w)):
        if w[p] != 0.0:
            s = np.sqrt((node.d[p - node.forced] + price) / (0.5 * node.ridge))
            total += min(1.0, abs(w[p]) / s) if s > 0.0 else 1.0
    return total


@kernel
def descend_logistic(node, w, budget, best, val):
    """Descend from w; returns the best LB and its price, leaves its point in ``best`` and its gains in ``val``."""
    q, m, free = len(w), node.rows.shape[1], len(node.d)
    margins, u = np.empty(m), np.empty(m)
    trial, heap = np.empty(free), np.empty(max(budget.most, 1))
    for i in range(m):
        margins[i] = 0.0
    for p in range(q):
        if w[p] != 0.0:
            for i in range(m):
                margins[i] += node.rows[node.columns[p], i] * w[p]
    for i in range(m):
        u[i] = odds(margins[i])
    price, right, lower, before = budget.price, budget.price, -np.inf, -np.inf
    for done in range(budget.sweeps):
        for p in range(q):
            if done % 2 == 1 and w[p] == 0.0:
                continue
            change = step_of(node, p, w, u, price) - w[p]
            if change != 0.0:
                w[p] += change
                for i in range(m):
                    margins[i] += node.rows[node.columns[p], i] * change
                    u[i] = odds(margins[i])
        share = shares(node, w, price) / budget.most if budget.most < free else 1.0
        if done % 2 == 0:
            here = logistic_lower(node, u, budget.most, trial, heap)
            if here > lower:
                lower, right = here, price
                for p in range(q):
                    best[p] = w[p]
                for j in range(free):
                    val[j] = trial[j]
            slow = lower - before < budget.accuracy and done >= LEAST_SWEEPS
            if lower >= budget.cutoff or (slow and abs(share - 1.0) < EVEN):
                break
            before = lower
        price *= min(max(share, 1.0 / STEEPEST), STEEPEST)
    return lower, right
