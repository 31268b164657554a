"""Local search: change one or two elements while that helps.

With marginals at S at hand, all n flips of S are known at once. A round therefore tries not only the best flip but the
2, 4, 8, ... best together and keeps the best set of these, so that a distant optimum is a dozen rounds away and not n;
it rests only where no single flip improves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsprog.approximate.exchanges import exchange_descent
from dsprog.approximate.greedy import offer_greedy_sets
from dsprog.approximate.restarts import Step, check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import feasible_sets, frame_of, starting_sets
from dsprog.core.problem import Problem
from dsprog.core.set_function import CHUNK, SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

Feasible = Callable[[Masks], Masks]
SHARE = 0.1  # of the time that is left, for the descents between two looks at the clock
NO_FLIP = "no single flip improves"
NO_SWAP = "no single flip and no exchange of two elements improves"


def flip_changes(
    objective: SetFunction, masks: Masks, feasible: Feasible | None, slack: float, tilt: Floats | float = 0.0
) -> Floats:
    """v(S △ j) - v(S) for every S and j, and infinity where the flip is not feasible or does not gain ``slack``."""
    marginals = objective.marginals(masks) + tilt
    changes = np.where(masks, -marginals, marginals)
    changes[changes >= -slack] = np.inf
    if feasible is not None:
        keep_feasible_flips(changes, masks, feasible)
    return changes


def keep_feasible_flips(changes: Floats, masks: Masks, feasible: Feasible) -> None:
    """Set the finite changes of infeasible flips to infinity, looking at a bounded number of sets at a time."""
    rows, elements = np.nonzero(np.isfinite(changes))
    size = max(1, CHUNK // max(1, masks.shape[1]))
    for first in range(0, len(rows), size):
        b, j = rows[first : first + size], elements[first : first + size]
        flipped = masks[b]
        flipped[np.arange(len(b)), j] ^= True
        bad = ~feasible(flipped)
        changes[b[bad], j[bad]] = np.inf


def bold_flips(
    objective: SetFunction, masks: Masks, changes: Floats, feasible: Feasible | None, tilt: Floats | None = None
) -> tuple[Masks, Floats]:
    """For each set the best of what comes of its 1, 2, 4, 8, ... best flips at once, with its value; or the set itself.

    The first flip alone is feasible and improves by its change, so the best of all is at least as good.
    """
    batch, n = masks.shape
    order = np.argsort(changes, axis=1)
    improving = np.isfinite(changes).sum(axis=1)
    steps = 1 << np.arange(max(1, int(improving.max(initial=0))).bit_length())
    tries = np.repeat(masks[:, None, :], len(steps), axis=1)
    for k, step in enumerate(steps):
        flips = order[:, :step]
        counted = np.arange(flips.shape[1]) < improving[:, None]
        rows = np.repeat(np.arange(batch), flips.shape[1]).reshape(flips.shape)[counted]
        tries[rows, k, flips[counted]] ^= True
    flat = tries.reshape(batch * len(steps), n)
    values = objective.values(flat).reshape(batch, len(steps))
    if tilt is not None:
        values += (tries @ tilt[:, :, None])[:, :, 0]
    if feasible is not None:
        values[:, 1:][~feasible(flat).reshape(values.shape)[:, 1:]] = np.inf
    best = values.argmin(axis=1)
    return tries[np.arange(batch), best], values[np.arange(batch), best]


def descend(
    objective: SetFunction,
    masks: Masks,
    slack: float,
    feasible: Feasible | None = None,
    stop: Callable[[], bool] | None = None,
    tilt: Floats | None = None,
) -> tuple[Masks, Floats]:
    """One-flip descent of a batch of (feasible) sets; values never rise, rounds are all rows together.

    Parameters
    ----------
    objective : SetFunction
    masks : (B, n) boolean array
        Left as it is.
    slack : float
        What counts as rounding: a flip must gain more.
    feasible : callable, optional
        Says of each row of a boolean array whether it may be visited, as ``problem.feasible`` does.
    stop : callable, optional
        Asked once a round; a true answer ends the descent even if a flip still improves.
    tilt : (B, n) array, optional
        A modular function for each row, added to the objective.

    Returns
    -------
    masks, values
        Sets that no feasible flip improves by more than ``slack``, and their values.
    """
    masks, values = masks.copy(), objective.values(masks)
    if tilt is not None:
        values += (masks * tilt).sum(axis=1)
    moving = np.arange(len(masks))
    while len(moving) and not (stop is not None and stop()):
        changes = flip_changes(objective, masks[moving], feasible, slack, 0.0 if tilt is None else tilt[moving])
        some = np.isfinite(changes).any(axis=1)
        moving, changes = moving[some], changes[some]
        tilted = None if tilt is None else tilt[moving]
        proposed, proposed_values = bold_flips(objective, masks[moving], changes, feasible, tilted)
        better = proposed_values < values[moving]
        moving = moving[better]
        masks[moving], values[moving] = proposed[better], proposed_values[better]
    return masks, values


def offer_local_optima(problem: Problem, run: Run, count: int) -> None:
    """Descend from some feasible sets before an exact search, as far as the limits allow.

    All at once without a time limit; with one, a single set goes first, and as many follow together as its cost allows.
    """
    starts = feasible_sets(problem, run.mask, np.random.default_rng(run.seed or 0), count)
    feasible = problem.feasible if len(problem.rows) else None
    first, size = 0, len(starts) if math.isinf(run.seconds_left) else 1
    while first < len(starts) and (first == 0 or run.stop_reason() is None):
        began, these = run.seconds, starts[first : first + size]
        found = descend(problem.objective, these, problem.slack, feasible, lambda: run.stop_reason() is not None)
        run.offer(*found, "local search")
        first, each = first + size, (run.seconds - began) / size
        size = max(1, int(min(2 * size, SHARE * run.seconds_left / max(each, 1e-6))))  # larger sets may cost more


def then_flip(problem: Problem, step: Step) -> Step:
    """A step that takes the best flips where ``step`` does not improve, and so rests only where no flip improves.

    With f and g submodular and inner problems solved exactly, chains through the best flips make sure of this already;
    rounding, an inner problem cut short or a function of unknown structure could break it.
    """
    objective, feasible = problem.objective, problem.feasible if problem.constraints else None

    def step_or_flip(rows: Ints, masks: Masks) -> Masks:
        proposed = step(rows, masks)
        resting = objective.values(proposed) >= objective.values(masks) - problem.slack
        changes = flip_changes(objective, masks[resting], feasible, problem.slack)
        proposed[resting], _ = bold_flips(objective, masks[resting], changes, feasible)
        return proposed

    return step_or_flip


@dataclass(frozen=True)
class LocalSearch(Solver):
    """Descend from many sets at once by flips, by flips and exchanges, or by a tabu walk.

    Parameters
    ----------
    moves : {"flip", "swap", "tabu"}, optional
        "flip" adds or removes one element, or several where that is better still. "swap" also exchanges a member for
        an outsider: the default under constraints, which may forbid every flip. "tabu" takes the best flip even where
        it is worse, never back for a while, for ``steps`` steps, and descends from the best set met.
    restarts : int
        The first starts are the initial set if given, the least and the largest feasible set; the others are random.
        Under constraints the sets that :class:`Greedy` finds come first, so that none worse is returned.
    steps : int
        Of the tabu walk.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, [0, 1, 2, 2, 2]) - ds.Modular([0.9, 0.8, 0.9, 0.8])
    >>> result = ds.minimize(objective, ds.LocalSearch(), seed=0)
    >>> result.S, round(result.value, 6), result.status
    ((0, 1, 2, 3), -1.4, 'local')
    """

    moves: str | None = None
    restarts: int = 20
    steps: int = 200

    def __post_init__(self) -> None:
        if self.moves is not None:
            check_choice(self.moves, "moves", ("flip", "swap", "tabu"))
        check_restarts(self.restarts)
        as_count(self.steps, "steps", least=1)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All restarts as one batch."""
        if frame_of(problem).empty:
            return Verdict("infeasible")
        feasible = problem.feasible if problem.constraints else None
        moves = self.moves or ("swap" if problem.constraints else "flip")
        if problem.constraints:
            offer_greedy_sets(problem, run)
        masks = starting_sets(problem, run, self.restarts)
        if moves == "tabu":
            masks, stopped = tabu_walk(problem, run, masks, feasible, self.steps)
            if stopped is not None:
                return Verdict(stopped)

        def flip(rows: Ints, masks: Masks) -> Masks:
            changes = flip_changes(problem.objective, masks, feasible, problem.slack)
            return bold_flips(problem.objective, masks, changes, feasible)[0]

        def flip_or_swap(rows: Ints, masks: Masks) -> Masks:
            flipped = flip(rows, masks)
            values = problem.objective.values(masks)
            for b in np.flatnonzero((flipped == masks).all(axis=1)):
                flipped[b], _ = exchange_descent(problem, masks[b], values[b], lambda: run.stop_reason() is not None)
            return flipped

        step, reason = (flip_or_swap, NO_SWAP) if moves == "swap" else (flip, NO_FLIP)
        return run_restarts(problem, run, masks, step, moves, reason)


