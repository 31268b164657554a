"""Set functions on batches: three primitives, and everything else a function of them.

A :class:`SetFunction` on the ground set {0, ..., n-1} is defined by

- ``values(masks)``: f(S) for every row of a boolean array (B, n);
- ``marginals(masks)``: f(S ∪ j) - f(S ∖ j) for every S and every j, so that one array holds the gains of outsiders
  and the losses of members;
- ``chains(orders, start)``: the increments of f along each order, from the start set.

Only the first must be written. The other two have slow, correct defaults that a family overrides with a kernel; the
test kit (:func:`dsprog.testing.check_set_function`) proves that an override equals its default.

A family writes ``_values`` (and ``_marginals``, ``_chains``, ``_tangents``); the public methods check their input
once, count the oracle calls and pass on. A family stores every argument of ``__init__`` under the argument's own
name, so that functions can be compared, saved and fingerprinted without further code.
"""

from __future__ import annotations

import copy
import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.identity import Registry, arguments, same
from dsprog.core.knowledge import Knowledge
from dsprog.core.labels import Labels, as_labels, taking_labels, with_labels_in
from dsprog.core.oracle import count
from dsprog.core.validation import (
    Floats,
    Ints,
    Masks,
    as_cube_points,
    as_mask,
    as_masks,
    as_number,
    as_orders,
    as_permutation,
    elements,
)
from dsprog.pictures.html import facts

if TYPE_CHECKING:
    from dsprog.core.algebra import Difference
    from dsprog.core.column_model import ColumnModel, Expression
    from dsprog.core.constraints import Constraint
    from dsprog.core.determinant_form import DeterminantForm
    from dsprog.core.gain_model import GainModel
    from dsprog.core.quadratic_form import QuadraticForm

CHUNK = 1 << 22  # entries of one temporary boolean array in the slow defaults
BLOCK = 512  # single elements whose values are asked for at a time


FAMILIES = Registry("family")
QUICK = 50  # elements beyond which pairs are only tested where marginals are more than differences of values
SHOWN = 12  # names in a notebook
EXACT = 1e-14  # relative to f(j): what counts as no difference


