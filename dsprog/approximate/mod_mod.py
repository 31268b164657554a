"""ModMod: both sides replaced by modular functions (Iyer and Bilmes 2012).

f is bounded from above at S by one of two modular functions, g from below by the increments along a chain through S:

    v(T) = f(T) - g(T) <= m(T) - h(T) for all T, with equality at S,

so the minimiser of the modular function on the right, which sorting or a programme finds, constraints included
(:mod:`dsprog.approximate.modular_step`), has no larger value.
The chain adds the best flip after S and removes the best flip last before S, where h is tight as well; "grow" is tight
at S + j and "shrink" at S - i. Hence where neither bound improves, no single flip does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.local_search import flip_changes
from dsprog.approximate.majorants import MajorantDescent, lower_weights, orders_through
from dsprog.approximate.modular_step import modular_step
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.run import Run


@dataclass(frozen=True)
class ModMod(MajorantDescent):
    """Minimise a modular function above f - g that is tight at S, again and again.

    Parameters
    ----------
    bounds, restarts
        As :class:`MajorantDescent` says.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, [0, 1, 2, 2, 2]) - ds.Modular([0.9, 0.8, 0.9, 0.8])
    >>> ds.minimize(objective, ds.ModMod(), constraints=[ds.Cardinality(max=3)], seed=0).S
    (0, 1, 2)
    """

    def proposals(self, problem: Problem, run: Run, masks: Masks, majorants: list[Floats]) -> list[Masks]:
        """Minimisers of m - h over the feasible sets, h the increments of g on a chain through S and its best flips."""
        feasible = problem.feasible if problem.constraints else None
        orders = orders_through(masks, flip_changes(problem.objective, masks, feasible, -np.inf))
        lower, inner = lower_weights(problem.objective.g, orders), problem.derived(modular_step)
        return [inner.least(m - lower, masks, lambda: run.stop_reason() is not None) for m in majorants]
