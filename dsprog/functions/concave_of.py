"""Concave functions of submodular ones: √(words covered), log(1 + similarity).

f increasing and submodular, φ concave and non-decreasing make φ(f(S)) submodular: the increments of f fall, and φ turns
an increment into less where f is larger. φ of a concave extension of f is a concave extension.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, both_ends
from dsprog.functions._scalar import Phi, as_scalar


class ConcaveOf(SetFunction):
    """h(S) = φ(f(S)), f increasing submodular with f(∅) >= 0, φ concave and non-decreasing.

    Parameters
    ----------
    function : SetFunction
        Known to be submodular and increasing.
    concave, parameter
        φ, as in :class:`ConcaveOfModular`.

    Examples
    --------
    >>> import dsprog as ds
    >>> words = ds.Coverage([[1, 0], [1, 1], [0, 1], [0, 1]])
    >>> ds.ConcaveOf(words, "sqrt")([0, 1])
    2.0
    """

    has_columns = True

    def __init__(
        self, function: SetFunction, concave: str | Phi | tuple[Phi, Phi] = "sqrt", parameter: float | None = None
    ) -> None:
        if not isinstance(function, SetFunction):
            raise TypeError(f"function must be a SetFunction, got {type(function).__name__}")
        if not (function.knows.submodular and function.knows.increasing):
            raise ValueError(f"function must be known to be submodular and increasing, got {function!r}")
        self.function, self.concave, self.parameter, self.n = function, concave, parameter, function.n
        self._lowest, self._highest = function._values(both_ends(self.n)).tolist()
        if self._lowest < 0:
            raise ValueError(f"function must be non-negative, got {self._lowest:g} at the empty set")
        self._scalar = as_scalar(concave, parameter, self._highest)
        if not self._scalar.increasing:
            raise ValueError(
                "concave must be non-decreasing for a concave function of a submodular one to be submodular"
            )
        self.has_concave_extension = function.has_concave_extension and self._scalar.slope is not None
        self.knows = Knowledge(submodular=True, increasing=True)

    @cached_property
    def _smallest(self) -> float:
        """f(S) > 0 needs an element with f({j}) > 0, by submodularity: no set has a value between 0 and this."""
        if self._lowest > 0:
            return 0.0
        singles = self.function._values(np.eye(self.n, dtype=bool))
        return float(singles[singles > 0].min()) if (singles > 0).any() else 0.0

    def _phi(self, t: Floats) -> Floats:
        return np.asarray(self._scalar.phi(t), dtype=float)

    @property
    def rests_on_claim(self) -> bool:
        """Whether φ is the user's, or the inner function rests on a claim."""
        return not isinstance(self.concave, str) or self.function.rests_on_claim

    def _values(self, masks: Masks) -> Floats:
        return self._phi(self.function._values(masks))

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        here, change = self.function._values(masks)[:, None], self.function._marginals(masks, among)
        with_j = np.where(masks, here, here + change)
        without_j = np.where(masks, np.maximum(here - change, 0.0), here)
        cancelled = masks & (without_j < 1e-5 * here)  # almost nothing is left: evaluate it, since φ may be steep there
        if cancelled.any():
            rows, columns = np.nonzero(cancelled)
            smaller = masks[rows]
            smaller[np.arange(len(rows)), columns] = False
            without_j[cancelled] = self.function._values(smaller)
        return self._phi(with_j) - self._phi(without_j)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        first = self.function._values(start)[:, None]
        levels = np.concatenate([first, first + np.cumsum(self.function._chains(orders, start), axis=1)], axis=1)
        return np.diff(self._phi(levels), axis=1)

    def _concave_extension(self, x: Floats) -> Floats:
        return self._scalar.secant(self.function._concave_extension(x), self._smallest)[0]

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # φ(f(S)) <= φ(t) + φ'(t) (f(S) - t) and f(S) <= κ + c(S), with φ' >= 0.
        t = self.function._concave_extension(x)
        value, slope = self._scalar.secant(t, self._smallest)
        constants, slopes = self.function._tangents(x)
        return value + slope * (constants - t), slope[:, None] * slopes

    def inner(self) -> tuple[SetFunction, ...]:
        """f."""
        return (self.function,)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """φ is non-decreasing, so φ of the under (over) expression is an under (over) expression."""
        if weight < 0 and self._scalar.slope is None:
            return None
        if self._highest <= self._lowest:
            return Expression(constant=float(self._phi(np.array([self._lowest]))[0]))
        argument = model.enter(self.function, elements, weight)
        if weight > 0:
            integral = self.function.knows.integral is True
            return model.curve(self._scalar.phi, argument, self._lowest, self._highest, integral)
        column = model.argument(argument, self._lowest, self._highest)
        ends = np.array([self._lowest]), np.array([self._highest])
        of_column = [Expression(np.array([column]), np.ones(1))]
        u = model.below_tangents(self._line, of_column, *ends, np.array([-weight]))
        return Expression(u, np.ones(1))

    def _line(self, t: Floats) -> tuple[Floats, Floats]:
        return self._scalar.secant(t, self._smallest)
