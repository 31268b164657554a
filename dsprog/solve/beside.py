"""Work that workers do beside each other: parts of a problem, and restarts of a heuristic.

Both begin here, and go to workers only once they have lasted longer than it takes to start them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.milp.programme import ProgrammeFailed
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.run.workers.unit import UnitAnswer
from dsprog.run.workers.whole_solves import Task

LASTING = 0.3  # seconds of work here before workers are asked
SECONDS_OF_A_PART = 2.0  # what is not done by then is searched by all workers together


def pays(run: Run, began: float) -> bool:
    """Whether there are workers, and the work has lasted a while since ``began``."""
    return run.crew is not None and run.crew.can_take_tasks and run.seconds - began >= LASTING


def solve_beside(run: Run, tasks: Sequence[Task], end: Callable[[int, UnitAnswer], None]) -> str | None:
    """Tasks beside each other; ``end`` gets each answer. Why the run stopped, if it did."""
    if run.crew is None:
        return None

    def hear(k: int, masks: Masks, values: Floats, lower: float) -> None:
        """Sets of a part alone say nothing yet."""

    def ended(k: int, answer: UnitAnswer) -> bool:
        end(k, answer)
        return False

    try:
        return run.crew.do(run, tasks, hear, ended)
    except ProgrammeFailed:  # whoever asked for the tasks does what is left, and knows another solver
        return None


def part_task(problem: Problem, solver: Solver, run: Run, mask: Masks) -> Task:
    """A part for a worker, with its set to begin from if that is feasible."""
    masks = mask[None][problem.feasible(mask[None])]
    return Task(problem, solver, run.seed, masks, problem.objective.values(masks), SECONDS_OF_A_PART)


def solve_with_restarts(solver: Solver, problem: Problem, run: Run) -> Verdict:
    """A heuristic with restarts: as many as one of all workers would get here, the others where there are workers."""
    restarts = getattr(solver, "restarts", 1)
    if run.crew is None or restarts < 2:
        return solver.solve(problem, run)
    began, first = run.seconds, math.ceil(restarts / run.crew.executor.size)
    verdict = with_restarts(solver, first).solve(problem, run)
    rest = restarts - first
    if rest == 0 or verdict.status != "local":
        return verdict
    if not pays(run, began):
        return with_restarts(solver, rest).solve(problem, run)
    tasks = [
        Task(problem, with_restarts(solver, size), seed, *run.best_sets(), run.seconds_left)
        for size, seed in zip(shares(rest, first), seeds(run.seed, rest))
    ]
    done: list[int] = []

    def end(k: int, answer: UnitAnswer) -> None:
        done.append(k)
        run.offer(answer.masks, answer.values, "workers")

    reason = solve_beside(run, tasks, end)
    for k in () if reason else sorted(set(range(len(tasks))) - set(done)):  # workers that were lost
        tasks[k].solver.solve(problem, run)
    return verdict if reason is None else Verdict(reason)


def with_restarts(solver: Any, restarts: int) -> Solver:
    """The same solver with so many restarts."""
    changed: Solver = dataclasses.replace(solver, restarts=restarts)
    return changed


def shares(total: int, size: int) -> list[int]:
    """A number as a sum of shares.

    >>> shares(7, 3)
    [3, 3, 1]
    """
    return [min(size, total - first) for first in range(0, total, size)]


def seeds(seed: int | None, count: int) -> list[int | None]:
    """Seeds that follow from one, or none."""
    if seed is None:
        return [None] * count
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(count)]
