"""The run: limits, clock, best sets, bound, trace and checkpoint, in one object that every solver gets.

A solver reports feasible sets with :meth:`Run.offer` and proved bounds with :meth:`Run.raise_bound`, closes what is
not better than :attr:`Run.cutoff`, and asks :meth:`Run.stop_reason` once a batch. Values and bound only ever improve,
so that an interruption at any point leaves a valid pair.

A part of a problem gets a part of the run (:meth:`Run.part`), and an attempt that must not take long a run of its own
(:meth:`Run.trial`); both stop when the whole does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.checkpoint import Section
from dsprog.run.clock import Clock
from dsprog.run.incumbents import Incumbents
from dsprog.run.limits import Limits
from dsprog.run.log import Log
from dsprog.run.result import Event, Staff, relative_gap

if TYPE_CHECKING:
    from dsprog.run.workers.crew import Crew

Callback = Callable[[Event], object]
SECONDS_BETWEEN_LINES = 1.0


class Caller(Protocol):
    """Somebody outside who may want an expansion to end early, or all to stop."""

    def called(self) -> bool:
        """Whether the open nodes of an expansion are wanted."""

    def stopped(self) -> bool:
        """Whether all stop."""


class Run:
    """What is known so far, and when to stop.

    Parameters
    ----------
    problem : Problem
    limits : Limits, optional
    seed : int, optional
        For solvers that draw random numbers: ``rng``.
    log : Log, optional
        Where lines go.
    callback : callable, optional
        Gets an :class:`Event` at every improvement and about once a second; a true answer stops the run.
    keeps, within : int, float
        How many best sets are kept, and how far above the best one they may lie.
    checkpoint : Section, optional
        Where searches keep what they need to go on.
    parent : Run, optional
        The run that this one is a part of.
    crew : Crew, optional
        Workers that share its searches.
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits | None = None,
        *,
        seed: int | None = None,
        log: Log | None = None,
        callback: Callback | None = None,
        keeps: int = 1,
        within: float = math.inf,
        checkpoint: Section | None = None,
        parent: Run | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.problem, self.limits, self.callback = problem, limits or Limits(), callback
        self.best, self.within = Incumbents(keeps), within
        self.checkpoint, self.parent, self.crew = checkpoint, parent, crew
        self.link: Caller | None = crew
        self.staff: Staff | None = None
        self.rng, self.seed = np.random.default_rng(seed), seed
        self.lower_bound = -math.inf
        self.nodes = self.open = 0
        self.cuts: int | None = None
        self.trace: list[Event] = []
        self.solvers: list[str] = []  # who worked on it, in order
        self.interrupted = False  # set by a method that noticed Ctrl-C and has a bound to report first
        self.turn_ends = math.inf  # in seconds of the run, for solvers that take turns
        self.elsewhere = (0, math.inf)  # open nodes outside the present expansion, and what they and closed ones prove
        self._log = log
        self.earlier_seconds = 0.0  # of the run that a checkpoint was resumed from
        self._clock = Clock()
        self._last_line = -math.inf
        self._stopped_by_callback = False

    # -- parts ------------------------------------------------------------------------------------------------------

    def part(self, problem: Problem, name: str, callback: Callback, nodes: int = 0) -> Run:
        """A run for a part of the problem, with what is left of the limits; ``nodes`` were spent on other parts."""
        return Run(
            problem,
            self.limits.after(self.seconds, nodes),
            seed=self.seed,
            callback=callback,
            keeps=self.best.keeps,
            within=self.within,
            checkpoint=None if self.checkpoint is None else self.checkpoint.part(name),
            parent=self,
            crew=self.crew,
        )

    def trial(self, seconds: float = math.inf) -> Run:
        """A run for an attempt on the same problem that may take some seconds; it begins with the best set so far."""
        limit = min(seconds, self.seconds_left)
        run = Run(self.problem, Limits(limit if math.isfinite(limit) else None), seed=self.seed, parent=self)
        run.best.take(*self.best_sets())
        return run

    @contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """A block in which a search stops after some seconds, because it is another's turn."""
        self.turn_ends = self.seconds + seconds
        try:
            yield
        finally:
            self.turn_ends = math.inf

    # -- time -------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Since the run began, compilation of kernels not counted."""
        return self._clock.seconds

    @property
    def total_seconds(self) -> float:
        """With those of the run that was resumed."""
        return self.earlier_seconds + self.seconds

    @property
    def turn_is_over(self) -> bool:
        """Whether it is another solver's turn."""
        return self.seconds >= self.turn_ends

    @property
    def seconds_left(self) -> float:
        """Until the time limit or the end of the turn."""
        limit = math.inf if self.limits.time_limit is None else self.limits.time_limit
        return max(0.0, min(limit, self.turn_ends) - self.seconds)

    @property
    def nodes_left(self) -> float:
        """Until the node limit."""
        return math.inf if self.limits.node_limit is None else max(0, self.limits.node_limit - self.nodes)

    # -- sets and bounds --------------------------------------------------------------------------------------------

    @property
    def mask(self) -> Masks | None:
        """The best set, if there is one."""
        return self.best.mask

    @property
    def value(self) -> float:
        """Its value; infinite without one."""
        return self.best.value

    @property
    def lists(self) -> bool:
        """Whether several best sets are wanted, so that none of them may be cut off for being no better."""
        return self.best.keeps > 1

    @property
    def cutoff(self) -> float:
        """A node whose bound is at least this holds nothing worth finding: no gain beyond rounding or the gap."""
        slack = self.problem.slack
        if self.lists:
            return min(self.best.last - slack, math.nextafter(self.value + self.within + slack, math.inf))
        if math.isinf(self.value):
            return math.inf
        return self.value - max(self.limits.gap * abs(self.value), slack)

    @property
    def tolerance(self) -> float:
        """How far below the best value a bound may stay and still prove it: rounding, in value and in bound."""
        return 2.0 * self.problem.slack

    def offer(self, masks: Masks, values: Floats, source: str) -> bool:
        """Take feasible sets; whether the best one improves on all before."""
        better = self.best.take(masks, values)
        if better:
            self._report(source, improved=True)
        return better

    def best_sets(self) -> tuple[Masks, Floats]:
        """The best sets and their values, best first."""
        return self.best.sets(self.problem.n)

    def raise_bound(self, lower_bound: float) -> None:
        """Take a proved lower bound on all feasible sets."""
        self.lower_bound = max(self.lower_bound, float(lower_bound))

    def resume(self, masks: Masks, values: Floats, nodes: int, seconds: float) -> None:
        """Take back what a checkpoint kept: node limits count what was done before, time limits do not."""
        self.nodes = nodes
        run: Run | None = self
        while run is not None:
            run.earlier_seconds += seconds
            run = run.parent
        self.say(f"resumed after {seconds:.1f} s and {nodes:,} nodes, which node_limit counts and time_limit does not")
        self.offer(masks, values, "checkpoint")

    # -- progress ---------------------------------------------------------------------------------------------------

    def progress(self, nodes: int, open: int, source: str = "") -> None:
        """Say how many nodes are done and open; a line at most once a second."""
        self.nodes, self.open = nodes, open
        if self.seconds - self._last_line >= SECONDS_BETWEEN_LINES:
            self._report(source, improved=False)

    def pause(self, nodes: int, source: str, frontier: Callable[[], tuple[int, float]]) -> bool:
        """For long expansions: log what was done so far in this one, and say whether to stop early.

        ``frontier`` says how many nodes are open in this expansion and what they and its closed ones prove; it is asked
        once a second.
        """
        if self.seconds - self._last_line >= SECONDS_BETWEEN_LINES:
            done = self.nodes
            here, lower = frontier()
            self.open = self.elsewhere[0] + here
            self.raise_bound(min(self.elsewhere[1], lower, self.value))
            self.nodes = done + nodes
            self._report(source, improved=False)
            self.nodes = done
        due = self.checkpoint is not None and self.checkpoint.due()  # the driver saves between two expansions
        called = self.link is not None and self.link.called()
        return due or called or nodes >= self.nodes_left or self.turn_is_over or self.stop_reason() is not None

    @property
    def logs(self) -> bool:
        """Whether there is a log."""
        return self._log is not None

    def say(self, sentence: str) -> None:
        """Put a sentence into the log."""
        if self._log is not None:
            self._log.say(sentence)

    def finish(self, status: str) -> None:
        """The last event of the trace and the log: where the run ended, and why."""
        self._record(status, improved=False)

    def close(self) -> None:
        """Leave the log as a reader wants to find it, however the run ended."""
        if self._log is not None:
            self._log.close()

    def _report(self, source: str, improved: bool) -> None:
        event = self._record(source, improved)
        if self.callback is not None and self.callback(event):
            self._stopped_by_callback = True

    def _record(self, source: str, improved: bool) -> Event:
        self._last_line = self.seconds
        known = self.value, self.lower_bound
        event = Event(self._last_line, self.nodes, self.open, *known, source, self.cuts, self.staff)
        self.trace.append(event)
        if self._log is not None:
            self._log.write(event, improved)
        return event

    def stop_reason(self) -> str | None:
        """The status to stop with, or None to go on."""
        if self.interrupted or (self.link is not None and self.link.stopped()):
            return "interrupted"
        if self._stopped_by_callback:
            return "callback"
        if self.limits.gap > 0 and relative_gap(self.value, self.lower_bound) <= self.limits.gap:
            return "gap"
        if self.limits.time_limit is not None and self.seconds >= self.limits.time_limit:
            return "time_limit"
        if self.limits.node_limit is not None and self.nodes >= self.limits.node_limit:
            return "node_limit"
        return None if self.parent is None else self.parent.stop_reason()
