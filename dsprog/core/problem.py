"""The problem that a solver gets: an objective and constraints, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.constraints import Constraint, LinearRows, all_rows
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Masks
from dsprog.functions.table import rounding

Derived = TypeVar("Derived")


@dataclass(frozen=True)
class Problem:
    """Minimise ``objective`` = f - g over the sets that satisfy every constraint."""

    objective: Difference
    constraints: tuple[Constraint, ...] = ()
    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Size of the ground set."""
        return self.objective.n

    @cached_property
    def rows(self) -> LinearRows:
        """The constraints as linear rows."""
        return all_rows(self.constraints, self.n)

    @cached_property
    def slack(self) -> float:
        """What counts as rounding in a value: 1e-10 of the range of f and g over ∅, V and the single elements, and some
        units in the last place.
        """
        probes = np.vstack([np.zeros((1, self.n)), np.ones((1, self.n)), np.eye(self.n)]).astype(bool)
        return max(rounding(side._values(probes), 1e-10) for side in (self.objective.f, self.objective.g))

    def derived(self, make: Callable[[Problem], Derived]) -> Derived:
        """``make(self)``, computed once: what rules, presolve and solvers all want to know of one problem."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: Derived = self._derived[make]
        return found

    def feasible(self, masks: Masks) -> Masks:
        """Whether each row is a feasible set."""
        return self.rows.satisfied(masks)


def as_problem(objective: SetFunction, constraints: Iterable[Constraint]) -> Problem:
    """Check the arguments of :func:`dsprog.minimize`."""
    if not isinstance(objective, SetFunction):
        raise TypeError(
            f"objective must be a SetFunction such as f - g, got {type(objective).__name__} "
            "(wrap a callable in FromCallable)"
        )
    listed = (constraints,) if isinstance(constraints, Constraint) else tuple(constraints)
    for constraint in listed:
        if not isinstance(constraint, Constraint):
            raise TypeError(f"constraints must be Constraint objects such as Cardinality(max=5), got {constraint!r}")
    difference = objective if isinstance(objective, Difference) else Difference(objective)
    problem = Problem(difference, listed)
    assert len(problem.rows) >= 0  # built here, so that a constraint on another ground set fails at the door
    return problem
