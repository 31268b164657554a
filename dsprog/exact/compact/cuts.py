"""Rows that are added where a point violates them: tangents of concave functions, Lovász and Nemhauser–Wolsey cuts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsprog.core.column_model import ColumnModel, Expression, Line
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, both_ends

SHALLOW = 1e-9  # a row that cuts off less than this, in units of the data, is not added


class Separator(ABC):
    """A family of valid rows, of which only those that a point violates are added."""

    @abstractmethod
    def separate(self, z: Floats, model: ColumnModel) -> float:
        """Add the rows that z violates most; return the violation, in units of the objective."""


@dataclass
class ScalarTangents(Separator):
    """Columns u_k <= φ(t_k) for concave φ, by tangents: u_k <= φ(s) + φ'(s) (t_k - s) for every s.

    ``line`` gives φ and its slope; φ may be replaced by a secant where no set has its argument. Tangents are taken at
    arguments from lowest_k on, which is positive unless there is a secant: φ may be infinitely steep at 0.
    """

    line: Line
    arguments: Sequence[Expression]
    values: Ints
    lowest: Floats
    weights: Floats  # of u_k in the objective, for the violation

    def separate(self, z: Floats, model: ColumnModel) -> float:
        """A tangent at the argument of each column that lies too high."""
        t = np.maximum([argument.at(z) for argument in self.arguments], self.lowest)
        excess = self.weights * (z[self.values] - self.line(t)[0])
        self.touch(t, np.flatnonzero(excess > SHALLOW * model.unit), model)
        return float(excess.max(initial=0.0))

    def touch(self, t: Floats, which: Ints, model: ColumnModel) -> None:
        """Add the tangents of some columns at arguments t."""
        height, slope = self.line(t)
        for k in which:
            tangent = self.arguments[k].scaled(slope[k])
            model.at_least(tangent.plus(Expression(self.values[k : k + 1], -np.ones(1), height[k] - slope[k] * t[k])))


@dataclass
class Lovasz(Separator):
    """An expression >= h(S) for submodular h, by greedy vertices s: h(S) >= h(∅) + s(S) for every S."""

    function: SetFunction
    elements: Ints
    expression: Expression
    weight: float

    def separate(self, z: Floats, model: ColumnModel) -> float:
        """The vertex that is greedy at x; it is the tightest there."""
        x = z[self.elements]
        order = np.argsort(-x, kind="stable")
        s = np.empty(len(x))
        s[order] = self.function.chains(order[None, :])[0]
        at_empty = self.function([])
        violation = self.weight * (at_empty + float(s @ x) - self.expression.at(z))
        if violation > SHALLOW * model.unit:
            row = self.expression.plus(Expression(self.elements, -s, -at_empty))
            model.at_least(row.scaled(1.0 / model.unit))  # numbers that a programme can tell apart
        return violation


@dataclass
class ModularMajorants(Separator):
    """An expression <= h(S) for submodular h, by modular upper bounds.

    With Y = {x >= ½} and h(j|A) = h(A ∪ j) - h(A ∖ j), both of Nemhauser and Wolsey's are tight at Y:

        h(S) <= h(Y) + Σ_{S∖Y} h(j|Y) - Σ_{Y∖S} h(j|V∖j)   and   h(S) <= h(Y) + Σ_{S∖Y} h(j|∅) - Σ_{Y∖S} h(j|Y∖j).

    A function with a concave extension gives its tangent at x as well.
    """

    function: SetFunction
    elements: Ints
    expression: Expression
    weight: float

    def __post_init__(self) -> None:
        self.at_empty, self.at_full = self.function.marginals(both_ends(len(self.elements)))

    def separate(self, z: Floats, model: ColumnModel) -> float:
        """Those that the point violates."""
        x = np.clip(z[self.elements], 0.0, 1.0)
        Y = x >= 0.5
        at_Y, d_Y = self.function(Y), self.function.marginals(Y[None, :])[0]
        slopes = [np.where(Y, self.at_full, d_Y), np.where(Y, d_Y, self.at_empty)]
        lines = [(at_Y - float(c[Y].sum()), c) for c in slopes]
        if self.function.has_concave_extension:
            constants, tangents = self.function.tangents(x[None, :])
            lines.append((float(constants[0]), tangents[0]))
        worst, here = 0.0, self.expression.at(z)
        for constant, c in lines:
            violation = self.weight * (here - constant - float(c @ x))
            if violation > SHALLOW * model.unit:
                row = Expression(self.elements, c, constant).plus(self.expression.scaled(-1.0))
                model.at_least(row.scaled(1.0 / model.unit))
            worst = max(worst, violation)
        return worst
