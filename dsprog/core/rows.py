"""Linear constraints on intervals: lo <= A S <= hi, propagated and relaxed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dsprog.core.constraints import ROUNDING, LinearRows
from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Masks

Nodes = Mapping[str, np.ndarray]  # "I" and "U": the ends of intervals, one a row


@kernel
def propagate_kernel(A, lo, hi, I, U, include, exclude, feasible):
    """Fix what every feasible set of an interval has, or omits, until nothing moves.

    lo and hi have their tolerance already; ``slack`` is what rounding may hide in the sum of any set of the interval.
    """
    rows, n = A.shape
    for b in range(len(I)):
        feasible[b] = True
        moving = True
        while moving and feasible[b]:
            moving = False
            for r in range(rows):
                least = 0.0
                most = 0.0
                size = 0.0
                for j in range(n):
                    if I[b, j] or include[b, j]:
                        least += A[r, j]
                        most += A[r, j]
                        size += abs(A[r, j])
                    elif U[b, j] and not exclude[b, j]:
                        least += min(0.0, A[r, j])
                        most += max(0.0, A[r, j])
                        size += abs(A[r, j])
                slack = ROUNDING * size
                if least > hi[r] + slack or most < lo[r] - slack:
                    feasible[b] = False
                    break
                for j in range(n):
                    if A[r, j] == 0 or not U[b, j] or I[b, j] or include[b, j] or exclude[b, j]:
                        continue
                    weight = abs(A[r, j])
                    too_high = least + weight > hi[r] + slack  # the costly choice of j breaks the upper limit
                    too_low = most - weight < lo[r] - slack  # the cheap one breaks the lower limit
                    if (too_high and A[r, j] > 0) or (too_low and A[r, j] < 0):
                        exclude[b, j] = True
                        moving = True
                    elif (too_high and A[r, j] < 0) or (too_low and A[r, j] > 0):
                        include[b, j] = True
                        moving = True
                    if exclude[b, j] or include[b, j]:
                        break  # the row's activity changed: compute it again
                if moving:
                    break


def propagate(rows: LinearRows, nodes: Nodes) -> tuple[Masks, Masks, Masks]:
    """Elements that the constraints fix in each interval, and whether it can hold a feasible set at all."""
    include, exclude = np.zeros_like(nodes["I"]), np.zeros_like(nodes["I"])
    feasible = np.ones(len(nodes["I"]), dtype=bool)
    if len(rows):
        propagate_kernel(rows.A, *rows.relaxed, nodes["I"], nodes["U"], include, exclude, feasible)
    return include, exclude, feasible


@part
def sink(prices, weights, p, m):
    """Let entry p of a heap of m prices, the least on top, sink to its place, and its weight with it."""
    while 2 * p + 1 < m:
        child = 2 * p + 1
        if child + 1 < m and prices[child + 1] < prices[child]:
            child += 1
        if prices[p] <= prices[child]:
            break
        prices[p], prices[child] = prices[child], prices[p]
        weights[p], weights[child] = weights[child], weights[p]
        p = child


@part
def row_multiplier(a, lo, hi, I, U, d):
    """The multiplier λ of one row that maximises min over x in the cube of d·x + λ (a·x - limit), and that limit.

    Setting x_j = [d_j < 0] minimises d·x. If the row then lies above hi (or below lo), the choices that bring it back
    are made in the order of their price |d_j| / |a_j|, and the price of the last one is λ (or -λ): Dantzig's rule.
    Returns 0 where the row holds already, and infinity if it cannot hold; lo and hi have their tolerance already.
    """
    n = len(a)
    activity = 0.0
    size = 0.0
    for j in range(n):
        if U[j]:
            size += abs(a[j])
        if I[j] or (U[j] and d[j] < 0):
            activity += a[j]
    slack = ROUNDING * size
    if activity > hi + slack:
        sign, excess, limit = 1.0, activity - hi, hi
    elif activity < lo - slack:
        sign, excess, limit = -1.0, lo - activity, lo
    else:
        return 0.0, 0.0
    prices = np.empty(n)
    weights = np.empty(n)
    m = 0
    for j in range(n):
        # turning the choice of j round brings the row back
        if U[j] and not I[j] and a[j] != 0 and (d[j] < 0) == (sign * a[j] > 0):
            prices[m] = abs(d[j]) / abs(a[j])
            weights[m] = abs(a[j])
            m += 1
    for p in range(m // 2 - 1, -1, -1):
        sink(prices, weights, p, m)
    while m > 0:
        excess -= weights[0]
        if excess <= slack:
            return sign * prices[0], limit
        m -= 1
        prices[0], weights[0] = prices[m], weights[m]
        sink(prices, weights, 0, m)
    return np.inf, limit


@kernel
def relax_kernel(A, lo, hi, disjoint, I, U, constants, d, out_bound, out_d):
    """Bounds and reduced costs of minorants under the rows: all rows if disjoint, else the best one."""
    rows, n = A.shape
    trial = np.empty(n)
    for b in range(len(d)):
        for j in range(n):
            out_d[b, j] = d[b, j]
        constant = constants[b]
        best = constant
        for j in range(n):
            if U[b, j] and not I[b, j]:
                best += min(0.0, d[b, j])
        for r in range(rows):
            multiplier, limit = row_multiplier(A[r], lo[r], hi[r], I[b], U[b], out_d[b] if disjoint else d[b])
            if np.isinf(multiplier):
                best = np.inf
                break
            if multiplier == 0:
                continue
            base = constant if disjoint else constants[b]
            fixed = -limit
            for j in range(n):
                trial[j] = (out_d[b, j] if disjoint else d[b, j]) + multiplier * A[r, j]
                if I[b, j]:
                    fixed += A[r, j]
            base += multiplier * fixed
            bound = base
            for j in range(n):
                if U[b, j] and not I[b, j]:
                    bound += min(0.0, trial[j])
            if bound > best:
                best = bound
                constant = base if disjoint else constant
                for j in range(n):
                    out_d[b, j] = trial[j]
        out_bound[b] = best


def relax_rows(rows: LinearRows, nodes: Nodes, constants: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The least constant + Σ_{j∈S∖I} d_j over the sets of each interval, relaxed, and the reduced costs it rests on.

    Without constraints that is constant + Σ_F min(0, d_j). With them, Lagrange multipliers λ of the rows move d to d
    + λ a: for every λ of the right sign the value of the Lagrangian bounds the constrained minimum from below.
    """
    if len(rows) == 0:
        return constants + np.minimum(d, 0.0).sum(axis=1), d  # d is 0 at elements that are not free
    bound, reduced = np.empty(len(d)), np.empty(d.shape)
    relax_kernel(rows.A, *rows.relaxed, rows.disjoint, nodes["I"], nodes["U"], constants, d, bound, reduced)
    return bound, reduced


def kept_with(rows: LinearRows, least: Floats, most: Floats, size: Floats, one_way: bool) -> Masks:
    """(B, n): whether least <= hi and most >= lo hold in every row once element j has changed both by a_rj.

    ``least``, ``most`` and ``size`` are (B, rows), size is what rounding is relative to. ``one_way`` says that only
    changes for the worse count: max(0, a_rj) for ``least`` and min(0, a_rj) for ``most``. Only the entries of a column
    are looked at: the rows that j is not in must hold as they are.
    """
    (low, high), entries, n = rows.relaxed, rows.entries, rows.A.shape[1]
    rise, fall = (np.maximum(entries.a, 0.0), np.minimum(entries.a, 0.0)) if one_way else (entries.a, entries.a)
    broken = (least > high + ROUNDING * size) | (most < low - ROUNDING * size)
    r, slack = entries.r, ROUNDING * (size[:, entries.r] + np.abs(entries.a))
    then = (least[:, r] + rise > high[r] + slack) | (most[:, r] + fall < low[r] - slack)
    changed = entries.sums(then.astype(float) - broken[:, r], n)
    return np.asarray(broken.sum(axis=1)[:, None] + changed == 0)
