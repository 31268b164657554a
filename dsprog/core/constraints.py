"""Constraints on the sets that a solver may return. All are linear: rows lo <= A S <= hi."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.identity import Registry, arguments, same
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_mask, as_matrix, as_number, as_reals, as_whole

TOLERANCE = 1e-9  # relative to the limit of a row: 0.1 + 0.2 keeps a limit of 0.3
SPARSE = 0.1  # part of the entries up to which sums go over those that are not 0
ROUNDING = 8 * float(np.finfo(float).eps)  # relative to Σ_{j∈S} |a_j|, which the sum over S may lose


class Entries(NamedTuple):
    """Entries of rows: row, column and number of each, the columns (or rows) that have any, and where these begin."""

    r: Ints
    j: Ints
    a: Floats
    columns: Ints
    first: Ints

    def sums(self, numbers: Floats, n: int) -> Floats:
        """(B, n): the sums over each column of numbers (B, entries)."""
        out = np.zeros((len(numbers), n))
        if len(self.columns):
            out[:, self.columns] = np.add.reduceat(numbers, self.first, axis=1)
        return out


@dataclass(frozen=True)
class LinearRows:
    """lo <= A S <= hi, row by row."""

    A: Floats
    lo: Floats
    hi: Floats

    @property
    def disjoint(self) -> bool:
        """Whether every element stands in at most one row."""
        return bool(((self.A != 0).sum(axis=0) <= 1).all())

    def __len__(self) -> int:
        return len(self.A)

    def satisfied(self, masks: Masks) -> Masks:
        """Whether each set satisfies every row, up to rounding in its limit and in the weights that the set has."""
        activity, size = self.activity(masks)
        rounding = ROUNDING * size
        low, high = self.relaxed
        return np.asarray(((activity >= low - rounding) & (activity <= high + rounding)).all(axis=1))

    def activity(self, masks: Masks) -> tuple[Floats, Floats]:
        """A S for each set, and Σ_{j∈S} |a_j|, which is what rounding is relative to: (B, rows) each."""
        if self._by_row is None:
            return masks @ self.A.T, masks @ self._sizes.T
        _, j, a, places, first = self._by_row
        out = np.zeros((2, len(masks), len(self)))
        if len(places):
            chosen = np.where(masks[:, j], a, 0.0)
            out[0][:, places] = np.add.reduceat(chosen, first, axis=1)
            out[1][:, places] = np.add.reduceat(np.abs(chosen), first, axis=1)
        return out[0], out[1]

    @cached_property
    def largest(self) -> Floats:
        """The largest |entry| of each row; 1 where all are 0."""
        found = self._sizes.max(axis=1, initial=0.0)
        return np.where(found > 0, found, 1.0)

    @cached_property
    def _sizes(self) -> Floats:
        return np.abs(self.A)

    @cached_property
    def _by_row(self) -> Entries | None:
        """The entries that are not 0, row by row, where they are few."""
        if np.count_nonzero(self.A) > SPARSE * self.A.size:
            return None
        r, j = np.nonzero(self.A)
        return Entries(r, j, self.A[r, j], *np.unique(r, return_index=True))

    @cached_property
    def entries(self) -> Entries:
        """The entries that are not 0, column by column."""
        j, r = np.nonzero(self.A.T)
        columns, first = np.unique(j, return_index=True)
        return Entries(r, j, self.A[r, j], columns, first)

    @cached_property
    def relaxed(self) -> tuple[Floats, Floats]:
        """The limits, each wider by the tolerance; infinite ones stay."""
        low, high = (TOLERANCE * np.where(np.isfinite(limit), np.abs(limit), 0.0) for limit in (self.lo, self.hi))
        return self.lo - low, self.hi + high


KINDS = Registry("constraint")


class Constraint(ABC):
    """Which sets are feasible. Like a function, a constraint stores every argument under its own name."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KINDS.add(cls)

    @abstractmethod
    def rows(self, n: int) -> LinearRows:
        """The constraint on n elements as linear rows."""

    def parameters(self) -> dict[str, Any]:
        """The arguments that build this constraint again."""
        return arguments(self)

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def __hash__(self) -> int:
        return hash(type(self))


@dataclass(frozen=True, init=False)
class Cardinality(Constraint):
    """min <= |S| <= max, or ``exactly`` so many.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-1.0, -2.0, -3.0]), constraints=[ds.Cardinality(max=2)]).S
    (1, 2)
    >>> ds.Cardinality(exactly=2)
    Cardinality(min=2, max=2)
    """

    min: int
    max: int | None

    def __init__(self, min: int = 0, max: int | None = None, *, exactly: int | None = None) -> None:
        if exactly is not None:
            if min not in (0, exactly) or max not in (None, exactly):
                raise ValueError(f"exactly must stand alone, without min and max, got min={min}, max={max}")
            min = max = as_count(exactly, "exactly")
        object.__setattr__(self, "min", as_count(min, "min"))
        object.__setattr__(self, "max", None if max is None else as_count(max, "max", least=min))

    @property
    def exactly(self) -> int | None:
        """The size of every feasible set, if they have one size."""
        return self.min if self.min == self.max else None

    def rows(self, n: int) -> LinearRows:
        """Σ x_j between min and max."""
        return LinearRows(np.ones((1, n)), np.array([self.min]), np.array([n if self.max is None else self.max]))


