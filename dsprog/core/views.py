"""Set functions seen through another ground set: restricted to an interval, complemented, relabelled, or vouched for.

Linear combinations are transformed term by term, so that each term keeps what it knows; modular functions stay modular.

>>> import dsprog as ds
>>> f = ds.CardinalityConcave(4, "sqrt")
>>> f.restrict(include=[0], within=[0, 1, 3])([1]) == f([0, 3])
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference, LinearCombination, mapped
from dsprog.core.knowledge import ZERO
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_mask, as_permutation


class Restriction(SetFunction):
    """T -> f(I ∪ T) for T inside the free elements of an interval [I, U]."""

    def __init__(self, function: SetFunction, include: Ints, free: Ints) -> None:
        self.function, self.include, self.free = function, include, free
        self.n = len(free)
        self.knows = function.knows.restricted()
        self.has_concave_extension = function.has_concave_extension

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

    def split(self) -> Difference | None:
        """The split of the function, seen the same way."""
        parts = self.function.split()
        return (
            None
            if parts is None
            else as_difference(restriction(parts, self.include, np.concatenate([self.include, self.free])))
        )

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


class Complement(SetFunction):
    """S -> f(V∖S)."""

    def __init__(self, function: SetFunction) -> None:
        self.function, self.n = function, function.n
        self.knows = function.knows.complemented()
        self.has_concave_extension = function.has_concave_extension

    def curvature(self) -> Floats | None:
        """The same: second differences do not change sign when both elements do."""
        return self.function.curvature()

    def split(self) -> Difference | None:
        """The split of the function, seen the same way."""
        parts = self.function.split()
        return None if parts is None else as_difference(complement(parts))

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


class Relabelled(SetFunction):
    """The same function with new element k standing for old element ``permutation[k]``."""

    def __init__(self, function: SetFunction, permutation: Ints) -> None:
        self.function, self.permutation, self.n = function, permutation, function.n
        self.knows, self.has_concave_extension = function.knows, function.has_concave_extension
        self._inverse = np.argsort(permutation)

    def curvature(self) -> Floats | None:
        """That of the function, relabelled."""
        H = self.function.curvature()
        return None if H is None else H[np.ix_(self.permutation, self.permutation)]

    def split(self) -> Difference | None:
        """The split of the function, seen the same way."""
        parts = self.function.split()
        return None if parts is None else as_difference(relabelled(parts, self.permutation))

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


class Declared(SetFunction):
    """The same function with properties that the user vouches for."""

    def __init__(self, function: SetFunction, properties: dict[str, bool]) -> None:
        unknown = sorted(set(properties) - set(vars(ZERO)))
        if unknown:
            raise ValueError(f"properties must be among {', '.join(vars(ZERO))}, got {unknown[0]}")
        self.function, self.properties, self.n = function, properties, function.n
        self.knows = replace(function.knows, **properties)
        self.has_concave_extension = function.has_concave_extension

    def curvature(self) -> Floats | None:
        """That of the function."""
        return self.function.curvature()

    def split(self) -> Difference | None:
        """The split of the function, seen the same way."""
        parts = self.function.split()
        return None if parts is None else as_difference(parts)

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


def as_difference(f: SetFunction) -> Difference:
    """A transformed difference is one again."""
    assert isinstance(f, Difference)
    return f


def restriction(f: SetFunction, include: Iterable[int], within: Iterable[int] | None) -> SetFunction:
    """``f.restrict(include, within)``."""
    inside = as_mask(include, f.n, "include")
    allowed = np.ones(f.n, dtype=bool) if within is None else as_mask(within, f.n, "within")
    if (inside & ~allowed).any():
        raise ValueError(f"include must lie within U, got element {np.flatnonzero(inside & ~allowed)[0]} outside it")
    I, F = np.flatnonzero(inside), np.flatnonzero(allowed & ~inside)
    if isinstance(f, LinearCombination):
        return mapped(f, len(F), lambda h: restriction(h, I, np.flatnonzero(allowed)))
    if isinstance(f, Modular):
        return Modular(f.weights[F], f.constant + f.weights[I].sum())
    return Restriction(f, I, F)


def complement(f: SetFunction) -> SetFunction:
    """``f.complement()``."""
    if isinstance(f, LinearCombination):
        return mapped(f, f.n, complement)
    if isinstance(f, Modular):
        return Modular(-f.weights, f.constant + f.weights.sum())
    if isinstance(f, Complement):
        return f.function
    return f if f.knows.symmetric else Complement(f)


def relabelled(f: SetFunction, permutation: ArrayLike) -> SetFunction:
    """``f.relabel(permutation)``."""
    order = as_permutation(permutation, f.n, "permutation")
    if isinstance(f, LinearCombination):
        return mapped(f, f.n, lambda h: relabelled(h, order))
    if isinstance(f, Modular):
        return Modular(f.weights[order], f.constant)
    return Relabelled(f, order)
