"""What a solver is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.run.driver import Method, branch_and_bound
from dsprog.run.needs import Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run


class Solver(ABC):
    """An algorithm with its choices; limits belong to the call of :func:`dsprog.minimize`. Making one computes nothing.

    ``solve`` offers feasible sets and proved bounds to the run, asks it when to stop, and says how it ended. It may be
    interrupted anywhere: what the run has is what the user gets.

    >>> import dsprog as ds, numpy as np
    >>> class Empty(ds.Solver):
    ...     def solve(self, problem, run):
    ...         nothing = np.zeros((1, problem.n), dtype=bool)
    ...         run.offer(nothing, problem.objective.values(nothing), "a guess")
    ...         return ds.Verdict("local", reason="nobody looked any further")
    >>> ds.minimize(ds.Modular([1.0, 2.0]), Empty()).S
    ()
    """

    resumes: ClassVar[bool] = False  # whether it keeps checkpoints
    lists: ClassVar[bool] = False  # whether it can list the K best sets
    presolved: ClassVar[bool] = False  # whether it gets a smaller problem even if the user does not ask

    def needs(self) -> tuple[Need, ...]:
        """What a problem must have; checked before :meth:`solve` by whoever runs the solver."""
        return ()

    @abstractmethod
    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Go on until done or told to stop."""


class SearchSolver(Solver):
    """A solver that is a branch-and-bound method, so that it can take turns with others in a :class:`dsprog.Race`."""

    resumes: ClassVar[bool] = True

    @abstractmethod
    def method(self, problem: Problem, run: Run) -> Method:
        """The method for one problem."""

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Hand the method to the driver."""
        return branch_and_bound(self.method(problem, run), run)
