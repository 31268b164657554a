"""ModMod: both sides replaced by modular functions (Iyer and Bilmes 2012).

f is bounded from above at S by one of two modular functions, g from below by the increments along a chain through S:

    v(T) = f(T) - g(T) <= m(T) - h(T) for all T, with equality at S,

so the minimiser of the modular function on the right, which sorting finds, constraints included, has no larger value.
The chain adds the best flip after S and removes the best flip last before S, where h is tight as well; "grow" is tight
at S + j and "shrink" at S - i. Hence where neither bound improves, no single flip does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.local_search import flip_changes, then_flip
from dsprog.approximate.restarts import check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import frame_of, names, starting_sets
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.run import Monitor, Verdict
from dsprog.run.solver import Solver

BOUNDS = ("grow", "shrink", "both")
REASONS = {
    "grow": "the grow bound of f does not improve, and no single flip improves",
    "shrink": "the shrink bound of f does not improve, and no single flip improves",
    "both": "neither modular bound of f improves, and no single flip improves",
}


def orders_through(masks: Masks, changes: Floats) -> Ints:
    """Chains through each S: its members, the best to remove last, then its outsiders, the best to add first.

    ``changes`` are the changes of value by flips; the chain is tight at S, at its best S + j and at its best S - i.
    """
    keys = np.where(masks, -changes, changes)
    return np.lexsort((keys, ~masks), axis=1)


def lower_weights(g: SetFunction, orders: Ints) -> Floats:
    """Weights h with g(T) >= g(∅) + h(T) for all T, tight at every prefix of its order, for a submodular g."""
    weights = np.empty(orders.shape)
    np.put_along_axis(weights, orders, g.chains(orders), axis=1)
    return weights


class UpperBounds:
    """Weights m of modular functions above f that are tight at S.

    For a submodular f and every T, with f(j|A) = f(A ∪ j) - f(A ∖ j),

    - "grow":   f(T) <= f(S) - Σ_{j∈S∖T} f(j|V∖j) + Σ_{j∈T∖S} f(j|S), tight at every S + j;
    - "shrink": f(T) <= f(S) - Σ_{j∈S∖T} f(j|S∖j) + Σ_{j∈T∖S} f(j|∅), tight at every S - i.
    """

    def __init__(self, f: SetFunction, bounds: str) -> None:
        self.f = f
        self.kinds = ("grow", "shrink") if bounds == "both" else (bounds,)
        self.at_empty, self.at_full = f.marginals(np.array([[False] * f.n, [True] * f.n]))

    def weights(self, masks: Masks) -> list[Floats]:
        """One array (B, n) for each kind."""
        here = self.f.marginals(masks)
        by_kind = {"grow": np.where(masks, self.at_full, here), "shrink": np.where(masks, here, self.at_empty)}
        return [by_kind[kind] for kind in self.kinds]


def best_proposal(objective: SetFunction, proposals: list[Masks]) -> Masks:
    """For each row the best of some proposals, all evaluated at once."""
    values = objective.values(np.concatenate(proposals)).reshape(len(proposals), -1)
    return np.stack(proposals)[values.argmin(axis=0), np.arange(values.shape[1])]


@dataclass(frozen=True)
class ModMod(Solver):
    """Minimise a modular function above f - g that is tight at S, again and again.

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
    >>> ds.minimize(objective, ds.ModMod(), constraints=[ds.Cardinality(max=3)], seed=0).S
    (0, 1, 2)
    """

    bounds: str = "both"
    restarts: int = 20

    def __post_init__(self) -> None:
        check_choice(self.bounds, "bounds", BOUNDS)
        check_restarts(self.restarts)

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """All restarts as one batch: marginals of f and v, chains of g, and a sort."""
        frame = frame_of(problem)
        if frame.others:
            raise ValueError(
                f"ModMod takes Cardinality, Include and Exclude only, got {names(frame.others)}: "
                "its inner problem is solved by sorting; use LocalSearch or the default solver"
            )
        if frame.empty:
            return Verdict("infeasible")
        objective, upper = problem.objective, UpperBounds(problem.objective.f, self.bounds)
        feasible = problem.feasible if problem.constraints else None

        def step(rows: Ints, masks: Masks) -> Masks:
            orders = orders_through(masks, flip_changes(objective, masks, feasible, -np.inf))
            lower = lower_weights(objective.g, orders)
            return best_proposal(objective, [frame.least(m - lower) for m in upper.weights(masks)])

        masks = starting_sets(problem, monitor, self.restarts)
        return run_restarts(problem, monitor, masks, then_flip(problem, step), "ModMod", REASONS[self.bounds])
