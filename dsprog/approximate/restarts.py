"""What the approximate solvers share: many restarts as one batch, each value falling until it rests.

A method is a *step*: sets in, sets out. The loop below evaluates all proposals in one call, keeps those that are
better by more than rounding, and drops the rows that rest or have met another; so values never rise, whatever the
step does, and a limit or an interruption leaves the best set seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Ints, Masks, as_count
from dsprog.run.result import Verdict
from dsprog.run.run import Run

Step = Callable[[Ints, Masks], Masks]


def run_restarts(problem: Problem, run: Run, masks: Masks, step: Step, source: str, reason: str) -> Verdict:
    """Repeat ``step(rows, masks)`` until no row improves; ``reason`` says what is then true of every row.

    ``rows`` are the indices of the restarts that still move, so that a step can keep something for each.
    """
    objective = problem.objective
    masks, values = masks.copy(), objective.values(masks)
    run.offer(masks, values, source)
    moving = distinct(masks, np.arange(len(masks)))
    while len(moving):
        stopped = run.stop_reason()
        if stopped is not None:
            return Verdict(stopped)
        proposed = step(moving, masks[moving])
        proposed_values = objective.values(proposed)
        better = proposed_values < values[moving] - problem.slack
        nodes = run.nodes + len(moving)
        moving = moving[better]
        masks[moving], values[moving] = proposed[better], proposed_values[better]
        run.progress(nodes, 0, source)
        run.offer(masks[moving], values[moving], source)
        stopped = run.stop_reason()
        if stopped is not None:
            return Verdict(stopped)
        moving = distinct(masks, moving)
    return local(problem, reason)


def distinct(masks: Masks, rows: Ints) -> Ints:
    """The rows whose set no other of them has."""
    _, first = np.unique(np.packbits(masks[rows], axis=1), axis=0, return_index=True)
    return rows[np.sort(first)]


def local(problem: Problem, reason: str) -> Verdict:
    """The verdict of a method that came to rest."""
    if not problem.objective.is_certifiable:
        reason += " (f and g are not both known to be submodular, so the bounds that the method follows may fail)"
    return Verdict("local", reason=reason)


def check_restarts(restarts: int) -> None:
    """Raise unless there is at least one."""
    as_count(restarts, "restarts", least=1)


def check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    """Raise unless a named choice is one of those there are."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
