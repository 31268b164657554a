"""What a worker hears and says while it works.

A worker's run asks its link at every batch: is the unit over, is there a better cutoff, does all stop. How the words
travel is the executor's business: shared memory here, a broadcast on a cluster.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque

from dsprog.core.validation import Floats, Masks

LEAST_SECONDS = 0.02  # of a unit, before a call to hand back is heard: a round trip costs a millisecond


class Link(ABC):
    """The worker's side of an executor, for one unit after the other."""

    def __init__(self) -> None:
        self.number, self.seconds, self.began, self.used = 0, math.inf, 0.0, math.inf
        self.inbox: deque[tuple[Masks, Floats]] = deque()  # sets of others, for whole solves

    def begin(self, number: int, seconds: float) -> None:
        """A unit begins that may take some seconds."""
        self.number, self.seconds, self.began, self.used = number, seconds, time.perf_counter(), math.inf
        self.inbox.clear()

    @property
    def elapsed(self) -> float:
        """Seconds since the unit began."""
        return time.perf_counter() - self.began

    def over(self) -> bool:
        """Whether to hand back what is open: time is up, or another worker has nothing to do."""
        return self.elapsed >= self.seconds or (self.elapsed >= LEAST_SECONDS and self.recalled()) or self.stopped()

    def called(self) -> bool:
        """Whether to leave an expansion: the unit is over, or there is a better cutoff than the one in use."""
        return self.cutoff() < self.used or self.over()

    @abstractmethod
    def cutoff(self) -> float:
        """The best cutoff that anybody knows."""

    @abstractmethod
    def recalled(self) -> bool:
        """Whether this unit is wanted back."""

    @abstractmethod
    def stopped(self) -> bool:
        """Whether all stop at once."""

    @abstractmethod
    def report(self, masks: Masks, values: Floats, lower: float = -math.inf) -> None:
        """Send sets ahead of the answer, and the bound of a whole solve."""
