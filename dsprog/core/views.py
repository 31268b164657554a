"""Set functions seen through another ground set: restricted to an interval, complemented, relabelled, or vouched for.

Linear combinations are transformed term by term, so that each term keeps what it knows; modular functions stay modular.

>>> import dsprog as ds
>>> f = ds.CardinalityConcave(4, "sqrt")
>>> f.restrict(include=[0], within=[0, 1, 3])([1]) == f([0, 3])
True
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.determinant_form import DeterminantForm
from dsprog.core.gain_model import IN, OUT, GainModel
from dsprog.core.knowledge import ZERO, Knowledge
from dsprog.core.labels import Labels
from dsprog.core.modular import Modular
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_mask, as_permutation, elements


class View(SetFunction):
    """A function seen through another ground set: what it says about its structure is what that one says, mapped."""

    function: SetFunction

    def _see(self, function: SetFunction, n: int, knows: Knowledge) -> None:
        self.function, self.n, self.knows = function, n, knows
        self.has_concave_extension, self.has_columns = function.has_concave_extension, function.has_columns
        self.has_gains = function.has_gains

    @abstractmethod
    def _seen(self, f: SetFunction) -> SetFunction:
        """Another function of the same ground set, seen the same way."""

    def inner(self) -> tuple[SetFunction, ...]:
        """The function behind the view."""
        return (self.function,)

    @property
    def element_labels(self) -> Labels | None:
        """Its own: those behind the view may be of other elements."""
        return self._labels

    def split(self) -> Difference | None:
        """The split of the function, seen the same way."""
        parts = self.function.split()
        return None if parts is None else as_difference(self._seen(parts))


class Restriction(View):
    """T -> f(I ∪ T) for T inside the free elements of an interval [I, U]."""

    def __init__(self, function: SetFunction, include: Ints, free: Ints) -> None:
        inside, outside = as_mask(include, as_seen(function).n, "include"), as_mask(free, function.n, "free")
        if (inside & outside).any():
            raise ValueError(f"include and free must have no element in common, got {elements(inside & outside)[0]}")
        order = np.asarray(free)
        self.include = np.flatnonzero(inside)
        self.free = np.flatnonzero(outside) if order.dtype == bool else order.astype(np.int64)
        self._see(function, len(self.free), function.knows.restricted())

    def _seen(self, f: SetFunction) -> SetFunction:
        return f._restrict(self.include, self.free)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """An interval of an interval is one of the whole."""
        inside = np.sort(np.concatenate([self.include, self.free[include]]))
        return self.function._restrict(inside, self.free[free])

    def groups(self) -> list[Ints]:
        """What is free of each group: the included elements are the same for all sets."""
        place = np.full(self.function.n, -1)
        place[self.free] = np.arange(self.n)
        return [place[group][place[group] >= 0] for group in self.function.groups()]

    def spans(self) -> Masks | None:
        """More may be spanned on an interval; where that cannot be tested, what is spanned everywhere."""
        own = super().spans()
        if own is not None:
            return own
        everywhere = self.function.spans()
        return None if everywhere is None else everywhere[np.ix_(self.free, self.free)]

    def quadratic_form(self) -> QuadraticForm | None:
        """E(1_I + x), x free."""
        form, labels = self.function.quadratic_form(), np.zeros(self.function.n, dtype=np.int64)
        labels[self.include], labels[self.free] = 1, -1
        return None if form is None else form.fixed(labels)[0]

    def determinant_form(self) -> DeterminantForm | None:
        """T -> f(I ∪ T), a Schur complement."""
        form = self.function.determinant_form()
        return None if form is None else form.restricted(self.include, self.free)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """Fixed columns for what is not free."""
        columns = np.full(self.function.n, model.zero)
        columns[self.include], columns[self.free] = model.one, elements
        return model.enter(self.function, columns, weight)

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """What is not free is settled in the first state."""
        places = np.full(self.function.n, OUT)
        places[self.include], places[self.free] = IN, elements
        model.enter(self.function, places, weight)

    def _embed(self, masks: Masks) -> Masks:
        full = np.zeros((len(masks), self.function.n), dtype=bool)
        full[:, self.include] = True
        full[:, self.free] = masks
        return full

    def _embed_points(self, x: Floats) -> Floats:
        full = np.zeros((len(x), self.function.n))
        full[:, self.include] = 1.0
        full[:, self.free] = x
        return full

    def curvature(self) -> Floats | None:
        """That of the function, between the free elements."""
        H = self.function.curvature()
        return None if H is None else H[np.ix_(self.free, self.free)]

    def _values(self, masks: Masks) -> Floats:
        return self.function._values(self._embed(masks))

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        wanted = np.zeros((len(masks), self.function.n), dtype=bool)
        wanted[:, self.free] = True if among is None else among
        return self.function._marginals(self._embed(masks), wanted)[:, self.free]

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        padded = np.append(self.free, -1)  # so that -1 stays -1
        return self.function._chains(padded[orders], self._embed(start))

    def _concave_extension(self, x: Floats) -> Floats:
        return self.function._concave_extension(self._embed_points(x))

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = self.function._tangents(self._embed_points(x))
        return constants + slopes[:, self.include].sum(axis=1), slopes[:, self.free]


class Complement(View):
    """S -> f(V∖S)."""

    def __init__(self, function: SetFunction) -> None:
        self._see(as_seen(function), function.n, function.knows.complemented())
        self.has_gains = False  # an element that is chosen here is taken away there

    def _seen(self, f: SetFunction) -> SetFunction:
        return f.complement()

    def _complement(self) -> SetFunction:
        return self.function

    def groups(self) -> list[Ints]:
        """The same."""
        return self.function.groups()

    def quadratic_form(self) -> QuadraticForm | None:
        """E(1 - x)."""
        form = self.function.quadratic_form()
        return None if form is None else form.complemented()

    def determinant_form(self) -> DeterminantForm | None:
        """By the inverse matrix."""
        form = self.function.determinant_form()
        return None if form is None else form.complemented()

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """A column 1 - x_j for each element."""
        others = model.columns(self.n)
        model.rows(np.column_stack([others, elements]), [1.0, 1.0], 1.0, 1.0)
        return model.enter(self.function, others, weight)

    def curvature(self) -> Floats | None:
        """The same: second differences do not change sign when both elements do."""
        return self.function.curvature()

    def _values(self, masks: Masks) -> Floats:
        return self.function._values(~masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return -self.function._marginals(~masks, among)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        # Adding j here removes it there: walk the other chain backwards, from what is left at the end. Entries that add
        # nothing (ended, repeated, already inside) go last as -1, since -1 ends a chain.
        adds = Modular(np.ones(self.n))._chains(orders, start) > 0
        inside = start.copy()
        rows, columns = np.nonzero(adds)
        inside[rows, orders[rows, columns]] = True
        backwards = np.where(adds, orders, -1)[:, ::-1]
        adding_first = np.argsort(backwards < 0, axis=1, kind="stable")
        increments = np.empty(orders.shape)
        chains = self.function._chains(np.take_along_axis(backwards, adding_first, axis=1), ~inside)
        np.put_along_axis(increments, adding_first, chains, axis=1)
        return -increments[:, ::-1]

    def _concave_extension(self, x: Floats) -> Floats:
        return self.function._concave_extension(1.0 - x)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = self.function._tangents(1.0 - x)
        return constants + slopes.sum(axis=1), -slopes


class Relabelled(View):
    """The same function with new element k standing for old element ``permutation[k]``."""

    def __init__(self, function: SetFunction, permutation: Ints) -> None:
        self._see(as_seen(function), function.n, function.knows)
        self.permutation = as_permutation(permutation, function.n, "permutation")
        self._inverse = np.argsort(self.permutation)

    def _seen(self, f: SetFunction) -> SetFunction:
        return f._relabel(self.permutation)

    def groups(self) -> list[Ints]:
        """Those of the function, under their new names."""
        return [self._inverse[group] for group in self.function.groups()]

    def spans(self) -> Masks | None:
        """That of the function, relabelled."""
        spanned = self.function.spans()
        return None if spanned is None else spanned[np.ix_(self.permutation, self.permutation)]

    def quadratic_form(self) -> QuadraticForm | None:
        """That of the function, relabelled."""
        form = self.function.quadratic_form()
        return None if form is None else form.relabelled(self.permutation)

    def determinant_form(self) -> DeterminantForm | None:
        """That of the function, relabelled."""
        form = self.function.determinant_form()
        return None if form is None else form.relabelled(self.permutation)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """Those of the function."""
        return model.enter(self.function, elements[self._inverse], weight)

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Those of the function."""
        model.enter(self.function, elements[self._inverse], weight)

    def curvature(self) -> Floats | None:
        """That of the function, relabelled."""
        H = self.function.curvature()
        return None if H is None else H[np.ix_(self.permutation, self.permutation)]

    def _values(self, masks: Masks) -> Floats:
        return self.function._values(np.ascontiguousarray(masks[:, self._inverse]))

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        wanted = None if among is None else np.ascontiguousarray(among[:, self._inverse])
        return self.function._marginals(np.ascontiguousarray(masks[:, self._inverse]), wanted)[:, self.permutation]

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        padded = np.append(self.permutation, -1)
        return self.function._chains(padded[orders], np.ascontiguousarray(start[:, self._inverse]))

    def _concave_extension(self, x: Floats) -> Floats:
        return self.function._concave_extension(np.ascontiguousarray(x[:, self._inverse]))

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = self.function._tangents(np.ascontiguousarray(x[:, self._inverse]))
        return constants, slopes[:, self.permutation]


