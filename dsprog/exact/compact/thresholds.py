"""The threshold bound: prices of the clients that nearly solve a relaxation, without a programme.

For a table of best benefits (:mod:`dsprog.exact.compact.maxima`) and thresholds τ every set S between I and U has

    v(S) >= constant + costs(I) - Σ_i τ_i + Σ_{j∈S∖I} d_j,    d_j = costs_j - Σ_i max(0, s_ij - τ_i),

if τ_i is at least the floor and what I gives to client i. The right side is minimised over the rows by
:func:`dsprog.core.rows.relax_rows`. Its largest value over τ is that of the linear relaxation, and deflected
subgradient steps come near it: |{j∈S∖I: s_ij > τ_i}| - 1 at the minimiser S says where τ_i should go. Reduced costs
then decide elements: those whose other choice lifts the bound to the cutoff are in no better set.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate, relax_kernel
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.compact.maxima import Maxima, exchanged

FAILURES = 15  # steps without a better bound, after which they become shorter
SHORTER = 0.6
SHORTEST = 1e-3
DEFLECTION = 1.5  # Camerini, Fratta and Maffioli's
MEMORY = 0.05  # weight of a new minimiser in their average
EXCHANGES = 100


class BenefitTable(NamedTuple):
    """Benefits and costs, and the rows with their tolerance."""

    benefits: Floats
    costs: Floats
    A: Floats
    lo: Floats
    hi: Floats
    disjoint: bool


class ThresholdWalk(NamedTuple):
    """Where an ascent is: best thresholds and what they prove, the present ones, and how it goes on."""

    tau: Floats
    reduced: Floats  # (1, n)
    trial: Floats
    direction: Floats
    average: Floats  # of the minimisers: near the optimum of the relaxation
    numbers: Floats  # the best bound, the length of steps, failures in a row


@part
def choose_minimiser(table, I, U, reduced, chosen):
    """Elements of negative reduced cost; for a lower limit that fails, further ones of least reduced cost."""
    n = len(chosen)
    for j in range(n):
        chosen[j] = U[0, j] and not I[0, j] and reduced[0, j] < 0
    for r in range(len(table.lo)):
        activity = 0.0
        for j in range(n):
            if I[0, j] or chosen[j]:
                activity += table.A[r, j]
        while activity < table.lo[r]:
            best = -1
            for j in range(n):
                outside = U[0, j] and not I[0, j] and not chosen[j]
                if outside and table.A[r, j] > 0 and (best < 0 or reduced[0, j] < reduced[0, best]):
                    best = j
            if best < 0:
                break
            chosen[best] = True
            activity += table.A[r, best]


@part
def turn(table, chosen, tau, direction):
    """The next direction: the subgradient, turned away from the one before where the two point apart."""
    gradient = np.empty(len(tau))
    for i in range(len(tau)):
        gradient[i] = -1.0
    for j in range(len(chosen)):
        if chosen[j]:
            for i in range(len(tau)):
                if table.benefits[j, i] > tau[i]:
                    gradient[i] += 1.0
    inner = 0.0
    before = 0.0
    for i in range(len(tau)):
        inner += gradient[i] * direction[i]
        before += direction[i] * direction[i]
    back = DEFLECTION * inner / before if inner < 0 else 0.0
    norm = 0.0
    for i in range(len(tau)):
        direction[i] = gradient[i] - back * direction[i]
        norm += direction[i] * direction[i]
    return norm


@kernel
def ascend_kernel(table, I, U, floor, constants, walk, value, cutoff, steps):
    """Some steps of an ascent towards ``value``, or until the bound is at least ``cutoff``; returns how many."""
    p, n = len(floor), len(table.costs)
    d = np.zeros((1, n))
    reduced = np.zeros((1, n))
    bound = np.empty(1)
    start = np.empty(1)
    chosen = np.empty(n, dtype=np.bool_)
    for step in range(steps):
        total = 0.0
        size = abs(constants[0]) + abs(constants[1])
        for i in range(p):
            walk.trial[i] = max(walk.trial[i], floor[i])
            total += walk.trial[i]
            size += abs(walk.trial[i])
        for j in range(n):
            d[0, j] = 0.0
            if U[0, j] and not I[0, j]:
                for i in range(p):
                    d[0, j] -= max(0.0, table.benefits[j, i] - walk.trial[i])
                d[0, j] += table.costs[j]
        start[0] = constants[0] - total
        relax_kernel(table.A, table.lo, table.hi, table.disjoint, I, U, start, d, bound, reduced)
        for j in range(n):
            if reduced[0, j] <= 0:
                size += abs(d[0, j]) + 2.0 * abs(table.costs[j])
        # what sums of p and n terms may lose, in the bound and in a reduced cost
        here = bound[0] - 4.5e-16 * (p + n) * size
        walk.numbers[2] += 1.0
        if here > walk.numbers[0]:
            walk.numbers[0] = here
            walk.numbers[2] = 0.0
            for i in range(p):
                walk.tau[i] = walk.trial[i]
            for j in range(n):
                walk.reduced[0, j] = reduced[0, j]
        if walk.numbers[0] >= cutoff or not np.isfinite(value):
            return step + 1
        choose_minimiser(table, I, U, reduced, chosen)
        for j in range(n):
            walk.average[j] += MEMORY * ((1.0 if chosen[j] or I[0, j] else 0.0) - walk.average[j])
        if walk.numbers[2] >= FAILURES:
            walk.numbers[1] *= SHORTER
            walk.numbers[2] = 0.0
            for i in range(p):
                walk.trial[i] = walk.tau[i]
                walk.direction[i] = 0.0
            continue
        norm = turn(table, chosen, walk.trial, walk.direction)
        if norm == 0:
            return step + 1
        length = walk.numbers[1] * max(value - bound[0], 0.0) / norm
        for i in range(p):
            walk.trial[i] += length * walk.direction[i]
    return steps


class ThresholdBound:
    """The bound of intervals [I, U] of a problem that has a table."""

    def __init__(self, maxima: Maxima, problem: Problem) -> None:
        self.maxima, self.problem = maxima, problem
        rows = problem.rows
        self.table = BenefitTable(maxima.benefits, maxima.costs, rows.A, *rows.relaxed, rows.disjoint)

    def walk(self, tau: Floats) -> ThresholdWalk:
        """An ascent that begins at some thresholds."""
        p, n = len(tau), self.problem.n
        tau = np.array(tau, dtype=float)
        numbers = np.array([-np.inf, 1.0, 0.0])
        return ThresholdWalk(tau, np.zeros((1, n)), tau.copy(), np.zeros(p), np.zeros(n), numbers)

    def climb(self, I: Masks, U: Masks, walk: ThresholdWalk, value: float, cutoff: float, steps: int) -> float:
        """Take steps in an interval; returns the best bound of the walk."""
        included = np.flatnonzero(I)
        constants = np.array([self.maxima.constant + self.maxima.costs[included].sum(), self.maxima.constant])
        floor, cutoff = self.maxima.served(included), self.maxima.before(cutoff)
        ascend_kernel(self.table, I[None, :], U[None, :], floor, constants, walk, value, cutoff, steps)
        return self.maxima.rounded_up(float(walk.numbers[0]))

    def settle(self, I: Masks, U: Masks, walk: ThresholdWalk, cutoff: float) -> tuple[Masks, Masks, float, bool]:
        """A smaller interval that has all sets below the cutoff, a bound of the others, and whether it may have any.

        bound + |reduced_j| holds for all sets with the choice of j turned round.
        """
        bound, reduced = float(walk.numbers[0]), walk.reduced[0]
        if not math.isfinite(cutoff) or not math.isfinite(bound):
            return I, U, math.inf, True
        settled = U & ~I & (bound + np.abs(reduced) >= self.maxima.before(cutoff)) & (reduced != 0)
        if not settled.any():
            return I, U, math.inf, True
        decided = self.maxima.rounded_up(bound + float(np.abs(reduced[settled]).min()))
        I, U = I | (settled & (reduced < 0)), U & ~(settled & (reduced > 0))
        include, exclude, feasible = propagate(self.problem.rows, {"I": I[None, :], "U": U[None, :]})
        return I | include[0], U & ~exclude[0], decided, bool(feasible[0])

    # -- sets -------------------------------------------------------------------------------------------------------

    def minimiser(self, I: Masks, U: Masks, walk: ThresholdWalk) -> Masks:
        """The set that the bound of a walk is about."""
        chosen = np.empty(self.problem.n, dtype=bool)
        minimiser_kernel(self.table, I[None, :], U[None, :], walk.reduced, chosen)
        return chosen | I

    def improved(self, mask: Masks, promising: Ints) -> tuple[Masks, Floats]:
        """A feasible set after exchanges with promising elements, and its value, as arrays of one; or nothing."""
        problem = self.problem
        masks = mask[None, :] if problem.feasible(mask[None, :])[0] else np.zeros((0, problem.n), dtype=bool)
        if len(masks):
            masks = exchanged(self.maxima, problem, mask, promising, EXCHANGES)[None, :]
        return masks, problem.objective.values(masks)

    def greedy(self) -> Masks:
        """Elements of largest gain, while that pays or lower limits demand it and upper limits allow it."""
        maxima, table = self.maxima, self.table
        mask, served = np.zeros(self.problem.n, dtype=bool), maxima.floor.copy()
        activity = np.zeros(len(table.A))
        while True:
            grown = activity[:, None] + table.A
            free = np.flatnonzero(~mask & (grown <= np.maximum(table.hi, activity)[:, None]).all(axis=0))
            if len(free) == 0:
                return mask
            change = maxima.costs[free] - maxima.slopes(free, served)
            best = int(change.argmin())
            if change[best] >= 0 and (activity >= table.lo).all():
                return mask
            mask[free[best]] = True
            served, activity = np.maximum(served, maxima.benefits[free[best]]), grown[:, free[best]]


@kernel
def minimiser_kernel(table, I, U, reduced, chosen):
    """For Python: the elements that the bound takes beyond I."""
    choose_minimiser(table, I, U, reduced, chosen)
