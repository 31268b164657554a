"""Double greedy (Buchbinder, Feldman, Naor and Schwartz 2012): one set grows, another shrinks, until they meet.

With X = ∅ and Y = V, each element in turn is added to X or removed from Y. For a submodular -v >= 0 this reaches a
third of the best value, and half of it in expectation where the side is drawn in proportion to the gains; for a
difference of submodular functions neither is promised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.restarts import check_restarts
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.needs import NO_CONSTRAINTS, Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver


@dataclass(frozen=True)
class DoubleGreedy(Solver):
    """Decide on each element once, by what it gains at X and what its removal gains at Y.

    Parameters
    ----------
    randomised : bool
        Draw the side in proportion to the gains instead of taking the larger.
    restarts : int
        Orders of the elements that are tried: the first is 0, 1, ..., the others are random.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.Modular([0.3, 0.3, 0.3]) - ds.Coverage([[1, 0, 1], [0, 1, 1]])
    >>> ds.minimize(objective, ds.DoubleGreedy()).S
    (2,)
    """

    randomised: bool = False
    restarts: int = 20

    def __post_init__(self) -> None:
        check_restarts(self.restarts)

    def needs(self) -> tuple[Need, ...]:
        """X and Y are not feasible on the way."""
        return (NO_CONSTRAINTS,)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All orders as one batch."""
        objective, n = problem.objective, problem.n
        orders = np.array([run.rng.permutation(n) for _ in range(self.restarts)]).reshape(self.restarts, n)
        orders[0] = np.arange(n)
        X, rows = np.zeros((self.restarts, n), dtype=bool), np.arange(self.restarts)
        Y = ~X
        for j in orders.T:
            if run.stop_reason() is not None:
                break
            wanted = np.zeros(X.shape, dtype=bool)
            wanted[rows, j] = True
            adding, removing = -objective.marginals(X, wanted)[rows, j], objective.marginals(Y, wanted)[rows, j]
            joins = self._side(adding, removing, run.rng)
            X[rows[joins], j[joins]] = True
            Y[rows[~joins], j[~joins]] = False
        run.offer(X, objective.values(X), "double greedy")
        run.nodes += self.restarts
        stopped = run.stop_reason()
        return Verdict("local" if stopped is None else stopped, reason="every element was decided on once")

    def _side(self, adding: Floats, removing: Floats, rng: np.random.Generator) -> Masks:
        if not self.randomised:
            return np.asarray(adding >= removing)
        a, b = np.maximum(adding, 0.0), np.maximum(removing, 0.0)
        share = np.divide(a, a + b, out=np.ones(len(a)), where=a + b > 0)
        return np.asarray(rng.random(len(a)) < share)
