"""The programme that stands for an objective: columns of elements, expressions, curves, and cuts that come as needed.

Every function h enters as one of two expressions in the columns of a programme. For binary x, the columns of the
elements, and S = {x = 1}:

- *under*: min over the other columns of the expression is h(S), or at most that;
- *over*: max over the other columns of the expression is h(S), or at least that.

Since a term a h with a > 0 is minimised and one with a < 0 has h maximised, a·under and a·over of all terms add up to
a programme whose value is at most that of the objective, at every set: its dual bound is a lower bound. Where an
expression is not exact yet, a :class:`Curve` (by a smaller interval) or a :class:`Cut` (by more rows) makes it so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.constraints import LinearRows
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.functions._scalar import Phi
from dsprog.milp.sparse import SparseProgramme


@dataclass(frozen=True)
class Expression:
    """constant + Σ values·z[columns]."""

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


@dataclass
class Curve:
    """A column ``value`` >= φ(``argument``), φ concave, by its chord on the interval that the argument lies in.

    On [a, b] a concave φ lies above its chord, so ``value`` >= φ(a) + (φ(b) - φ(a)) / (b - a) (``argument`` - a) holds
    for every point of the graph; it is exact at both ends, so an interval is halved at the argument found.
    """

    argument: int
    value: int
    phi: Phi
    lowest: float
    highest: float
    integral: bool  # whether the argument of a set is a whole number
    row: int

    def chord(self, a: float, b: float) -> tuple[float, float]:
        """Value at a and slope; 0 where the interval is a point."""
        at_a, at_b = (float(y) for y in self.phi(np.array([a, b])))
        return at_a, (at_b - at_a) / (b - a) if b > a else 0.0

    def gap(self, z: Floats, a: float, b: float) -> float:
        """How far φ of the argument lies above the value at a point; 0 where the interval cannot be halved."""
        if b - a <= 1e-9 * max(1.0, abs(a), abs(b)):
            return 0.0
        inside = min(max(z[self.argument], a), b)
        return max(0.0, float(self.phi(np.array([inside]))[0]) - z[self.value])

    def halves(self, t: float, a: float, b: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Two intervals that hold all arguments of [a, b], an end of one at t, kept a tenth away from the ends."""
        if self.integral:
            left = min(max(np.floor(t + 1e-6), a), b - 1)
            return (a, left), (left + 1, b)
        inside = min(max(t, a + 0.1 * (b - a)), b - 0.1 * (b - a))
        return (a, inside), (inside, b)


class Cut(ABC):
    """A family of valid rows, of which only those that a point violates are added."""

    valid: bool = True

    @abstractmethod
    def separate(self, z: Floats, model: Model) -> float:
        """Add the rows that z violates most; return the violation, in units of the objective."""


class Model:
    """A programme with n binary columns for the elements, and what refines it.

    Attributes
    ----------
    programme : SparseProgramme
        Its costs are those of the objective, divided by ``unit``.
    unit : float
        The size of the data, so that the tolerances of HiGHS are relative to it.
    x : (n,) array
        The columns of the elements.
    curves, cuts : lists
        What makes the programme exact.
    unproved : str
        Why bounds are not proved, if they are not.
    """

    def __init__(self, n: int, rows: LinearRows, unit: float) -> None:
        self.unit = unit
        self.programme = SparseProgramme()
        self.n, self.x = n, self.programme.columns(np.zeros(n), 0.0, 1.0, integer=True)
        self.zero, self.one = (int(self.programme.columns([0.0], fixed, fixed)[0]) for fixed in (0.0, 1.0))
        self.curves: list[Curve] = []
        self.cuts: list[Cut] = []
        self.unproved = ""
        for a, lo, hi in zip(rows.A, rows.lo, rows.hi):
            there = np.flatnonzero(a)
            self.programme.row(self.x[there], a[there], lo, hi)

    def columns(self, count: int, lower: ArrayLike = 0.0, upper: ArrayLike = 1.0) -> Ints:
        """Continuous columns without a cost of their own."""
        return self.programme.columns(np.zeros(count), lower, upper)

    def at_least(self, expression: Expression, level: float = 0.0) -> int:
        """The row ``expression`` >= ``level``."""
        return self.programme.row(expression.columns, expression.values, lower=level - expression.constant)

    def minimise(self, expression: Expression) -> None:
        """Add an expression to the objective."""
        np.add.at(self.programme.cost, expression.columns, expression.values / self.unit)
        self.programme.constant += expression.constant / self.unit

    def argument(self, expression: Expression, lowest: float, highest: float) -> int:
        """A column that equals an expression."""
        column = int(self.columns(1, lowest, highest)[0])
        equal = expression.plus(Expression(np.array([column]), np.array([-1.0])))
        self.programme.row(equal.columns, equal.values, -equal.constant, -equal.constant)
        return column

    def curve(self, phi: Phi, argument: Expression, lowest: float, highest: float, integral: bool) -> Expression:
        """φ(argument) from below."""
        column, value = self.argument(argument, lowest, highest), int(self.columns(1, -np.inf, np.inf)[0])
        row = self.programme.row([column, value], [0.0, 1.0])
        self.curves.append(Curve(column, value, phi, lowest, highest, integral, row))
        return Expression(np.array([value]), np.ones(1))

    def set_intervals(self, a: Floats, b: Floats) -> None:
        """Let the argument of each curve lie in [a, b] and replace the curve by its chord there."""
        for curve, left, right in zip(self.curves, a, b):
            at_left, slope = curve.chord(left, right)
            self.programme.limit(curve.argument, left, right)
            ends = [curve.argument, curve.value]
            self.programme.change_row(curve.row, ends, [-slope, 1.0], at_left - slope * left, np.inf)

    def exclude(self, mask: Masks) -> None:
        """Leave out one set, which was evaluated: Σ_{j∉S} x_j + Σ_{j∈S} (1 - x_j) >= 1."""
        self.at_least(Expression(self.x, np.where(mask, -1.0, 1.0), float(mask.sum())), 1.0)

    def separate(self, z: Floats, tolerance: float) -> bool:
        """Add violated rows of all cuts; say whether a violation exceeds the tolerance."""
        return max((cut.separate(z, self) for cut in self.cuts), default=0.0) > tolerance
