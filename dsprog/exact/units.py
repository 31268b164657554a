"""f and g in units of the data, for programmes whose solvers have absolute tolerances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction


@dataclass(frozen=True)
class Units:
    """f and g with f(∅) = g(∅) = 0 and no marginal above 1, and the way back: value = offset + unit * (f - g)."""

    f: SetFunction
    g: SetFunction
    offset: float
    unit: float
    rounding: float

    @classmethod
    def of(cls, problem: Problem, rounding: float) -> Units:
        """Marginals of submodular functions lie between those at V and those at ∅."""
        f, g = problem.objective.f, problem.objective.g
        ends = np.array([np.zeros(problem.n), np.ones(problem.n)], dtype=bool)
        largest = max(float(np.abs(side.marginals(ends)).max(initial=0.0)) for side in (f, g))
        unit = largest if largest > 0 else 1.0
        at_empty = [side([]) for side in (f, g)]
        scaled = [(side + -value) * (1.0 / unit) for side, value in zip((f, g), at_empty)]
        return cls(scaled[0], scaled[1], at_empty[0] - at_empty[1], unit, rounding * unit)
