"""What a solver is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.driver import Method
from dsprog.run.run import Monitor, Verdict


class Solver(ABC):
    """An algorithm with its choices; limits belong to the call of :func:`dsprog.minimize`.

    ``solve`` offers feasible sets and proved bounds to the monitor, asks it when to stop, and says how it ended. It
    may be interrupted anywhere: what the monitor has is what the user gets.

    >>> import dsprog as ds, numpy as np
    >>> from dsprog.run.run import Verdict
    >>> class Empty(ds.Solver):
    ...     def solve(self, problem, monitor, checkpoint=None):
    ...         nothing = np.zeros((1, problem.n), dtype=bool)
    ...         monitor.offer(nothing, problem.objective.values(nothing), "a guess")
    ...         return Verdict("local")
    >>> ds.minimize(ds.Modular([1.0, 2.0]), Empty()).S
    ()
    """

    keeps_checkpoints: ClassVar[bool] = False
    reduces: ClassVar[bool | None] = None  # whether it gets a smaller problem: yes, only if the user asks, or never

    @abstractmethod
    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Run until done or told to stop."""


class SearchSolver(Solver):
    """A solver that is a branch-and-bound method, so that it can take turns with others in a :class:`dsprog.Race`."""

    @abstractmethod
    def method(self, problem: Problem, monitor: Monitor) -> Method:
        """The method for one problem, after first sets were offered to the monitor."""
