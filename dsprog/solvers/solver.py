"""What a solver is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dsprog.problem import Problem
from dsprog.search import Monitor, Verdict


class Solver(ABC):
    """An algorithm with its choices; limits belong to the call of :func:`dsprog.minimize`.

    ``solve`` offers feasible sets and proved bounds to the monitor, asks it when to stop, and says how it ended. It
    may be interrupted anywhere: what the monitor has is what the user gets.
    """

    @abstractmethod
    def solve(self, problem: Problem, monitor: Monitor) -> Verdict:
        """Run until done or told to stop."""