class SetFunction(ABC):
    """A function of the subsets of {0, ..., n-1}.

    Attributes
    ----------
    n : int
        Size of the ground set.
    knows : Knowledge
        What holds of the function: submodular, supermodular, increasing, decreasing, symmetric, integral.
    has_concave_extension : bool
        Whether ``concave_extension`` and ``tangents`` are there.
    has_columns : bool
        Whether the function enters a compact model by ``columns`` of its own.
    has_gains : bool
        Whether the function enters a search on gains, by ``gains``.
    has_gain_table : bool
        Whether ``gain_table`` is filled at once rather than from marginals.

    Examples
    --------
    >>> import dsprog as ds
    >>> class Squared(ds.SetFunction):
    ...     def __init__(self, n):
    ...         self.n, self.knows = n, ds.Knowledge(supermodular=True, increasing=True)
    ...
    ...     def _values(self, masks):
    ...         return masks.sum(axis=1) ** 2.0
    >>> Squared(3).marginals([[True, False, False]])
    array([[1., 3., 3.]])
    """

    n: int
    knows: Knowledge
    has_concave_extension: bool = False
    has_columns: bool = False
    _labels: Labels | None = None
    has_gains: bool = False
    has_gain_table: bool = False
    __array_ufunc__ = None  # numpy leaves ``number * f`` and ``array - f`` to the operators below

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        FAMILIES.add(cls)
        if "__init__" in vars(cls) and "labels" not in inspect.signature(cls.__init__).parameters:
            cls.__signature__ = with_labels_in(inspect.signature(cls.__init__))  # type: ignore[attr-defined]
            cls.__init__ = taking_labels(cls.__init__)  # type: ignore[method-assign]

    # -- what a family writes ---------------------------------------------------------------------------------------

    @abstractmethod
    def _values(self, masks: Masks) -> Floats:
        """f(S) for every row of a (B, n) boolean array."""

    def _checked_values(self, masks: Masks) -> Floats:
        """``_values``, refused unless there is one number for each set: for those that would go on with them."""
        return shaped(self._values(masks), (len(masks),), self, "_values")

    def _values_from_chains(self, masks: Masks) -> Floats:
        """f(S) as the sum of a chain from ∅ through S, for families with f(∅) = 0 whose chains are quick."""
        orders = np.where(masks, np.arange(self.n), -1)
        return self._chains(orders, np.zeros(masks.shape, dtype=bool)).sum(axis=1)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        """f(S ∪ j) - f(S ∖ j), from 1 + n values a set; 0 where ``among`` is given and False."""
        if among is not None:
            return self._some_marginals(masks, among)
        n, rows = self.n, max(1, CHUNK // max(1, self.n**2))
        result = np.empty(masks.shape)
        for first in range(0, len(masks), rows):
            sets = masks[first : first + rows]
            flipped = sets[:, None, :] ^ np.eye(n, dtype=bool)
            flipped_values = self._checked_values(flipped.reshape(len(sets) * n, n)).reshape(sets.shape)
            change = flipped_values - self._checked_values(sets)[:, None]
            result[first : first + rows] = np.where(sets, -change, change)
        return result

    def _some_marginals(self, masks: Masks, among: Masks) -> Floats:
        rows, columns = np.nonzero(among)
        flipped = masks[rows]
        flipped[np.arange(len(rows)), columns] ^= True
        change = self._checked_values(flipped) - self._checked_values(masks)[rows]
        result = np.zeros(masks.shape)
        result[rows, columns] = np.where(masks[rows, columns], -change, change)
        return result

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        """Increments along each order, from 1 + m values an order."""
        (batch, m), n = orders.shape, self.n
        rows = max(1, CHUNK // max(1, (m + 1) * n))
        result = np.empty((batch, m))
        for first in range(0, batch, rows):
            these = orders[first : first + rows]
            prefixes = np.repeat(start[first : first + rows, None, :], m + 1, axis=1)
            for k in range(m):
                b = np.flatnonzero(these[:, k] >= 0)
                prefixes[b[:, None], np.arange(k + 1, m + 1), these[b, k, None]] = True
            values = self._checked_values(prefixes.reshape(len(these) * (m + 1), n)).reshape(len(these), m + 1)
            result[first : first + rows] = np.diff(values, axis=1)
        return result

    def _concave_extension(self, x: Floats) -> Floats:
        """G(x) for every row of x, where ``has_concave_extension``: by default the height of its tangent at x."""
        constants, slopes = self._tangents(x)
        return constants + (slopes * x).sum(axis=1)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        """Constants (B,) and slopes (B, n) of affine functions above f that touch G near x."""
        raise TypeError(f"{type(self).__name__} has no concave extension")

    def curvature(self) -> Floats | None:
        """How much more than submodular the function is: a symmetric H >= 0 (n, n), or None for 0, such that

            f(S ∪ i) + f(S ∪ j) - f(S ∪ {i, j}) - f(S) >= H_ij          for all i ≠ j outside S,

        and, where there is a concave extension, its tangents (κ, c) at x hold with room to spare, H positive
        semidefinite: f(S) <= κ + c(S) - ½ (1_S - x)ᵀ H (1_S - x) for every set S and point x.
        """
        return None

    def split(self) -> Difference | None:
        """The function as a difference of submodular functions, where its own structure gives one."""
        return None

    # -- what a family may say about its structure ------------------------------------------------------------------

    def inner(self) -> tuple[SetFunction, ...]:
        """The functions that this one is made of: the terms of a sum, the function behind a view."""
        return ()

    def extremes(self) -> Floats:
        """Values that show how large the function is and how far it ranges: those of ∅, V and the single elements.

        Those of a monotone function lie between the first two. Singles are asked for in blocks: no matrix of elements
        by elements is made.
        """
        values = [self.values(np.repeat([[False], [True]], self.n, axis=1))]
        for first in range(0, 0 if self.knows.monotone else self.n, BLOCK):
            values.append(self.values(np.eye(min(BLOCK, self.n - first), self.n, first, dtype=bool)))
        return np.concatenate(values)

    def groups(self) -> list[Ints]:
        """Groups of elements such that f(S) = Σ_k f_k(S ∩ group k) + m(S), m modular."""
        return [np.arange(self.n)]

    def spans(self) -> Masks | None:
        """[j, k]: whether j spans another k, f(S ∪ jk) = f(S ∪ j) for every S; None where that is not known.

        For increasing submodular f this holds if f(jk) = f(j), since 0 <= f(S ∪ jk) - f(S ∪ j) <= f(jk) - f(j).
        """
        if not (self.knows.submodular and self.knows.increasing) or (self.n > QUICK and not self.is_quick):
            return None
        single = np.eye(self.n, dtype=bool)
        return np.abs(self.marginals(single)) <= EXACT * np.abs(self.values(single))[:, None]

    def quadratic_form(self) -> QuadraticForm | None:
        """The function as constant + Σ u_i x_i + Σ_{i<j} P_ij x_i x_j, or None if it is not quadratic."""
        return None

    def gain_table(self, j: int, others: Ints, given: Masks) -> Floats:
        """f(j | U ∪ given) for every U ⊆ others as a table of 2**k; bit b of the index stands for ``others[b]``.

        ``given`` is a mask with neither j nor the others; from marginals, unless the family ``has_gain_table``.
        """
        masks = np.repeat(given[None], 1 << len(others), axis=0)
        masks[:, others] = (np.arange(len(masks))[:, None] >> np.arange(len(others))) & 1 == 1
        among = np.zeros(masks.shape, dtype=bool)
        among[:, j] = True
        return self.marginals(masks, among)[:, j].copy()

    def determinant_form(self) -> DeterminantForm | None:
        """The function as constant + weights(S) + scale · log det M_S, or None if it is no log determinant."""
        return None

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """How the function enters a compact model, where ``has_columns``: the under expression if weight > 0, the over
        expression if weight < 0 (see :mod:`dsprog.core.column_model`); None leaves it to cuts of the whole.
        """
        return None

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Enter a search on gains, where ``has_gains``: as a reward if weight > 0, as a cost if weight < 0 (see
        :mod:`dsprog.core.gain_model`).
        """
        raise TypeError(f"{type(self).__name__} does not enter a search on gains")

    def on_device(self, machine: Any) -> Any:
        """The function on batches that live on an accelerator (:class:`dsprog.device.batched.Batched`), or None."""
        return None

    def minus(self, other: SetFunction) -> SetFunction | None:
        """f - other as one function, where the two are bounded better together."""
        return None

    @property
    def is_quick(self) -> bool:
        """Whether marginals are computed at once rather than as differences of values."""
        if self.inner():
            return all(h.is_quick for h in self.inner())
        return type(self)._marginals is not SetFunction._marginals

    @property
    def rests_on_claim(self) -> bool:
        """Whether what the function knows rests on a user's word: a family of their own, or something inside it."""
        own = not type(self).__module__.startswith("dsprog.")
        return own or any(h.rests_on_claim for h in self.inner())

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """T -> f(I ∪ T) for T inside the free elements."""
        from dsprog.core.views import Restriction

        return Restriction(self, include, free)

    def _complement(self) -> SetFunction:
        """S -> f(V∖S)."""
        from dsprog.core.views import Complement

        return Complement(self)

    def _relabel(self, order: Ints) -> SetFunction:
        """New element k stands for old element ``order[k]``."""
        from dsprog.core.views import Relabelled

        return Relabelled(self, order)

    # -- what everybody calls ---------------------------------------------------------------------------------------

    def __call__(self, S: Iterable[int] | ArrayLike) -> float:
        """f(S), for a set given by its elements or by a boolean mask."""
        return float(self.values(as_mask(S, self.n)[None, :])[0])

    def values(self, masks: ArrayLike) -> Floats:
        """f(S) for every row of ``masks``, a (B, n) boolean array."""
        sets = as_masks(masks, self.n)
        count(len(sets))
        values = self._checked_values(sets)
        if not np.isfinite(values).all():
            b = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(
                f"values of {type(self).__name__} must be finite, got {values[b]} at S = {elements(sets[b])}"
            )
        return values

    def marginals(self, masks: ArrayLike, among: ArrayLike | None = None) -> Floats:
        """f(S ∪ j) - f(S ∖ j) for every row S of ``masks`` and every element j, as a (B, n) array.

        ``among``, a boolean array of the same shape, says which entries are wanted; the others may be anything.
        """
        sets = as_masks(masks, self.n)
        if among is None:
            count(sets.size)
            return shaped(self._marginals(sets), sets.shape, self, "_marginals")
        wanted = as_masks(among, self.n, "among")
        if wanted.shape != sets.shape:
            raise ValueError(f"among must have the shape of masks, {sets.shape}, got {wanted.shape}")
        count(int(wanted.sum()))
        return shaped(self._marginals(sets, wanted), sets.shape, self, "_marginals")

    def chains(self, orders: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Increments of f along each order.

        Parameters
        ----------
        orders : (B, m) array of elements
            Elements are added from left to right. One that is already in the set gives 0; -1 ends an order.
        start : (B, n) boolean array, optional
            Where each chain begins; the empty set by default.

        Returns
        -------
        (B, m) array
            Entry k is f(start ∪ order[:k+1]) - f(start ∪ order[:k]).
        """
        these = as_orders(orders, self.n)
        sets = np.zeros((len(these), self.n), dtype=bool) if start is None else as_masks(start, self.n, "start")
        if len(sets) != len(these):
            raise ValueError(f"start must have one row for each order, got {len(sets)} rows for {len(these)} orders")
        count(these.size)
        return shaped(self._chains(these, sets), these.shape, self, "_chains")

    def concave_extension(self, x: ArrayLike) -> Floats:
        """G(x) for every row of ``x`` in the cube: concave, and equal to f at binary points."""
        return self._concave_extension(as_cube_points(x, self.n))

    def tangents(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Affine functions above f: constants κ (B,) and slopes c (B, n) with f(S) <= κ + Σ_{j∈S} c_j for all S.

        They are tangents of the concave extension at the rows of ``x``, or nearly so where its slope is infinite.
        """
        return self._tangents(as_cube_points(x, self.n))

    # -- algebra ----------------------------------------------------------------------------------------------------

    def __add__(self, other: SetFunction | float) -> SetFunction:
        from dsprog.core.algebra import combine

        return combine([(1.0, self), (1.0, other)])

    __radd__ = __add__

    def __sub__(self, other: SetFunction | float) -> Difference:
        from dsprog.core.algebra import Difference

        return Difference(self, other)

    def __rsub__(self, other: float) -> SetFunction:
        return (-1.0 * self) + other

    def __mul__(self, factor: float) -> SetFunction:
        from dsprog.core.algebra import combine

        return combine([(factor, self)])

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> SetFunction:
        number = as_number(divisor, "divisor")
        if number == 0:
            raise ValueError("divisor must not be 0")
        return self * (1.0 / number)

    def __neg__(self) -> SetFunction:
        return self * -1.0

    def restrict(self, include: Iterable[int] = (), within: Iterable[int] | None = None) -> SetFunction:
        """T -> f(I ∪ T) on the free elements F = U∖I of the interval [I, U], numbered 0 .. |F|-1 in order."""
        inside = as_mask(include, self.n, "include")
        allowed = np.ones(self.n, dtype=bool) if within is None else as_mask(within, self.n, "within")
        outside = np.flatnonzero(inside & ~allowed)
        if len(outside):
            raise ValueError(f"include must lie within U, got element {outside[0]} outside it")
        free = np.flatnonzero(allowed & ~inside)
        return self._named(self._restrict(np.flatnonzero(inside), free), free)

    def complement(self) -> SetFunction:
        """S -> f(V∖S)."""
        return self if self.knows.symmetric else self._named(self._complement(), np.arange(self.n))

    def relabel(self, permutation: ArrayLike) -> SetFunction:
        """The same function with new element k standing for old element ``permutation[k]``."""
        order = as_permutation(permutation, self.n, "permutation")
        return self._named(self._relabel(order), order)

    def declare(self, **properties: bool) -> SetFunction:
        """The same function, on the user's word that the given properties hold: ``f.declare(submodular=True)``."""
        from dsprog.core.views import Declared

        return Declared(self, properties)

    # -- names ------------------------------------------------------------------------------------------------------

    @property
    def element_labels(self) -> Labels | None:
        """The names of the elements, its own or those of a function that it is made of; None without any."""
        if self._labels is not None:
            return self._labels
        return next((h.element_labels for h in self.inner() if h.n == self.n and h.element_labels is not None), None)

    def labelled(self, labels: Iterable[Hashable]) -> SetFunction:
        """The same function with names for its elements, which results carry.

        >>> import dsprog as ds
        >>> ds.minimize(ds.Modular([1.0, -1.0]).labelled(["bread", "wine"])).labels
        ('wine',)
        """
        named = copy.copy(self)
        named._labels = as_labels(labels, self.n)
        return named

    def _named(self, view: SetFunction, elements: Ints) -> SetFunction:
        """Another function whose element k is our ``elements[k]``, with our names."""
        return view if self.element_labels is None else view.labelled([self.element_labels[j] for j in elements])

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], constraints: Iterable[Constraint] = ()) -> None:
        """Write the function, with constraints if there are any, to a ``.json`` or ``.npz`` file; see
        :func:`dsprog.load`.
        """
        from dsprog.core.native import save

        save(path, self, constraints)

    # -- identity ---------------------------------------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """The arguments that build this function again."""
        return arguments(self)

    def same_as(self, other: SetFunction) -> bool:
        """Whether two functions are of one family with equal data, hence equal."""
        return self is other or (self.n == other.n and same(self, other))

    def __eq__(self, other: object) -> bool:
        return self.same_as(other) if isinstance(other, SetFunction) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.n))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}; {self.knows.describe()})"

    def _repr_html_(self) -> str:
        """The same in a notebook, with the functions that it is made of."""
        rows = {"elements": str(self.n), "knows": escape(self.knows.describe())}
        if self.element_labels is not None:
            names = [str(name) for name in self.element_labels[:SHOWN]]
            rows["labels"] = escape(", ".join(names) + (", …" if self.n > SHOWN else ""))
        if self.inner():
            rows["made of"] = "<br>".join(escape(repr(h)) for h in self.inner())
        return facts(type(self).__name__, rows)


def shaped(numbers: Floats, shape: tuple[int, ...], family: SetFunction, method: str) -> Floats:
    """What a family computed, refused unless it is an array of the shape that it must have."""
    if not isinstance(numbers, np.ndarray) or numbers.shape != shape or numbers.dtype.kind not in "biuf":
        got = f"shape {numbers.shape}" if isinstance(numbers, np.ndarray) else type(numbers).__name__
        if isinstance(numbers, np.ndarray) and numbers.shape == shape:
            got = f"dtype {numbers.dtype}"
        raise ValueError(f"{method} of {type(family).__name__} must return real numbers of shape {shape}, got {got}")
    return numbers
