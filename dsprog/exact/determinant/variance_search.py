"""Small choices by conditional variances alone: depth first, compiled, a million sets a second.

Given the elements T that are chosen, v_i = det A_{T∪i} / det A_T is the conditional variance of i, and it only falls
as T grows. Hadamard's inequality for the Schur complement of A_T therefore bounds all that can still be chosen:

    value(T ∪ R) <= value(T) + Σ_{i in R} gain_i(T),   gain_i(T) = u_i + Σ_k a_k log v_i^k.

Candidates are tried in falling order of their gains, each without those before it, and a level ends with the first
candidate from which on the best gains do not reach the target. The bound is weak for many elements and next to
nothing to compute, so that it is the quickest way to close a node from which few elements are to be chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.determinant.gamma_bound import DeterminantNode

KEPT = 256  # sets above the target that one search may find; more of them are left to the tree
SLICE = 1_000_000  # conditional variances between two looks at the clock
BASE, TARGET, LIFT = 0, 1, 2
DEPTH, FOUND, WORK = 0, 1, 2


class Levels(NamedTuple):
    """What is known at each depth: rows of Cholesky factors, variances, gains, candidates in falling order of them."""

    factor: Floats
    variance: Floats
    gain: Floats
    candidates: Ints
    width: Ints
    following: Ints
    value: Floats
    root: Floats
    chosen: Ints


def levels_of(m: int, depths: int, matrices: int) -> Levels:
    """Room for a search among m elements."""
    return Levels(
        factor=np.empty((matrices, m, depths)),
        variance=np.empty((depths, matrices, m)),
        gain=np.empty((depths, m)),
        candidates=np.empty((depths, m), dtype=np.int64),
        width=np.empty(depths, dtype=np.int64),
        following=np.empty(depths, dtype=np.int64),
        value=np.empty(depths),
        root=np.empty(matrices),
        chosen=np.empty(depths, dtype=np.int64),
    )


@part
def place(levels, d, count, i):
    """Insert a candidate of level d by its gain."""
    q = count
    while q > 0 and levels.gain[d, levels.candidates[d, q - 1]] < levels.gain[d, i]:
        levels.candidates[d, q] = levels.candidates[d, q - 1]
        q -= 1
    levels.candidates[d, q] = i


@part
def others_at(levels, d, p, needed, wanted):
    """What is chosen at level d + 1, and the best candidates of level d after p but one of those that are wanted."""
    upper = levels.value[d + 1]
    for q in range(p + 1, min(p + wanted, levels.width[d])):
        gain = levels.gain[d, levels.candidates[d, q]]
        upper += gain if q - p < needed else max(0.0, gain)
    return upper


@part
def choose_next(A, a, u, levels, d, p, least):
    """Choose candidate p of level d, and fill the next level with those after it that gain more than ``least``.

    Gains only fall, and candidates come in falling order of them, so that the first that gains less is the last.
    """
    j, kept = levels.candidates[d, p], 0
    for k in range(len(a)):
        levels.root[k] = 1.0 / np.sqrt(levels.variance[d, k, j])
    for q in range(p + 1, levels.width[d]):
        i = levels.candidates[d, q]
        if levels.gain[d, i] <= least:
            break
        gain = u[i]
        for k in range(len(a)):
            entry = A[k, j, i]
            for e in range(d):
                entry -= levels.factor[k, j, e] * levels.factor[k, i, e]
            entry *= levels.root[k]
            levels.factor[k, i, d] = entry
            # A ⪰ I, hence no conditional variance is below 1
            levels.variance[d + 1, k, i] = max(1.0, levels.variance[d, k, i] - entry * entry)
            gain += a[k] * np.log(levels.variance[d + 1, k, i])
        levels.gain[d + 1, i] = gain
        place(levels, d + 1, kept, i)
        kept += 1
    levels.width[d + 1], levels.following[d + 1] = kept, 0


@part
def reachable(levels, d, p, least, most):
    """The bound of what is chosen with one or more of the candidates from p on; too low where they are too few."""
    needed, upper = max(1, least - d), levels.value[d]
    if p + needed > levels.width[d]:
        return -np.inf
    for q in range(p, min(p + most - d, levels.width[d])):
        gain = levels.gain[d, levels.candidates[d, q]]
        if q - p >= needed and gain <= 0.0:
            break
        upper += gain
    return upper


@part
def keep(levels, d, goal, found, lengths, tally):
    """Note what is chosen down to level d if it is above the target; whether there was room for it."""
    if levels.value[d] <= goal[TARGET]:
        return True
    row = tally[FOUND]
    if row == len(lengths):
        return False
    for e in range(d):
        found[row, e] = levels.chosen[e]
    lengths[row] = d
    tally[FOUND] += 1
    goal[TARGET] = max(goal[TARGET], levels.value[d] + goal[LIFT])
    return True


@part
def begin(A, a, u, goal, levels):
    """The first level."""
    for i in range(len(u)):
        levels.gain[0, i] = u[i]
        for k in range(len(a)):
            levels.variance[0, k, i] = max(1.0, A[k, i, i])
            levels.gain[0, i] += a[k] * np.log(levels.variance[0, k, i])
        place(levels, 0, i, i)
    levels.value[0], levels.width[0], levels.following[0] = goal[BASE], len(u), 0


@kernel
def variance_search_kernel(A, a, u, goal, size, levels, found, lengths, tally, limit):
    """Search sets of size[0] to size[1] elements until the work reaches a limit; whether there was room for all found.

    It is over when the depth in the tally is negative, and goes on from it otherwise.
    """
    least, most, d = size[0], size[1], tally[DEPTH]
    if tally[WORK] == 0:
        begin(A, a, u, goal, levels)
        tally[WORK] = len(u)
        if least == 0:
            keep(levels, 0, goal, found, lengths, tally)
    while d >= 0 and tally[WORK] < limit:
        p = levels.following[d]
        if d == most or reachable(levels, d, p, least, most) <= goal[TARGET]:
            d -= 1
            continue
        j = levels.candidates[d, p]
        levels.following[d], levels.chosen[d] = p + 1, j
        levels.value[d + 1] = levels.value[d] + levels.gain[d, j]
        if d + 1 < most:
            choose_next(A, a, u, levels, d, p, goal[TARGET] - others_at(levels, d, p, least - d - 1, most - d - 1))
            tally[WORK] += levels.width[d + 1] + 1
        d += 1
        if d >= least and not keep(levels, d, goal, found, lengths, tally):
            return False
    tally[DEPTH] = d
    return True


@dataclass(frozen=True)
class VarianceGoal:
    """Sets above ``target`` are wanted; one that is found raises the target to its own value plus ``lift``."""

    target: float
    lift: float


def searched_by_variances(
    local: DeterminantNode, goal: VarianceGoal, limit: int, stop: Callable[[], bool]
) -> Masks | None:
    """All sets that may matter: every other set is at most as good as the target that the last of them leaves.

    None if more than ``limit`` conditional variances had to be computed, or time ran out.
    """
    m, d, k = local.m, local.most + 1, len(local.a)
    A = np.array(local.P) + np.eye(m)
    levels = levels_of(m, d, k)
    found, lengths = np.empty((KEPT, d), dtype=np.int64), np.empty(KEPT, dtype=np.int64)
    size, tally = np.array([local.least, local.most], dtype=np.int64), np.zeros(3, dtype=np.int64)
    wanted = np.array([local.base, goal.target, goal.lift])
    while tally[DEPTH] >= 0:
        if tally[WORK] >= limit or stop():
            return None
        pause = min(limit, int(tally[WORK]) + SLICE)
        if not variance_search_kernel(A, local.a, local.u, wanted, size, levels, found, lengths, tally, pause):
            return None
    masks = np.zeros((int(tally[FOUND]), m), dtype=bool)
    for row, members, length in zip(masks, found, lengths.tolist()):
        row[members[:length]] = True
    return masks
