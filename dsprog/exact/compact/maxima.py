"""Objectives that are costs less best benefits: facility location, k-medoids and coverage, subtracted.

    v(S) = constant + Σ_{j∈S} costs_j - Σ_i max(floor_i, max_{j∈S} s_ij)

as one table s, a row for each element. Covering item i of weight w is a benefit of w; floors come from elements that
are in every set. For all thresholds τ_i >= floor_i

    max(floor_i, max_{j∈S} s_ij)  <=  τ_i + Σ_{j∈S} max(0, s_ij - τ_i),

since the best benefit either is at most τ_i or is one of the terms of the sum above τ_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsprog.core.grain import grain_of
from dsprog.core.kernel import kernel
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.core.views import Restriction
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation

LARGEST_TABLE = 30_000_000  # entries, 240 MB


@dataclass(frozen=True)
class Maxima:
    """The table: ``benefits[j, i]`` = s_ij."""

    constant: float
    costs: Floats
    floor: Floats
    benefits: Floats

    @cached_property
    def grain(self) -> float:
        """A number q such that all values are constant + whole multiples of q, up to rounding; 0 if none is seen."""
        return grain_of(self.costs, self.floor, self.benefits)

    def rounded_up(self, bound: float) -> float:
        """A bound lifted to the next value that a set may have, less what sums of p and n terms lose."""
        if self.grain == 0 or not math.isfinite(bound):
            return bound
        steps = math.ceil((bound - self.constant) / self.grain - 1e-6)
        size = abs(self.constant) + float(np.abs(self.costs).sum()) + abs(steps) * self.grain
        lost = np.finfo(float).eps * sum(self.benefits.shape) * size
        return max(bound, self.constant + steps * self.grain - lost)

    def before(self, cutoff: float) -> float:
        """A number, at most ``cutoff``, such that every bound from it on is lifted to the cutoff or above."""
        if self.grain == 0 or not math.isfinite(cutoff):
            return cutoff
        steps = math.ceil((cutoff - self.constant) / self.grain - 1e-4) - 1
        lower = self.constant + (steps + 1e-4) * self.grain
        return lower if self.rounded_up(lower) >= cutoff else cutoff

    def slopes(self, free: Ints, tau: Floats) -> Floats:
        """Σ_i max(0, s_ij - τ_i) for some elements j."""
        out = np.empty(len(free))
        slopes_kernel(self.benefits, free, tau, out)
        return out

    def served(self, members: Ints) -> Floats:
        """What each client has from some elements."""
        return np.maximum(self.floor, self.benefits[members].max(axis=0, initial=-np.inf))

    def value(self, members: Ints) -> float:
        """v(S)."""
        return float(self.constant + self.costs[members].sum() - self.served(members).sum())


@kernel
def slopes_kernel(benefits, free, tau, out):
    """Σ_i max(0, s_ij - τ_i)."""
    for r in range(len(free)):
        j = free[r]
        total = 0.0
        for i in range(len(tau)):
            total += max(0.0, benefits[j, i] - tau[i])
        out[r] = total


def maxima_of(problem: Problem) -> Maxima | None:
    """The table of an objective whose terms are modular, or benefits that are subtracted; None for any other."""
    if not problem.objective.is_certifiable:
        return None
    n, costs, tables = problem.n, np.zeros(problem.n), []
    for a, h in problem.objective.terms:
        if h.knows.modular:
            costs += a * h.marginals(np.zeros((1, n), dtype=bool))[0]
            continue
        shape = table_shape(h)
        if a > 0 or shape is None or shape[0] * shape[1] > LARGEST_TABLE:
            return None
        tables.append((-a, h))
    if not tables:
        return None
    parts = [(a * table, a * floor) for a, h in tables for table, floor in (table_of(h),)]
    floor = np.concatenate([floor for _, floor in parts])
    benefits = np.ascontiguousarray(np.concatenate([table for table, _ in parts], axis=1))
    return Maxima(float(problem.objective([]) + floor.sum()), costs, floor, benefits)


def table_shape(h: SetFunction) -> tuple[int, int] | None:
    """Elements and clients of a function that has a table."""
    inner = h.function if isinstance(h, Restriction) else h
    if isinstance(inner, FacilityLocation):
        return h.n, inner.similarity.shape[0]
    return (h.n, len(inner.weights)) if isinstance(inner, Coverage) else None


def table_of(h: SetFunction) -> tuple[Floats, Floats]:
    """Benefits of free elements, and what those that are included give to each client."""
    inner = h.function if isinstance(h, Restriction) else h
    if isinstance(inner, FacilityLocation):
        whole = inner.dense.T
    else:
        assert isinstance(inner, Coverage)
        whole = inner.members.T.toarray() * inner.weights
    if not isinstance(h, Restriction):
        return whole, np.zeros(whole.shape[1])
    return whole[h.free], whole[h.include].max(axis=0, initial=0.0)


# -- exchanges --------------------------------------------------------------------------------------------------------


@kernel
def exchange_kernel(benefits, members, candidates, nearest, first, second, out):
    """out[r, m]: what all clients gain if candidate r comes for member m.

    A client that gains from the candidate does so whoever leaves. Another client falls back on the candidate or its
    second best, if its best leaves.
    """
    for r in range(len(candidates)):
        j = candidates[r]
        gain = 0.0
        for m in range(len(members)):
            out[r, m] = 0.0
        for i in range(len(first)):
            s = benefits[j, i]
            if s > first[i]:
                gain += s - first[i]
            elif nearest[i] >= 0:
                out[r, nearest[i]] += max(s, second[i]) - first[i]
        for m in range(len(members)):
            out[r, m] += gain


def exchanged(maxima: Maxima, problem: Problem, mask: Masks, candidates: Ints, rounds: int) -> Masks:
    """A set after the best feasible exchanges of a member for one of the candidates, one after the other."""
    mask = mask.copy()
    for _ in range(rounds):
        members, others = np.flatnonzero(mask), candidates[~mask[candidates]]
        if len(members) == 0 or len(others) == 0:
            break
        gains = np.empty((len(others), len(members)))
        exchange_kernel(maxima.benefits, members, others, *best_two_of(maxima, members), gains)
        gains -= maxima.costs[others][:, None] - maxima.costs[members]
        pair = first_feasible(problem, mask, members, others, gains)
        if pair is None:
            break
        mask[others[pair[0]]], mask[members[pair[1]]] = True, False
    return mask


def best_two_of(maxima: Maxima, members: Ints) -> tuple[Ints, Floats, Floats]:
    """Which member serves each client (-1: the floor does), what it has from it, and what the next best would give."""
    table = np.vstack([maxima.floor, maxima.benefits[members]])
    nearest = table.argmax(axis=0)
    first = table[nearest, np.arange(table.shape[1])].copy()
    table[nearest, np.arange(table.shape[1])] = -np.inf
    return nearest - 1, first, np.maximum(table.max(axis=0), maxima.floor)


def first_feasible(problem: Problem, mask: Masks, members: Ints, others: Ints, gains: Floats) -> tuple[int, int] | None:
    """The exchange of largest gain, beyond rounding, among the best that keep the constraints."""
    flat = gains.ravel()
    best = np.argpartition(-flat, min(63, len(flat) - 1))[:64]
    best = best[np.argsort(-flat[best], kind="stable")]
    best = best[flat[best] > 4 * problem.slack]
    come, go = np.unravel_index(best, gains.shape)
    masks = np.repeat(mask[None, :], len(best), axis=0)
    masks[np.arange(len(best)), others[come]] = True
    masks[np.arange(len(best)), members[go]] = False
    allowed = np.flatnonzero(problem.feasible(masks)) if len(best) else best
    return (int(come[allowed[0]]), int(go[allowed[0]])) if len(allowed) else None
