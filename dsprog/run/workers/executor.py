"""The small protocol between the supervisor and whoever runs the units.

An executor has some workers, each busy with at most one unit. It takes units while one is free, and reports what
happened: sets that were found, answers, and leases that will not be answered because their worker is gone. It knows
nothing of bounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from dsprog.core.validation import Floats, Masks
from dsprog.run.workers.unit import Job, Unit, UnitAnswer


@dataclass(frozen=True)
class SetsFound:
    """Sets that a worker reports ahead of its answer, and its bound if it works on a whole problem."""

    number: int
    masks: Masks
    values: Floats
    lower: float = -math.inf


@dataclass(frozen=True)
class Done:
    """The answer to a lease, and which worker gave it."""

    number: int
    answer: UnitAnswer
    worker: str


@dataclass(frozen=True)
class Lost:
    """A lease that will not be answered, and why."""

    number: int
    why: str


@dataclass(frozen=True)
class Failed:
    """A unit ended in an error of the program or of the user's functions, which another try would meet again."""

    number: int
    error: BaseException


News = SetsFound | Done | Lost | Failed


class WorkersGone(RuntimeError):
    """No worker is left, and none can be started."""


class Executor(ABC):
    """Workers, wherever they are."""

    size: int  # how many workers there are to be
    longest: float = 2.0  # seconds of a unit, once there is enough to do
    serial: int = 0  # of the last lease: no two searches have one of the same number

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def start(self, job: Job) -> None:
        """Send a search to all workers, and start those that are not there yet; returns at once."""

    @property
    @abstractmethod
    def ready(self) -> int:
        """How many workers are there."""

    @property
    @abstractmethod
    def free(self) -> int:
        """How many of them have nothing to do."""

    @abstractmethod
    def submit(self, number: int, unit: Unit) -> None:
        """Give the unit of a lease to a free worker."""

    @abstractmethod
    def poll(self, seconds: float) -> list[News]:
        """What happened; waits some seconds for the first news. WorkersGone if there will be none."""

    @abstractmethod
    def tell_cutoff(self, cutoff: float) -> None:
        """Let all workers know a better cutoff."""

    @abstractmethod
    def recall(self, number: int) -> None:
        """Ask for the unit of a lease back, with what is open."""

    def share(self, masks: Masks, values: Floats) -> None:
        """Let all workers have sets, where that can be done while they work."""
        return

    @abstractmethod
    def stop(self) -> None:
        """Ask for all units back at once."""

    @abstractmethod
    def replace(self, number: int) -> None:
        """Give up a worker that does not answer its lease, and start another in its place."""

    @abstractmethod
    def close(self) -> None:
        """End all workers that this executor started."""


class Guest(Executor):
    """Workers that belong to somebody else, and are sent units as they come; the search goes along with the first."""

    _running: dict[Any, Any]  # units on their way
    _job: bytes
    _known: int  # units sent so far, of which each may have been the first of a worker

    @property
    def free(self) -> int:
        """How many more units would be begun at once."""
        return max(0, self.size - len(self._running))

    def submit(self, number: int, unit: Unit) -> None:
        """Send a unit, with the search if it may be the first of a worker."""
        self._known += 1
        self._send(number, unit, self._job if self._known <= self.size else None)

    @abstractmethod
    def _send(self, number: int, unit: Unit, job: bytes | None) -> None:
        """Send a unit, and the search if there is one."""
