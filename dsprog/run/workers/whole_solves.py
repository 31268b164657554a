"""Whole solves as units: racers of a race, parts of a problem and restarts of a heuristic run beside each other.

A task is a solver and a problem. Its sets and bound come back while it runs, sets of others reach it where the executor
can send them, and a task whose worker is gone is begun again.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.oracle import count, count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.limits import Limits
from dsprog.run.result import Event
from dsprog.run.run import Run
from dsprog.run.signals import interruptions_noted
from dsprog.run.solver import Solver
from dsprog.run.workers.executor import Done, Executor, Failed, Lost, News, SetsFound
from dsprog.run.workers.link import Link
from dsprog.run.workers.unit import Unit, UnitAnswer

if TYPE_CHECKING:
    from dsprog.run.workers.crew import Crew

WAIT = 0.05  # seconds for news before limits are looked at again
LAST_WAIT = 0.4  # seconds for those that were stopped
PATIENCE = 3  # workers that a task may lose


@dataclass(frozen=True)
class Task:
    """A problem for a solver, with sets to begin from and some seconds."""

    problem: Problem
    solver: Solver
    seed: int | None
    masks: Masks
    values: Floats
    seconds: float = math.inf
    gap: float = 0.0
    keeps: int = 1
    within: float = math.inf


@dataclass(frozen=True)
class TaskJob:
    """Tasks as workers get them, once; a unit names one."""

    tasks: tuple[Task, ...]

    def desk(self, link: Link) -> TaskDesk:
        """Where a worker does tasks."""
        return TaskDesk(self.tasks, link)


@dataclass(frozen=True)
class TaskDesk:
    """One task after the other."""

    tasks: tuple[Task, ...]
    link: Link

    def work(self, number: int, unit: Unit) -> UnitAnswer:
        """Solve the task that a unit names."""
        task, link = self.tasks[int(unit.bundles[0]["task"][0])], self.link
        link.begin(number, math.inf)
        link.used = -math.inf  # sets come by themselves
        began, cpu, seconds = time.perf_counter(), time.thread_time(), min(task.seconds, unit.left)
        nodes = None if math.isinf(unit.nodes) else int(unit.nodes)
        limits = Limits(None if math.isinf(seconds) else seconds, nodes, task.gap)

        def tell(event: Event) -> None:
            masks, values = run.best_sets()
            link.report(masks, values, run.lower_bound)

        run = Run(task.problem, limits, seed=task.seed, keeps=task.keeps, within=task.within, callback=tell)
        run.best.take(task.masks, task.values)
        run.link = Listener(link, run)
        with count_oracle_calls() as tally:
            verdict = task.solver.solve(task.problem, run)
        found = run.best_sets()
        took = time.perf_counter() - began, time.thread_time() - cpu
        return UnitAnswer([], run.nodes, run.lower_bound, *found, *took, tally.calls, run.cuts, {}, verdict)


@dataclass
class Listener:
    """Lets a run have the sets that others found."""

    link: Link
    run: Run

    def called(self) -> bool:
        """Whether the expansion is to end: all stop."""
        return self.stopped()

    def stopped(self) -> bool:
        """Whether all stop; sets that came in are taken first."""
        while self.link.inbox:
            self.run.best.take(*self.link.inbox.popleft())
        return self.link.over()


Hear = Callable[[int, Masks, Floats, float], None]  # sets and bound of a task
Ended = Callable[[int, UnitAnswer], bool]  # the answer of a task; whether it ends all


@dataclass
class TaskForce:
    """Tasks beside each other, until all are done, one ends all, or the run says stop."""

    run: Run
    crew: Crew
    tasks: tuple[Task, ...]
    hear: Hear
    ended: Ended
    waiting: deque[int] = field(default_factory=deque)
    leased: dict[int, int] = field(default_factory=dict)  # lease -> task
    losses: dict[int, int] = field(default_factory=dict)
    over: bool = False

    @property
    def executor(self) -> Executor:
        """Of the crew."""
        return self.crew.executor

    def go(self) -> str | None:
        """Why the run stopped, if it did; what never came back is simply not reported."""
        self.executor.start(TaskJob(self.tasks))
        self.waiting.extend(range(len(self.tasks)))
        link, self.run.link = self.run.link, None
        try:
            with interruptions_noted(self.run):
                reason = self._loop()
                self._stop()
        finally:
            self.run.link = link
        return reason

    def _loop(self) -> str | None:
        while (self.waiting or self.leased) and not self.over:
            reason = self.run.stop_reason()
            if reason is not None:
                return reason
            while self.waiting and self.executor.free:
                self._submit(self.waiting.popleft())
            self._listen(WAIT)
        return None

    def _submit(self, k: int) -> None:
        self.executor.serial += 1
        self.leased[self.executor.serial] = k
        unit = Unit([{"task": np.array([k])}], math.inf, math.inf, self.run.seconds_left, self.run.nodes_left)
        self.executor.submit(self.executor.serial, unit)

    def _listen(self, seconds: float) -> None:
        for news in self.executor.poll(seconds):
            self._understand(news)
        self.run.progress(self.run.nodes, len(self.waiting) + len(self.leased), "workers")

    def _understand(self, news: News) -> None:
        if isinstance(news, Failed):
            raise news.error
        k = self.leased.get(news.number)
        if k is None:
            return
        if isinstance(news, SetsFound):
            self.hear(k, news.masks, news.values, news.lower)
            return
        del self.leased[news.number]
        if isinstance(news, Done):
            count(news.answer.calls)
            self.run.nodes += news.answer.nodes
            self.crew.credit(news.worker, news.answer, -math.inf)
            self.over |= self.ended(k, news.answer)
        elif isinstance(news, Lost):
            self.losses[k] = self.losses.get(k, 0) + 1
            if self.losses[k] < PATIENCE:
                self.waiting.append(k)

    def _stop(self) -> None:
        """What still runs is told to stop, and has a moment to say how far it came."""
        if self.leased:
            self.executor.stop()
        until = time.perf_counter() + LAST_WAIT
        while self.leased and time.perf_counter() < until:
            self._listen(max(0.0, until - time.perf_counter()))
