"""The state of a run that survives whatever stops it: limits, best sets, bound, trace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks, as_count
from dsprog.run.log import Log
from dsprog.run.result import Event, relative_gap

Callback = Callable[[Event], object]


@dataclass(frozen=True)
class Limits:
    """When to stop: seconds, nodes, and the relative gap to accept."""

    time_limit: float | None = None
    node_limit: int | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        if self.time_limit is not None and not (is_number(self.time_limit) and self.time_limit >= 0):
            raise ValueError(f"time_limit must be a number of seconds at least 0, got {self.time_limit!r}")
        if self.node_limit is not None:
            as_count(self.node_limit, "node_limit")
        if not (is_number(self.gap) and self.gap >= 0):
            raise ValueError(f"gap must be a number at least 0, got {self.gap!r}")


def is_number(value: object) -> bool:
    """Whether a value is a real number, NaN and infinity included."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


@dataclass(frozen=True)
class Verdict:
    """How a solver ended: a status of :data:`dsprog.run.result.STATUSES`, how its bound was proved, why not."""

    status: str
    proof: str = ""
    reason: str = ""


class Monitor:
    """The best sets so far and the bound proved so far.

    A solver reports feasible sets with :meth:`offer` and proved bounds with :meth:`raise_bound`, closes what is not
    better than :attr:`cutoff`, and asks :meth:`stop_reason` once a batch. Values and bound only ever improve, so an
    interruption at any point leaves a valid pair.
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits | None = None,
        seed: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        keeps: int = 1,
        within: float = math.inf,
    ) -> None:
        self.keeps, self.within = keeps, within
        self.pool: dict[bytes, tuple[float, Masks]] = {}
        self.problem, self.limits, self.callback = problem, limits or Limits(), callback
        self.rng, self.seed = np.random.default_rng(seed), seed
        self.mask: Masks | None = None
        self.value, self.lower_bound = math.inf, -math.inf
        self.nodes = self.open = 0
        self.cuts: int | None = None
        self.trace: list[Event] = []
        self._log = Log() if verbose else None
        self._started = time.perf_counter()
        self._last_line = -math.inf
        self._stopped_by_callback = False
        self.interrupted = False  # set by a solver that noticed Ctrl-C and has a bound to report first
        self.turn_ends = math.inf  # in seconds of the run, for solvers that take turns

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
    def seconds(self) -> float:
        """Since the run began, earlier parts of a resumed run included."""
        return time.perf_counter() - self._started

    @property
    def cutoff(self) -> float:
        """A node whose bound is at least this holds nothing worth finding: no gain beyond rounding or the gap."""
        if self.keeps > 1:
            last = max(value for value, _ in self.pool.values()) if len(self.pool) == self.keeps else math.inf
            return min(last - self.problem.slack, self.value + self.within + self.problem.slack)
        if math.isinf(self.value):
            return math.inf
        return self.value - max(self.limits.gap * abs(self.value), self.problem.slack)

    def offer(self, masks: Masks, values: Floats, source: str) -> bool:
        """Take the best of some feasible sets if it improves on the incumbent."""
        if len(values) == 0:
            return False
        if self.keeps > 1:
            self._keep(masks, values)
        best = int(np.argmin(values))
        if not values[best] < self.value:
            return False
        self.mask, self.value = masks[best].copy(), float(values[best])
        self._report(source, improved=True)
        return True

    def _keep(self, masks: Masks, values: Floats) -> None:
        """Enter sets into the pool of the best, each once; of equal values the first come stays."""
        for b in np.argsort(values, kind="stable"):
            full = len(self.pool) == self.keeps
            worst = max(self.pool, key=lambda key: self.pool[key][0]) if full else b""
            if full and values[b] >= self.pool[worst][0]:
                return
            key = masks[b].tobytes()
            if key not in self.pool:
                if full:
                    del self.pool[worst]
                self.pool[key] = (float(values[b]), masks[b].copy())

    def best_sets(self) -> tuple[Masks, Floats]:
        """The best sets and their values, best first."""
        if self.mask is None:
            return np.zeros((0, self.problem.n), dtype=bool), np.zeros(0)
        if self.keeps == 1:
            return self.mask[None, :], np.array([self.value])
        ranked = sorted(self.pool.values(), key=lambda entry: (entry[0], entry[1].tobytes()))
        return np.array([mask for _, mask in ranked]), np.array([value for value, _ in ranked])

    def resume(self, masks: Masks, values: Floats, nodes: int, seconds: float) -> None:
        """Take back what a checkpoint kept."""
        self.nodes = nodes
        self._started -= seconds
        self.offer(masks, values, "checkpoint")

    def raise_bound(self, lower_bound: float) -> None:
        """Take a proved lower bound on all feasible sets."""
        self.lower_bound = max(self.lower_bound, lower_bound)

    def progress(self, nodes: int, open: int, source: str = "") -> None:
        """Say how many nodes are done and open; a line at most once a second."""
        self.nodes, self.open = nodes, open
        if self.seconds - self._last_line >= 1.0:
            self._report(source, improved=False)

    def note(self, sentence: str) -> None:
        """Put a sentence into the log."""
        if self._log is not None:
            self._log.say(sentence)

    def pause(self, nodes: int, open: int, source: str) -> bool:
        """For long expansions: log the nodes done and open so far in this one, and say whether to stop early."""
        if self.seconds - self._last_line >= 1.0:
            done, self.nodes = self.nodes, self.nodes + nodes
            self._report(source, improved=False)
            self.nodes = done
        limit = self.limits.node_limit
        full = limit is not None and self.nodes + nodes >= limit
        return full or self.turn_is_over or self.stop_reason() is not None

    def _report(self, source: str, improved: bool) -> None:
        event = self._record(source, improved)
        if self.callback is not None and self.callback(event):
            self._stopped_by_callback = True

    def _record(self, source: str, improved: bool) -> Event:
        self._last_line = self.seconds
        event = Event(self._last_line, self.nodes, self.open, self.value, self.lower_bound, source, self.cuts)
        self.trace.append(event)
        if self._log is not None:
            self._log.write(event, improved)
        return event

    def finish(self, status: str) -> None:
        """The last event of the trace and the log: where the run ended, and why."""
        self._record(status, improved=False)

    def stop_reason(self) -> str | None:
        """The status to stop with, or None to go on."""
        limits = self.limits
        if self.interrupted:
            return "interrupted"
        if self._stopped_by_callback:
            return "callback"
        if limits.gap > 0 and relative_gap(self.value, self.lower_bound) <= limits.gap:
            return "gap"
        if limits.time_limit is not None and self.seconds >= limits.time_limit:
            return "time_limit"
        if limits.node_limit is not None and self.nodes >= limits.node_limit:
            return "node_limit"
        return None
