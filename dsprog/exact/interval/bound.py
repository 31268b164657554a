"""What a bound of interval branch and bound is.

Nodes are intervals [I, U] of sets, kept as a bundle of arrays (see :mod:`dsprog.run.driver`): ``I`` and ``U`` are
boolean (B, n), ``lower`` is (B,), ``x`` is a point of the cube for each node; every bound keeps further arrays of its
own there, so that children inherit them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from dsprog.core.validation import Floats, Masks
from dsprog.run.driver import Bundle, take


class Tightened(NamedTuple):
    """Nodes that are still open, elements to fix in them, and the least bound of what was closed."""

    nodes: Bundle
    include: Masks
    exclude: Masks
    closed: float


class Bound(ABC):
    """A lower bound of f - g on each interval of a batch."""

    name: ClassVar[str]
    uses_ends: ClassVar[bool] = False  # whether it needs f and g at both ends of every interval
    repeats: ClassVar[bool] = True  # whether to try again at once where elements were fixed
    guides: ClassVar[bool] = False  # whether its scores say where to branch, before those of bounds that do not
    travels: ClassVar[tuple[str, ...]] = ()  # of its arrays, those that cost more to compute again than to carry along

    @abstractmethod
    def prepare(self, nodes: Bundle) -> None:
        """Add the arrays that this bound keeps with the nodes, unless they came along."""

    @abstractmethod
    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """Bring those arrays up to date after elements were fixed; I and U have moved already."""

    @abstractmethod
    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Raise ``lower``, close what reaches the cutoff, and find elements to fix in the rest."""

    @abstractmethod
    def scores(self, nodes: Bundle) -> Floats:
        """How promising each element is to branch on, as a (B, n) array; only free elements count."""


def free(nodes: Bundle) -> Masks:
    """F = U∖I for each node."""
    return nodes["U"] & ~nodes["I"]


def least(numbers: Floats) -> float:
    """The least of some numbers, on whatever machine they are; infinite if there are none."""
    return float(numbers.min()) if numbers.size else np.inf


def close(nodes: Bundle, cutoff: float, few: float = 0.0) -> tuple[Bundle, Masks, float]:
    """The nodes below the cutoff, which they are, and the least bound of the others; nothing is taken out for a share
    of at most ``few``.
    """
    keep = nodes["lower"] < cutoff
    if len(keep) - int(keep.sum()) <= few * len(keep):
        return nodes, keep, np.inf
    return take(nodes, keep), keep, least(nodes["lower"][~keep])


def fixed_by_costs(F: Masks, bound: Floats, d: Floats, cutoff: float) -> tuple[Masks, Masks, float]:
    """Elements that no set below the cutoff has, or omits, and the least bound of the sets lost in this way.

    With a minorant's bound b and reduced costs d, sets with j are >= b + max(0, d_j), and those without it >= b +
    max(0, -d_j).
    """
    with_j, without_j = bound[:, None] + np.maximum(0.0, d), bound[:, None] + np.maximum(0.0, -d)
    exclude = F & (with_j >= cutoff)
    include = F & ~exclude & (without_j >= cutoff)
    return exclude, include, min(least(with_j[exclude]), least(without_j[include]))