class Declared(View):
    """The same function with properties that the user vouches for."""

    def __init__(self, function: SetFunction, properties: dict[str, bool]) -> None:
        if not isinstance(properties, dict):
            raise TypeError(f"properties must be a dictionary of names and truth values, got {properties!r}")
        unknown = sorted(set(properties) - set(vars(ZERO)))
        if unknown:
            raise ValueError(f"properties must be among {', '.join(vars(ZERO))}, got {unknown[0]}")
        self.properties = properties
        self._see(as_seen(function), function.n, replace(function.knows, **properties))

    def _seen(self, f: SetFunction) -> SetFunction:
        return f

    @property
    def rests_on_claim(self) -> bool:
        """It does."""
        return True

    def groups(self) -> list[Ints]:
        """Those of the function."""
        return self.function.groups()

    def spans(self) -> Masks | None:
        """That of the function, where it has one without the user's word."""
        spanned = self.function.spans()
        return super().spans() if spanned is None else spanned

    def quadratic_form(self) -> QuadraticForm | None:
        """That of the function."""
        return self.function.quadratic_form()

    def determinant_form(self) -> DeterminantForm | None:
        """That of the function."""
        return self.function.determinant_form()

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """Those of the function; if it has none, cuts that rest on what is declared."""
        return model.enter(self.function, elements, weight) if self.has_columns else None

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Those of the function."""
        model.enter(self.function, elements, weight)

    def curvature(self) -> Floats | None:
        """That of the function."""
        return self.function.curvature()

    def _values(self, masks: Masks) -> Floats:
        return self.function._values(masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return self.function._marginals(masks, among)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return self.function._chains(orders, start)

    def _concave_extension(self, x: Floats) -> Floats:
        return self.function._concave_extension(x)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        return self.function._tangents(x)


def as_seen(function: SetFunction) -> SetFunction:
    """What stands behind a view must be a set function."""
    if not isinstance(function, SetFunction):
        raise TypeError(f"function must be a SetFunction, got {type(function).__name__}")
    return function


def as_difference(f: SetFunction) -> Difference:
    """A transformed difference is one again."""
    assert isinstance(f, Difference)
    return f
