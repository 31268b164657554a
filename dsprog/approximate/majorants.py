"""Modular functions above f and below g, tight at a set, and what ModMod and SupSub have in common.

With m above f and tight at S, v(T) = f(T) - g(T) <= m(T) - g(T) for all T, with equality at S: a set where the right
side is smaller than at S has a smaller value, too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from dsprog.approximate.local_search import then_flip
from dsprog.approximate.restarts import check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import frame_of, starting_sets
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.run.result import Verdict
from dsprog.run.run import Run
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
class MajorantDescent(Solver):
    """Replace f by a modular function m above it that is tight at S, improve m - g, and again.

    Parameters
    ----------
    bounds : {"both", "grow", "shrink"}
        The modular upper bound of f; "both" tries both and takes the better set.
    restarts : int
        The first starts are the initial set if given, the least and the largest feasible set; the others are random.
    """

    bounds: str = "both"
    restarts: int = 20

    def __post_init__(self) -> None:
        check_choice(self.bounds, "bounds", BOUNDS)
        check_restarts(self.restarts)

    @abstractmethod
    def proposals(self, problem: Problem, run: Run, masks: Masks, majorants: list[Floats]) -> list[Masks]:
        """For each modular majorant of f, given by its weights, sets that are no worse for it than ``masks``."""

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All restarts as one batch, each with its own modular bounds."""
        if frame_of(problem).empty:
            return Verdict("infeasible")
        objective, upper = problem.objective, UpperBounds(problem.objective.f, self.bounds)

        def step(rows: Ints, masks: Masks) -> Masks:
            return best_proposal(objective, self.proposals(problem, run, masks, upper.weights(masks)))

        masks = starting_sets(problem, run, self.restarts)
        return run_restarts(problem, run, masks, then_flip(problem, step), type(self).__name__, REASONS[self.bounds])
