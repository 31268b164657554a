"""What a solver is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dsprog.checkpoint import Checkpoint
from dsprog.monitor import Monitor, Verdict
from dsprog.problem import Problem


class Solver(ABC):
    """An algorithm with its choices; limits belong to the call of :func:`dsprog.minimize`.

    ``solve`` offers feasible sets and proved bounds to the monitor, asks it when to stop, and says how it ended. It
    may be interrupted anywhere: what the monitor has is what the user gets.
    """

    keeps_checkpoints: ClassVar[bool] = False

    @abstractmethod
    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Run until done or told to stop."""
