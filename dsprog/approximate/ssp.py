"""SSP, the submodular-supermodular procedure (Narasimhan and Bilmes 2005), also called SubSup.

g is replaced by the increments h along a chain through S, a modular function below it:

    v(T) = f(T) - g(T) <= f(T) - g(∅) - h(T) for all T, with equality at every prefix of the chain, S among them,

and the submodular function on the right is minimised exactly, so values never rise. The chain by marginals also passes
through the best S + j and the best S - i; where it does not improve, no single flip does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.local_search import flip_changes, then_flip
from dsprog.approximate.majorants import best_proposal, lower_weights, orders_through
from dsprog.approximate.restarts import check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import starting_sets
from dsprog.core.modular import Modular
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_mask
from dsprog.run.needs import NO_CONSTRAINTS, Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.submodular import minimize_submodular

REASON = "no chain through S that was tried improves, and no single flip improves"
RANDOM_ORDERS = {"marginals": 0, "random": 1}


class TiltedMinimum:
    """Minimisers of f - h for many modular h, each begun where the last of the same restart ended."""

    def __init__(self, f: SetFunction, restarts: int) -> None:
        self.f = f
        self.bases: list[Floats | None] = [None] * restarts

    def minimise(self, row: int, weights: Floats) -> Masks:
        """A set that minimises f(T) - weights(T); the base kept for the next call is that of f itself."""
        base = self.bases[row]
        tilted = self.f + Modular(-weights)
        result = minimize_submodular(tilted, start=None if base is None else base - weights, extremes=False)
        if result.base is not None:
            self.bases[row] = result.base + weights
        return as_mask(result.S, self.f.n)


@dataclass(frozen=True)
class SSP(Solver):
    """Minimise f minus a modular lower bound of g that is tight at S, again and again.

    Parameters
    ----------
    order : {"marginals", "random", "best"}
        The chain through S: by the changes of value that flips make, at random, or the best of ``tries`` random ones
        and the one by marginals.
    restarts : int
        The first starts are the initial set if given, the empty and the full set; the others are random.
    tries : int
        Of "best".

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, [0, 1, 2, 2, 2]) - ds.Modular([0.9, 0.8, 0.9, 0.8])
    >>> ds.minimize(objective, ds.SSP(), seed=0).S
    (0, 1, 2, 3)
    """

    order: str = "marginals"
    restarts: int = 20
    tries: int = 4

    def __post_init__(self) -> None:
        check_choice(self.order, "order", ("marginals", "random", "best"))
        check_restarts(self.restarts)
        as_count(self.tries, "tries", least=1)

    def needs(self) -> tuple[Need, ...]:
        """Its inner problem is unconstrained submodular minimisation."""
        return (NO_CONSTRAINTS,)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Chains of all restarts at once; one submodular minimisation for each."""
        objective = problem.objective
        inner = TiltedMinimum(objective.f, self.restarts)

        def propose(rows: Ints, masks: Masks, keys: Floats) -> Masks:
            weights = lower_weights(objective.g, orders_through(masks, keys))
            proposed = masks.copy()
            for b, row in enumerate(rows):
                if run.stop_reason() is None:
                    proposed[b] = inner.minimise(row, weights[b])
            return proposed

        def step(rows: Ints, masks: Masks) -> Masks:
            keys = [run.rng.random(masks.shape) for _ in range(RANDOM_ORDERS.get(self.order, self.tries))]
            if self.order != "random":
                keys.append(flip_changes(objective, masks, None, -np.inf))
            return best_proposal(objective, [propose(rows, masks, key) for key in keys])

        masks = starting_sets(problem, run, self.restarts)
        return run_restarts(problem, run, masks, then_flip(problem, step), "SSP", REASON)
