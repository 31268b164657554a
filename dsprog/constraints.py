"""Constraints on the sets that a solver may return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dsprog.validation import Masks, as_count, as_mask


class Constraint(ABC):
    """Which sets are feasible."""

    @abstractmethod
    def satisfied(self, masks: Masks) -> Masks:
        """Whether each row of a (B, n) boolean array is feasible, as a (B,) boolean array."""


@dataclass(frozen=True)
class Cardinality(Constraint):
    """min <= |S| <= max.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-1.0, -2.0, -3.0]), constraints=[ds.Cardinality(max=2)]).S
    (1, 2)
    """

    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        as_count(self.min, "min")
        if self.max is not None:
            as_count(self.max, "max", least=self.min)

    def satisfied(self, masks: Masks) -> Masks:
        """Whether each set has a size in range."""
        sizes = masks.sum(axis=1)
        return (sizes >= self.min) & (sizes <= (masks.shape[1] if self.max is None else self.max))


@dataclass(frozen=True)
class Include(Constraint):
    """S contains the given elements.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([1.0, 2.0]), constraints=[ds.Include([1])]).S
    (1,)
    """

    elements: Iterable[int]

    def satisfied(self, masks: Masks) -> Masks:
        """Whether each set contains them."""
        return np.asarray(masks[:, as_mask(self.elements, masks.shape[1], "elements")].all(axis=1))


@dataclass(frozen=True)
class Exclude(Constraint):
    """S has none of the given elements.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([-1.0, -2.0]), constraints=[ds.Exclude([1])]).S
    (0,)
    """

    elements: Iterable[int]

    def satisfied(self, masks: Masks) -> Masks:
        """Whether each set avoids them."""
        return np.asarray(~masks[:, as_mask(self.elements, masks.shape[1], "elements")].any(axis=1))


def feasible(constraints: Iterable[Constraint], masks: Masks) -> Masks:
    """Whether each set satisfies all constraints."""
    result = np.ones(len(masks), dtype=bool)
    for constraint in constraints:
        result &= constraint.satisfied(masks)
    return result
