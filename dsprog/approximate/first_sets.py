"""The first sets of an exact search: greedy, local optima, exchanges, and what comes after a kick.

Under |S| = k no flip is feasible and under |S| <= k none that helps, so that flips alone leave random sets as they are.
With rows the start is therefore greedy (by gain, and by gain for cost), then exchanges; and where the rows hold the
best set back, some of its members are thrown out, greedy fills the room, and exchanges go on from there, a few times.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from dsprog.approximate.exchanges import exchange_descent, exchanged, neighbour_values, without_each
from dsprog.approximate.greedy import grow, offer_greedy_sets
from dsprog.approximate.local_search import offer_local_optima
from dsprog.approximate.starts import frame_of
from dsprog.core.oracle import count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.run.run import Run

SHARE = 0.1  # of the time that is left, for kicks
KICKS = 60  # at most
FAILURES = 24  # kicks in a row without a better set, after which there are no more
WORTH = 80_000  # values asked for, after which there are no more kicks
PAIRS = 120  # pairs of members up to which all are thrown out at once
TOGETHER = 4  # lots of members that are thrown out together
EXPLORED = 64  # sets whose neighbours are listed, at most


def offer_first_sets(problem: Problem, run: Run, count: int) -> None:
    """Offer good feasible sets to the run, as far as its limits allow; ``count`` local searches, none for 0.

    Without rows these are local optima of flips. With rows the best set offered is at least as good as greedy and as
    what exchanges make of it. Where several sets are listed, neighbours of the best ones fill the list.
    """
    if count == 0:
        return
    if len(problem.rows):
        offer_greedy_sets(problem, run)
        if 2 * frame_of(problem).smallest > problem.n:
            offer_greedy_sets(problem, run, "backward")
    offer_local_optima(problem, run, count)
    if len(problem.rows) and run.mask is not None:
        offer_exchanges(problem, run)
        if held_back(problem, run.mask):
            offer_kicked(problem, run)
    if run.lists:
        offer_neighbours(problem, run)


def offer_exchanges(problem: Problem, run: Run) -> None:
    """Offer what exchanges, additions and removals make of the best set."""
    if run.mask is not None:
        mask, value = exchange_descent(problem, run.mask, run.value, lambda: run.stop_reason() is not None)
        run.offer(mask[None], np.array([value]), "exchange")


def held_back(problem: Problem, mask: Masks) -> bool:
    """Whether a flip that the rows forbid would improve a set that no feasible flip improves."""
    marginals = problem.objective.marginals(mask[None])[0]
    return bool((np.where(mask, -marginals, marginals) < -problem.slack).any())


def offer_kicked(problem: Problem, run: Run) -> None:
    """Throw out members of the best set, fill the room by greedy, exchange; all pairs first, where they are few.

    How often is decided by the values asked for, fewer than there are sets, and not by the clock, unless there is a
    time limit.
    """
    rng, until = np.random.default_rng(run.seed or 0), run.seconds + SHARE * run.seconds_left

    def stop() -> bool:
        return run.stop_reason() is not None or run.seconds > until

    worth, failures = min(WORTH, frame_of(problem).count), 0
    with count_oracle_calls() as tally:
        for kick in range(KICKS):
            if stop() or tally.calls > worth or failures > FAILURES or run.mask is None:
                break
            before = run.value
            members = np.flatnonzero(run.mask)
            if kick == 0 and len(members) >= 2 and math.comb(len(members), 2) <= PAIRS:
                thrown = np.array(list(itertools.combinations(members, 2)))
                noise = np.ones((len(thrown), problem.n))
            else:
                size = min(len(members), 2 + int(rng.integers(0, 3 + len(members) // 2)))
                thrown = np.array([rng.permutation(members)[:size] for _ in range(TOGETHER)])
                noise = rng.uniform(0.5, 1.0, (TOGETHER, problem.n))
            masks, values = refilled(problem, run, thrown, noise)
            if len(values):
                best = int(values.argmin())
                mask, value = exchange_descent(problem, masks[best], float(values[best]), stop)
                run.offer(mask[None], np.array([value]), "exchange")
            failures = 0 if run.value < before - problem.slack else failures + 1


def refilled(problem: Problem, run: Run, thrown: Ints, noise: Floats) -> tuple[Masks, Floats]:
    """The best set without each of some lots of members, filled by greedy: the feasible ones and their values."""
    frame, trial = frame_of(problem), run.trial()
    assert run.mask is not None
    masks = np.repeat(run.mask[None], len(thrown), axis=0)
    np.put_along_axis(masks, thrown, False, axis=1)
    masks |= frame.include
    open_ended = frame.extensible(masks)
    masks = grow(problem.objective, frame, masks[open_ended], noise[open_ended], problem.slack, trial, backward=False)
    masks = masks[problem.feasible(masks) & (masks != run.mask).any(axis=1)]
    return masks, problem.objective.values(masks)


def offer_neighbours(problem: Problem, run: Run) -> None:
    """Fill the list of best sets with neighbours, by one flip or exchange, of those that are in it, best first."""
    explored: set[bytes] = set()
    while len(explored) < EXPLORED and run.stop_reason() is None:
        waiting = [mask for mask in run.best_sets()[0] if mask.tobytes() not in explored]
        if not waiting:
            break
        mask = waiting[0]
        explored.add(mask.tobytes())
        bases = np.concatenate([mask[None, :], without_each(mask, np.flatnonzero(mask))])
        values = neighbour_values(problem, bases)
        order = np.argsort(values, axis=None)[: 2 * run.best.keeps]
        picked = [divmod(int(p), values.shape[1]) for p in order if np.isfinite(values.flat[p])]
        masks = np.array([exchanged(bases[b], j) for b, j in picked], dtype=bool).reshape(-1, problem.n)
        masks = masks[problem.feasible(masks)]
        run.offer(masks, problem.objective.values(masks), "neighbours")
