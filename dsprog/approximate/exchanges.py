"""Exchanges: one out and one in, under any rows.

v(S - i + j) = v(S - i) + v(j | S - i), so a row of marginals at S - i prices all exchanges of i, the addition of
nothing among them; a row at S prices all additions. Which of these sets are feasible is read off the rows, since j
changes a_r(S - i) by a_rj.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.problem import Problem
from dsprog.core.rows import kept_with
from dsprog.core.validation import Floats, Ints, Masks

BLOCK = 32  # members whose exchanges are priced together


def feasible_additions(rows: LinearRows, masks: Masks) -> Masks:
    """Whether S ∪ j keeps the rows, for every S and every j outside it, as :meth:`LinearRows.satisfied` has it."""
    activity, size = rows.activity(masks)
    return ~masks & kept_with(rows, activity, activity, size, one_way=False)


def neighbour_values(problem: Problem, masks: Masks) -> Floats:
    """(B, n + 1): the values of S ∪ j for j outside each S, and last that of S itself; infinite if not feasible."""
    alone = problem.objective.values(masks)
    values = np.empty((len(masks), problem.n + 1))
    values[:, :-1] = alone[:, None] + problem.objective.marginals(masks)
    values[:, :-1][~feasible_additions(problem.rows, masks)] = np.inf
    values[:, -1] = np.where(problem.feasible(masks), alone, np.inf)
    return values


def without_each(mask: Masks, removed: Ints) -> Masks:
    """S - i for each of some members i."""
    masks = np.repeat(mask[None, :], len(removed), axis=0)
    masks[np.arange(len(removed)), removed] = False
    return masks


def exchanged(mask: Masks, j: int) -> Masks:
    """S ∪ j, or S itself where j stands for nothing."""
    changed = mask.copy()
    if j < len(mask):
        changed[j] = True
    return changed


def exchange_descent(problem: Problem, mask: Masks, value: float, stop: Callable[[], bool]) -> tuple[Masks, float]:
    """Exchange, add or remove elements while that gains more than rounding and nobody says stop.

    Members are tried some at a time, in turn, and the best set that comes of these is taken, so that an improvement
    costs a few rows of marginals where many members could be exchanged.
    """
    begin = tried = 0
    while not stop():
        members = np.flatnonzero(mask)
        if tried > len(members):
            break
        begin %= max(1, len(members))
        removed = np.roll(members, -begin)[:BLOCK]
        bases = np.concatenate([mask[None, :], without_each(mask, removed)])  # additions are priced beside each block
        values = neighbour_values(problem, bases)
        values[np.arange(1, len(bases)), removed] = np.inf  # back to S
        values[0, -1] = np.inf
        b, j = np.unravel_index(int(values.argmin()), values.shape)
        candidate = exchanged(bases[b], int(j))
        better = values[b, j] < value - problem.slack
        reached = float(problem.objective.values(candidate[None])[0]) if better else np.inf
        begin, tried = begin + len(removed), tried + max(1, len(removed))
        if reached < value - problem.slack:
            mask, value, tried = candidate, reached, 0
    return mask, value
