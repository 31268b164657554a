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

    >>> import dsprog as ds, numpy as np
    >>> from dsprog.monitor import Verdict
    >>> class Empty(ds.Solver):
    ...     def solve(self, problem, monitor, checkpoint=None):
    ...         nothing = np.zeros((1, problem.n), dtype=bool)
    ...         monitor.offer(nothing, problem.objective.values(nothing), "a guess")
    ...         return Verdict("local")
    >>> ds.minimize(ds.Modular([1.0, 2.0]), Empty()).S
    ()
    """

    keeps_checkpoints: ClassVar[bool] = False
    reduces: ClassVar[bool] = False  # whether it may be given a smaller problem with the same optimum

    @abstractmethod
    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Run until done or told to stop."""
