"""How a function enters a mixed-integer programme: expressions in its columns, and what it may ask of the model.

A function h enters as one of two expressions. For binary x, the columns of the elements, and S = {x = 1}:

- *under*: min over the other columns of the expression is h(S), or at most that;
- *over*: max over the other columns of the expression is h(S), or at least that.

A term a h with a > 0 is minimised, so it takes the under expression; one with a < 0 has h maximised and takes the over
expression. ``elements[j]`` is the column that stands for element j: seen through a restriction some elements are fixed
columns, seen through a complement they are columns 1 - x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import Floats, Ints

if TYPE_CHECKING:
    from dsprog.core.set_function import SetFunction

Phi = Callable[[Any], Any]  # φ(t), on arrays
Line = Callable[[Floats], tuple[Floats, Floats]]  # φ and a slope of it at arguments t


@dataclass(frozen=True)
class Expression:
    """constant + Σ values·z[columns].

    >>> import numpy as np
    >>> Expression(np.array([0, 2]), np.array([1.0, 3.0]), 0.5).at(np.array([1.0, 9.0, 2.0]))
    7.5
    """

    columns: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: Floats = field(default_factory=lambda: np.zeros(0))
    constant: float = 0.0

    def scaled(self, factor: float) -> Expression:
        """``factor`` times this."""
        return Expression(self.columns, factor * self.values, factor * self.constant)

    def plus(self, other: Expression) -> Expression:
        """The sum."""
        columns, values = np.append(self.columns, other.columns), np.append(self.values, other.values)
        return Expression(columns, values, self.constant + other.constant)

    def at(self, z: Floats) -> float:
        """Its value at a point."""
        return float(self.constant + self.values @ z[self.columns])


def joined(parts: Sequence[Expression]) -> Expression:
    """The sum of some expressions."""
    columns, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("columns", "values"))
    return Expression(columns, values, sum(part.constant for part in parts))


class ColumnModel(Protocol):
    """What a function may ask of the model that it enters; weights say by how much a violation counts."""

    @property
    def unit(self) -> float:
        """The size of the data, which violations are measured in."""

    @property
    def zero(self) -> int:
        """A column fixed at 0."""

    @property
    def one(self) -> int:
        """A column fixed at 1."""

    def columns(self, count: int, lower: ArrayLike = 0.0, upper: ArrayLike = 1.0) -> Ints:
        """New continuous columns without a cost."""

    def row(self, columns: ArrayLike, values: ArrayLike, lower: float = -math.inf, upper: float = math.inf) -> int:
        """The row lower <= Σ values·z[columns] <= upper."""

    def rows(
        self, columns: ArrayLike, values: ArrayLike, lower: ArrayLike = -math.inf, upper: ArrayLike = math.inf
    ) -> None:
        """A row for each line of ``columns``, in which no column stands twice."""

    def at_least(self, expression: Expression, level: float = 0.0) -> int:
        """The row ``expression`` >= ``level``."""

    def argument(self, expression: Expression, lowest: float, highest: float) -> int:
        """A column that equals an expression."""

    def enter(self, h: SetFunction, elements: Ints, weight: float) -> Expression:
        """The expression of another function: its own columns, or cuts of the whole."""

    def by_cuts(self, h: SetFunction, elements: Ints, weight: float) -> Expression:
        """A column above the Lovász cuts of a submodular h (weight > 0), or below its modular majorants."""

    def curve(self, phi: Phi, argument: Expression, lowest: float, highest: float, integral: bool) -> Expression:
        """φ(argument) from below, φ concave: chords, and branching on the argument."""

    def below_tangents(
        self, line: Line, arguments: Sequence[Expression], lowest: Floats, highest: Floats, weights: Floats
    ) -> Ints:
        """Columns u_k <= φ(argument_k), φ concave, by the tangents that ``line`` gives."""

    def below_maxima(self, similarity: Floats, elements: Ints, weight: float) -> Expression:
        """Columns whose sum is at most Σ_i max_{j∈S} s_ij, by threshold cuts."""

    def class_entropy(self, information: Any, elements: Ints, weight: float) -> Expression:
        """A column e >= H(y | X_S), for information with a class that is rewarded."""