@dataclass(frozen=True)
class Include(Constraint):
    """S contains the given elements.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([1.0, 2.0]), constraints=[ds.Include([1])]).S
    (1,)
    """

    elements: tuple[int, ...]

    def __init__(self, elements: Iterable[int]) -> None:
        object.__setattr__(self, "elements", as_elements(elements))

    def rows(self, n: int) -> LinearRows:
        """As many of them as there are."""
        mask = as_mask(self.elements, n, "elements").astype(float)
        return LinearRows(mask[None, :], np.array([mask.sum()]), np.array([mask.sum()]))


@dataclass(frozen=True)
class Exclude(Constraint):
    """S has none of the given elements.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-1.0, -2.0]), constraints=[ds.Exclude([1])]).S
    (0,)
    """

    elements: tuple[int, ...]

    def __init__(self, elements: Iterable[int]) -> None:
        object.__setattr__(self, "elements", as_elements(elements))

    def rows(self, n: int) -> LinearRows:
        """None of them."""
        return LinearRows(as_mask(self.elements, n, "elements").astype(float)[None, :], np.zeros(1), np.zeros(1))


class ArrayConstraint(Constraint):
    """A constraint given by arrays; prints their contents."""

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v.tolist() if isinstance(v, np.ndarray) else v}" for k, v in vars(self).items())
        return f"{type(self).__name__}({arguments})"


class Knapsack(ArrayConstraint):
    """Σ_{j∈S} weights_j <= capacity, weights non-negative.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-3.0, -2.0, -2.0]), constraints=[ds.Knapsack([4, 2, 2], capacity=4)]).S
    (1, 2)
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self.weights = as_matrix(weights, "weights", shape=(None,), nonnegative="use LinearConstraint otherwise")
        self.capacity = as_number(capacity, "capacity")

    def rows(self, n: int) -> LinearRows:
        """One row."""
        if len(self.weights) != n:
            raise ValueError(f"weights must have one entry for each of {n} elements, got {len(self.weights)}")
        return LinearRows(self.weights[None, :], np.array([-np.inf]), np.array([self.capacity]))


class Partition(ArrayConstraint):
    """At most ``capacities[k]`` elements of block k; ``blocks[j]`` is the block of element j.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-3.0, -2.0, -1.0]), constraints=[ds.Partition([0, 0, 1], [1, 1])]).S
    (0, 2)
    """

    def __init__(self, blocks: ArrayLike, capacities: ArrayLike) -> None:
        self.blocks = as_whole(blocks, "blocks", shape=(None,))
        self.capacities = as_matrix(capacities, "capacities", shape=(None,), nonnegative="it counts elements")
        if len(self.blocks) and self.blocks.max() >= len(self.capacities):
            raise ValueError(f"blocks must be numbered below {len(self.capacities)}, got {self.blocks.max()}")

    def rows(self, n: int) -> LinearRows:
        """One row a block."""
        if len(self.blocks) != n:
            raise ValueError(f"blocks must have one entry for each of {n} elements, got {len(self.blocks)}")
        A = (self.blocks == np.arange(len(self.capacities))[:, None]).astype(float)
        return LinearRows(A, np.full(len(A), -np.inf), self.capacities)


class LinearConstraint(ArrayConstraint):
    """lo <= A S <= hi, with A of shape (rows, n) or (n,).

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([1.0, 2.0, 4.0]), constraints=[ds.LinearConstraint([1, 2, 3], lo=4)]).S
    (0, 2)
    """

    def __init__(self, A: ArrayLike, lo: ArrayLike = -np.inf, hi: ArrayLike = np.inf) -> None:
        self.A = as_matrix(np.atleast_2d(as_reals(A, "A")), "A", shape=(None, None))
        self.lo, self.hi = (limits(b, name, len(self.A)) for b, name in ((lo, "lo"), (hi, "hi")))
        if np.isnan(self.lo).any() or np.isnan(self.hi).any():
            raise ValueError("lo and hi must be numbers or infinite, got NaN")
        if np.isposinf(self.lo).any() or np.isneginf(self.hi).any():
            raise ValueError("lo must be below infinity and hi above -infinity, or no set is feasible")

    def rows(self, n: int) -> LinearRows:
        """As given."""
        if self.A.shape[1] != n:
            raise ValueError(f"A must have one column for each of {n} elements, got {self.A.shape[1]}")
        return LinearRows(self.A, self.lo, self.hi)


def as_elements(elements: Iterable[int]) -> tuple[int, ...]:
    """Whole numbers, kept as they are given."""
    if not isinstance(elements, Iterable) or isinstance(elements, str):
        raise TypeError(f"elements must be whole numbers such as [0, 2], got {elements!r}")
    return tuple(elements)


def limits(value: ArrayLike, name: str, rows: int) -> Floats:
    """A limit for each row: one for all, or one each."""
    array = as_reals(value, name)
    if array.ndim > 1 or array.size not in (1, rows):
        raise ValueError(f"{name} must be one number or one for each of {rows} rows, got shape {array.shape}")
    return np.broadcast_to(array, (rows,)).copy()


def all_rows(constraints: Iterable[Constraint], n: int) -> LinearRows:
    """The rows of all constraints together."""
    parts = [constraint.rows(n) for constraint in constraints]
    A = np.concatenate([np.zeros((0, n)), *(part.A for part in parts)])
    lo, hi = (np.concatenate([np.zeros(0), *(getattr(part, side) for part in parts)]) for side in ("lo", "hi"))
    return LinearRows(np.ascontiguousarray(A), lo.astype(float), hi.astype(float))


def feasible(constraints: Iterable[Constraint], masks: Masks) -> Masks:
    """Whether each set satisfies all constraints."""
    return all_rows(constraints, masks.shape[1]).satisfied(masks)
