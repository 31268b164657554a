"""The programme that stands for an objective: columns of elements, expressions, curves, and cuts that come as needed.

Every function enters as an *under* or an *over* expression (:mod:`dsprog.core.column_model`), by columns of its own or
by cuts of the whole. Since a term a h with a > 0 is minimised and one with a < 0 has h maximised, a·under and a·over of
all terms add up to a programme whose value is at most that of the objective, at every set: its dual bound is a lower
bound. Where an expression is not exact yet, a :class:`Curve` (by a smaller interval) or a separator (by more rows)
makes it so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import Expression, Line, Phi
from dsprog.core.constraints import LinearRows
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.compact.class_entropy import ClassEntropy
from dsprog.exact.compact.cuts import Lovasz, ModularMajorants, ScalarTangents, Separator
from dsprog.exact.compact.threshold_cuts import ThresholdCuts, grouped
from dsprog.functions.mutual_information import MutualInformation
from dsprog.milp.sparse import SparseProgramme


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
    elements : (n,) array
        The same for functions: ``one`` stands for an element of I, ``zero`` for one outside U.
    curves, cuts : lists
        What makes the programme exact.
    unproved : str
        Why bounds are not proved, if they are not.
    """

    def __init__(self, n: int, rows: LinearRows, unit: float, I: Masks | None = None, U: Masks | None = None) -> None:
        I, U = np.zeros(n, dtype=bool) if I is None else I, np.ones(n, dtype=bool) if U is None else U
        self.unit = unit
        self.programme = SparseProgramme()
        self.n, self.x = n, self.programme.columns(np.zeros(n), I, U, integer=True)
        self.zero, self.one = (int(self.programme.columns([0.0], fixed, fixed)[0]) for fixed in (0.0, 1.0))
        self.curves: list[Curve] = []
        self.cuts: list[Separator] = []
        self.unproved = ""
        self.elements = np.where(I, self.one, np.where(U, self.x, self.zero))
        for a, lo, hi in zip(rows.A, *rows.relaxed):
            there = np.flatnonzero(a)
            self.programme.row(self.x[there], a[there], lo, hi)

    def columns(self, count: int, lower: ArrayLike = 0.0, upper: ArrayLike = 1.0) -> Ints:
        """Continuous columns without a cost of their own."""
        return self.programme.columns(np.zeros(count), lower, upper)

    def row(self, columns: ArrayLike, values: ArrayLike, lower: float = -math.inf, upper: float = math.inf) -> int:
        """The row lower <= Σ values·z[columns] <= upper."""
        return self.programme.row(columns, values, lower, upper)

    def rows(
        self, columns: ArrayLike, values: ArrayLike, lower: ArrayLike = -math.inf, upper: ArrayLike = math.inf
    ) -> None:
        """A row for each line of ``columns``."""
        self.programme.rows(columns, values, lower, upper)

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

    # -- functions --------------------------------------------------------------------------------------------------

    def enter(self, h: SetFunction, elements: Ints, weight: float) -> Expression:
        """The under expression of h where weight > 0, the over expression where it is negative.

        A function without columns of its own enters by its Lovász cuts and modular majorants, or split in two; |weight|
        scales violations.
        """
        own = h.columns(self, elements, weight)
        if own is not None:
            return own
        if h.knows.submodular is not True and h.knows.supermodular is not True:
            parts = h.split()
            if parts is not None:
                return self.enter(parts, elements, weight)
            self.unproved = f"{h!r} is not known to be submodular (declare it, or decompose the objective)"
        if h.knows.supermodular is True and h.knows.submodular is not True:
            return self.by_cuts(-1.0 * h, elements, -weight).scaled(-1.0)
        return self.by_cuts(h, elements, weight)

    def by_cuts(self, h: SetFunction, elements: Ints, weight: float) -> Expression:
        """A column above the Lovász cuts of a submodular h (weight > 0), or below its modular majorants."""
        column = self.columns(1, -np.inf, np.inf)
        value = Expression(column, np.full(1, self.unit))
        cut = (Lovasz if weight > 0 else ModularMajorants)(h, elements, value, abs(weight))
        self.cuts.append(cut)
        for point in (0.0, 0.5, 1.0):  # so that the column is bounded from the start
            z = np.zeros(len(self.programme.cost))
            z[elements], z[column] = point, -np.copysign(1e100, weight)
            cut.separate(z, self)
        return value

    def below_tangents(
        self, line: Line, arguments: Sequence[Expression], lowest: Floats, highest: Floats, weights: Floats
    ) -> Ints:
        """Columns u_k <= φ(argument_k), φ concave, by tangents; those at a few arguments bound u from the start."""
        u = self.columns(len(arguments), -np.inf, np.inf)
        cut = ScalarTangents(line, arguments, u, lowest, weights)
        self.cuts.append(cut)
        for fraction in (0.0, 0.05, 0.2, 0.5, 1.0):
            cut.touch(lowest + fraction * (highest - lowest), np.arange(len(u)), self)
        return u

    def below_maxima(self, similarity: Floats, elements: Ints, weight: float) -> Expression:
        """Columns θ_k <= Σ_i max_{j∈S} s_ij / unit over the clients i of a group, by threshold cuts."""
        floor = similarity[:, elements == self.one].max(axis=1, initial=0.0)
        free = np.flatnonzero((elements != self.zero) & (elements != self.one))
        open_to = similarity[:, free].max(axis=1, initial=0.0) > floor
        constant = float(floor[~open_to].sum())
        table, floor = similarity[np.ix_(open_to, free)], floor[open_to]
        if len(floor) == 0:
            return Expression(constant=constant)
        order, starts = grouped(table)
        theta = self.columns(len(starts) - 1, -np.inf, np.inf)
        benefits = np.ascontiguousarray(table[order].T)
        cut = ThresholdCuts(benefits, floor[order], elements[free], starts, theta, -weight)
        self.cuts.append(cut)
        z = np.zeros(len(self.programme.cost))
        z[theta] = 1e100  # so that the columns are bounded from the start
        for point in (0.0, 1.0 / len(free), 1.0):
            z[elements[free]] = point
            cut.separate(z, self)
        return Expression(theta, np.full(len(theta), self.unit), constant)

    def class_entropy(self, information: MutualInformation, elements: Ints, weight: float) -> Expression:
        """A column e >= H(y | X_S), for information with a class that is rewarded."""
        e = self.columns(1, 0.0, information.class_entropy)
        self.cuts.append(ClassEntropy(information, elements, int(e[0]), weight))
        return Expression(e, np.ones(1))

    # -- the search -------------------------------------------------------------------------------------------------

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

    def separate_near(self, x: Floats) -> None:
        """Add the threshold cuts that are tight at a point of the elements."""
        for cut in self.cuts:
            if isinstance(cut, ThresholdCuts):
                z = np.zeros(len(self.programme.cost))
                z[self.x], z[cut.theta] = x, 1e100
                cut.separate(z, self)

    def separate(self, z: Floats, tolerance: float) -> bool:
        """Add violated rows of all cuts; say whether a violation exceeds the tolerance."""
        return max((cut.separate(z, self) for cut in self.cuts), default=0.0) > tolerance