def tabu_walk(
    problem: Problem, run: Run, masks: Masks, feasible: Feasible | None, steps: int
) -> tuple[Masks, str | None]:
    """The best set of each walk, and the reason to stop early if there was one.

    A flipped element rests for n/10 + 1 to n/5 + 4 steps, unless flipping it back beats the walk's best.
    """
    objective, (batch, n) = problem.objective, masks.shape
    rows, current, values = np.arange(batch), masks.copy(), objective.values(masks)
    best, best_values, free_at = current.copy(), values.copy(), np.zeros((batch, n), dtype=int)
    run.offer(best, best_values, "tabu")
    for now in range(1, steps + 1 if n else 0):
        stopped = run.stop_reason()
        if stopped is not None:
            return best, stopped
        changes = flip_changes(objective, current, feasible, -np.inf)
        resting = (free_at > now) & (values[:, None] + changes >= best_values[:, None] - problem.slack)
        changes[resting] = np.inf
        flips = changes.argmin(axis=1)
        walking = rows[np.isfinite(changes[rows, flips])]
        current[walking, flips[walking]] ^= True
        values = objective.values(current)
        free_at[walking, flips[walking]] = now + run.rng.integers(n // 10 + 2, n // 5 + 6, len(walking))
        better = values < best_values - problem.slack
        best[better], best_values[better] = current[better], values[better]
        run.progress(run.nodes + batch, 0, "tabu")
        run.offer(best, best_values, "tabu")
    return best, None
