"""SSP, the submodular-supermodular procedure (Narasimhan and Bilmes 2005), also called SubSup.

g is replaced by the increments h along a chain through S, a modular function below it:

    v(T) = f(T) - g(T) <= f(T) - g(∅) - h(T) for all T, with equality at every prefix of the chain, S among them,

and the submodular function on the right is minimised exactly, so values never rise. The chain by marginals also passes
through the best S + j and the best S - i; where it does not improve, no single flip does.

Under rows the inner problem is hard, and it is solved by prices: for the rows that the minimiser breaks, put together
as p, and λ >= 0, the minimiser T of f - h + λp is best among all sets with p(S) >= p(T), since there λp(S) costs no
less. So the first T that keeps the rows as λ grows is taken, or what repair makes of those that do not keep them,
whichever is best, or S itself: values never rise, but the inner minimum is not promised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.local_search import flip_changes, then_flip
from dsprog.approximate.majorants import best_proposal, lower_weights, orders_through
from dsprog.approximate.repair import repaired
from dsprog.approximate.restarts import check_choice, check_restarts, run_restarts
from dsprog.approximate.starts import frame_of, starting_sets
from dsprog.core.constraints import LinearRows
from dsprog.core.modular import Modular
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_mask
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.submodular import minimize_submodular

REASON = "no chain through S that was tried improves, and no single flip improves"
PRICED = 8  # prices that are tried where a minimiser breaks rows
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

    def constrained(self, row: int, weights: Floats, rows: LinearRows, mask: Masks) -> Masks:
        """The best set met for f - weights that keeps the rows, ``mask`` among them, by prices and repair."""
        first = self.minimise(row, weights)
        if rows.satisfied(first[None])[0]:
            return first
        prices, met = row_prices(rows, first), [mask[None]]
        scale = float(np.abs(weights).max() + np.abs(self.f.marginals(np.zeros((1, self.f.n), dtype=bool))).max())
        low, high, broken = 0.0, 2.0 * scale / max(float(np.abs(prices).max()), 1e-300), first
        for _ in range(PRICED):
            price = 0.5 * (low + high)
            found = self.minimise(row, weights - price * prices)
            if rows.satisfied(found[None])[0]:
                met.append(found[None])
                high = price
            else:
                low, broken = price, found
        for start in (first, broken):
            changes = self.f.marginals(start[None]) - weights
            met.append(repaired(rows, start[None], np.where(start, -changes, changes)))
        masks = np.concatenate(met)
        return np.asarray(masks[int((self.f.values(masks) - masks @ weights).argmin())])


def row_prices(rows: LinearRows, mask: Masks) -> Floats:
    """The rows that a set breaks, put together: what is above its limit has a price, what is below a reward."""
    low, high = rows.relaxed
    activity, size = rows.A @ mask, np.maximum(np.abs(rows.A).max(axis=1, initial=0.0), 1e-300)
    return np.asarray((((activity > high) * 1.0 - (activity < low) * 1.0) / size) @ rows.A)


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

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Chains of all restarts at once; one submodular minimisation for each, or some where there are rows."""
        if frame_of(problem).empty:
            return Verdict("infeasible")
        objective, rows_kept = problem.objective, problem.rows
        feasible = problem.feasible if len(rows_kept) else None
        inner = TiltedMinimum(objective.f, self.restarts)

        def propose(rows: Ints, masks: Masks, keys: Floats) -> Masks:
            weights = lower_weights(objective.g, orders_through(masks, keys))
            proposed = masks.copy()
            for b, row in enumerate(rows):
                if run.stop_reason() is not None:
                    break
                if feasible is None:
                    proposed[b] = inner.minimise(row, weights[b])
                else:
                    proposed[b] = inner.constrained(row, weights[b], rows_kept, masks[b])
            return proposed

        def step(rows: Ints, masks: Masks) -> Masks:
            keys = [run.rng.random(masks.shape) for _ in range(RANDOM_ORDERS.get(self.order, self.tries))]
            if self.order != "random":
                keys.append(flip_changes(objective, masks, feasible, -np.inf))
            return best_proposal(objective, [propose(rows, masks, key) for key in keys])

        masks = starting_sets(problem, run, self.restarts)
        return run_restarts(problem, run, masks, then_flip(problem, step), "SSP", REASON)
