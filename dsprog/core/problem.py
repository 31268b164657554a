"""The problem that a solver gets: an objective and constraints, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from dsprog.core.algebra import Difference
from dsprog.core.constraints import Constraint, LinearRows, all_rows
from dsprog.core.labels import Labels, as_labels
from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import rounding
from dsprog.core.validation import Masks

Derived = TypeVar("Derived")


@dataclass(frozen=True)
class Problem:
    """Minimise ``objective`` = f - g over the sets that satisfy every constraint.

    >>> import dsprog as ds
    >>> problem = ds.Problem(ds.Modular([-1.0, -2.0]) - 0.0, (ds.Cardinality(max=1),))
    >>> ds.minimize(problem).S
    (1,)

    ``labels`` are names of the elements, which results carry; without them those of the objective are taken.
    """

    objective: Difference
    constraints: tuple[Constraint, ...] = ()
    labels: Labels | None = field(default=None, compare=False)
    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = self.objective.element_labels if self.labels is None else as_labels(self.labels, self.n)
        object.__setattr__(self, "labels", names)

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
        """What counts as rounding in a value: 1e-14 of the range of f and g over ∅, V and the single elements (or of a
        range that holds it), and some units in the last place of the largest value.
        """
        return max(rounding(side.extremes(), 1e-14) for side in (self.objective.f, self.objective.g))

    def derived(self, make: Callable[[Problem], Derived]) -> Derived:
        """``make(self)``, computed once: what rules, presolve and solvers all want to know of one problem."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: Derived = self._derived[make]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was made of: what was derived is derived again."""
        return Problem, (self.objective, self.constraints)

    def feasible(self, masks: Masks) -> Masks:
        """Whether each row is a feasible set."""
        return self.rows.satisfied(masks)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write objective and constraints to a ``.json`` or ``.npz`` file; see :func:`dsprog.load`."""
        objective = self.objective if self.labels is None else self.objective.labelled(self.labels)
        objective.save(path, self.constraints)


def as_problem(objective: SetFunction | Problem, constraints: Iterable[Constraint]) -> Problem:
    """Check the arguments of :func:`dsprog.minimize`; the constraints of a problem and further ones are joined."""
    if isinstance(objective, Problem):
        joined = (*objective.constraints, *as_constraints(constraints, objective.n))
        return replace(as_problem(objective.objective, joined), labels=objective.labels)
    if not isinstance(objective, SetFunction):
        raise TypeError(
            f"objective must be a SetFunction such as f - g, got {type(objective).__name__} (wrap callables f and g in "
            "FromCallable and write f - g, or split one function by decompose)"
        )
    difference = objective if isinstance(objective, Difference) else Difference(objective)
    return Problem(difference, as_constraints(constraints, objective.n))


def as_constraints(constraints: Constraint | Iterable[Constraint], n: int) -> tuple[Constraint, ...]:
    """One constraint, several, or None, each on n elements."""
    if constraints is None:
        return ()
    listed = (constraints,) if isinstance(constraints, Constraint) else tuple(constraints)
    for constraint in listed:
        if not isinstance(constraint, Constraint):
            raise TypeError(f"constraints must be Constraint objects such as Cardinality(max=5), got {constraint!r}")
        constraint.rows(n)  # one on another ground set fails here, at the door
    return listed
