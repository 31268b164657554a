"""SupSub: f replaced by a modular upper bound, then a submodular function maximised (Iyer and Bilmes 2012).

With m above f and tight at S, v(T) <= m(T) - g(T) for all T, with equality at S. Minimising m - g is maximising the
submodular g - m, which is hard; one-flip local search begins at S and so never ends higher. "grow" is tight at every
S + j and "shrink" at every S - i: where neither improves, no single flip does.
"""

from __future__ import annotations

from dataclasses import dataclass

from dsprog.approximate.local_search import descend, then_flip
from dsprog.approximate.mod_mod import BOUNDS, REASONS, UpperBounds, best_proposal
from dsprog.approximate.restarts import check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import frame_of, starting_sets
from dsprog.core.problem import Problem
from dsprog.core.validation import Ints, Masks
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.run import Monitor, Verdict
from dsprog.run.solver import Solver


@dataclass(frozen=True)
class SupSub(Solver):
    """Search m - g locally, m a modular function above f that is tight at S, again and again.

    Parameters
    ----------
    bounds : {"both", "grow", "shrink"}
        The modular upper bound of f; "both" tries both and takes the better set.
    restarts : int
        The first starts are the initial set if given, the least and the largest feasible set; the others are random.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, [0, 1, 2, 2, 2]) - ds.Modular([0.9, 0.8, 0.9, 0.8])
    >>> ds.minimize(objective, ds.SupSub(), seed=0).S
    (0, 1, 2, 3)
    """

    bounds: str = "both"
    restarts: int = 20

    def __post_init__(self) -> None:
        check_choice(self.bounds, "bounds", BOUNDS)
        check_restarts(self.restarts)

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """All restarts as one batch, each with its own modular bound."""
        if frame_of(problem).empty:
            return Verdict("infeasible")
        objective, upper = problem.objective, UpperBounds(problem.objective.f, self.bounds)
        gains, feasible = -objective.g, problem.feasible if problem.constraints else None

        def step(rows: Ints, masks: Masks) -> Masks:
            found = [descend(gains, masks, problem.slack, feasible, tilt=m)[0] for m in upper.weights(masks)]
            return best_proposal(objective, found)

        masks = starting_sets(problem, monitor, self.restarts)
        return run_restarts(problem, monitor, masks, then_flip(problem, step), "SupSub", REASONS[self.bounds])
