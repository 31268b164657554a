"""DCA: the difference-of-convex algorithm on the Lovász extensions (El Halabi, Orfanides and Hoheisel 2023).

v(S) = f(S) - g(S) has the extension V(x) = f̂(x) - ĝ(x) on the cube, with the same minimum. Adding ρ/2 |x|² to both
sides changes nothing and makes both strongly convex. With a subgradient y of ĝ at x, the next point is

    x⁺ = argmin over the cube of f̂(z) - y·z + ρ/2 |z - x|²,   so   V(x⁺) <= V(x) - ρ/2 |x⁺ - x|²,

since ĝ(z) >= ĝ(x) + y·(z - x). The minimiser comes from a point of the base polytope of f - y - ρx nearest to the
origin; with ρ = 0 it is a set, and the step is that of SSP. V(x) is an average of v over the prefixes of x sorted, so
the best prefix has v(S) <= V(x): that is the rounding.

The complete variant looks for the best subgradient. The bound that a subgradient gives is concave in y; linearised at
the z found, its least value over the subgradients at x is at the greedy vertex that breaks the ties of x by z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsprog.approximate.local_search import then_flip
from dsprog.approximate.majorants import lower_weights
from dsprog.approximate.restarts import check_restarts, run_restarts
from dsprog.approximate.ssp import TiltedMinimum
from dsprog.approximate.starts import starting_sets
from dsprog.core.modular import Modular
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_number
from dsprog.run.needs import NO_CONSTRAINTS, Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.submodular.min_norm_point import nearest_base
from dsprog.submodular.persistency import persistency

REASON = "the DC algorithm rests at S, and no single flip improves to start it again"
TOLERANCE = 1e4  # times what counts as rounding: a smaller fall of V ends a run of iterations
INNER = 200  # iterations of the inner problem, which need not be solved exactly
COMPLETE = 10  # subgradients of the complete variant


class Points(NamedTuple):
    """Points of the cube, V there, and the sets that they round to with their values."""

    x: Floats
    V: Floats
    masks: Masks
    values: Floats

    def replace(self, rows: Masks | Ints, others: Points) -> None:
        """Overwrite some rows in place."""
        for mine, theirs in zip(self, others):
            mine[rows] = theirs

    def at(self, rows: Masks | Ints) -> Points:
        """Some rows."""
        return Points(self.x[rows], self.V[rows], self.masks[rows], self.values[rows])


class Extension:
    """V(x) = f̂(x) - ĝ(x), its rounding, and the steps of the algorithm, on batches of points."""

    def __init__(self, problem: Problem, run: Run, rho: float, restarts: int) -> None:
        self.objective, self.run = problem.objective, run
        n = problem.n
        singles = np.abs(self.objective.f.marginals(np.zeros((1, n), dtype=bool)))
        scale = float(singles.mean()) if n else 0.0
        self.rho, self.accuracy = rho * scale, 1e-8 * n * scale**2
        self.inner = TiltedMinimum(self.objective.f, restarts)
        self.empty = self.objective([])

    def rounded(self, x: Floats) -> Points:
        """Round each x to the best prefix of its elements in falling order."""
        orders = np.argsort(-x, axis=1, kind="stable")
        increments = self.objective.chains(orders)
        prefixes = self.empty + np.concatenate([np.zeros((len(x), 1)), np.cumsum(increments, axis=1)], axis=1)
        sizes = prefixes.argmin(axis=1)
        masks = np.empty(x.shape, dtype=bool)
        np.put_along_axis(masks, orders, np.arange(x.shape[1]) < sizes[:, None], axis=1)
        extension = self.empty + (increments * np.take_along_axis(x, orders, axis=1)).sum(axis=1)
        return Points(x, extension, masks, prefixes.min(axis=1))

    def subgradients(self, x: Floats, ties: Floats) -> Floats:
        """Greedy vertices of g at each x, elements of equal x in rising order of ``ties``."""
        return lower_weights(self.objective.g, np.lexsort((ties, -x), axis=1))

    def step(self, rows: Ints, x: Floats, y: Floats) -> Floats:
        """x⁺ for each row, or x once it is time to stop."""
        result = x.copy()
        for b, row in enumerate(rows):
            if self.run.stop_reason() is None:
                result[b] = self.inner.minimise(row, y[b]) if self.rho == 0 else self._proximal(x[b], y[b])
        return result

    def _proximal(self, x: Floats, y: Floats) -> Floats:
        """The next point, from the point nearest to the origin in the base polytope of f - y - ρx.

        The set {x⁺ > t} minimises f(S) - y(S) - ρx(S) + ρt |S|, for every t. So clipping the minimiser over all z gives
        that over the cube, and what is in or out for all t in [0, 1] is known beforehand.
        """
        tilted = self.objective.f + Modular(-y - self.rho * x)
        fixed = persistency(tilted, self.rho)
        nearest = nearest_base(fixed.restrict(tilted), self.accuracy, -x[fixed.free], INNER)
        result = np.zeros(len(x))
        result[fixed.inside] = 1.0
        result[fixed.free] = np.clip(-nearest / self.rho, 0.0, 1.0)
        return result


@dataclass(frozen=True)
class DCA(Solver):
    """Follow V from a set to a point where it rests, round to a set, and go on from there or from a better neighbour.

    Parameters
    ----------
    complete : bool
        Look for the best subgradient of ĝ in every iteration instead of taking one.
    rho : float
        ρ, in units of the mean |f(j|∅)|; 0 makes every iterate a set.
    iterations : int
        From one rounding to the next at most.
    restarts : int
        The first starts are the initial set if given, the empty and the full set; the others are random.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, [0, 1, 2, 2, 2]) - ds.Modular([0.9, 0.8, 0.9, 0.8])
    >>> ds.minimize(objective, ds.DCA(), seed=0).S
    (0, 1, 2, 3)
    """

    complete: bool = False
    rho: float = 0.1
    iterations: int = 50
    restarts: int = 5

    def __post_init__(self) -> None:
        if as_number(self.rho, "rho") < 0:
            raise ValueError(f"rho must be at least 0, got {self.rho!r}")
        as_count(self.iterations, "iterations", least=1)
        check_restarts(self.restarts)

    def needs(self) -> tuple[Need, ...]:
        """Its inner problem is unconstrained submodular minimisation."""
        return (NO_CONSTRAINTS,)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All restarts as one batch but for their inner problems."""
        extension = Extension(problem, run, self.rho, self.restarts)

        def step(rows: Ints, masks: Masks) -> Masks:
            marginals = problem.objective.marginals(masks)
            return self.follow(extension, rows, masks, marginals, TOLERANCE * problem.slack)

        masks = starting_sets(problem, run, self.restarts)
        return run_restarts(problem, run, masks, then_flip(problem, step), "DCA", REASON)

    def follow(self, extension: Extension, rows: Ints, masks: Masks, ties: Floats, slack: float) -> Masks:
        """Iterate from each set until V falls no more, and round."""
        here = extension.rounded(masks.astype(float))
        best, best_values = here.masks.copy(), here.values.copy()
        moving = np.arange(len(rows))
        for _ in range(self.iterations):
            if len(moving) == 0:
                break
            there = self.iterate(extension, rows[moving], here.x[moving], ties[moving], slack)
            better = there.values < best_values[moving]
            best[moving[better]], best_values[moving[better]] = there.masks[better], there.values[better]
            falling = here.V[moving] - slack > there.V
            moving = moving[falling]
            here.replace(moving, there.at(falling))
        return best

    def iterate(self, extension: Extension, rows: Ints, x: Floats, ties: Floats, slack: float) -> Points:
        """The next point of each row; in the complete variant the best over a sequence of subgradients."""
        there = extension.rounded(extension.step(rows, x, extension.subgradients(x, ties)))
        for _ in range(COMPLETE if self.complete else 0):
            again = extension.rounded(extension.step(rows, x, extension.subgradients(x, -there.x)))
            better = there.V - slack > again.V
            if not better.any():
                break
            there.replace(better, again.at(better))
        return there
