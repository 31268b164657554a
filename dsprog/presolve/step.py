"""A presolve step: whom it accepts, what it makes of a problem, and the way back.

A step turns a problem into one or several *parts* on fewer elements such that, for sets S_k of the parts,

    value(lift(S_1, ..., S_m)) = offset + Σ_k value_k(S_k)      and      min value = offset + Σ_k min value_k,

so that bounds of the parts add up to a bound of the whole. A step keeps *one* optimum unless it says that it keeps all
sets worth listing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Masks
from dsprog.core.views import as_difference
from dsprog.presolve.exchange import moves, restricted


@dataclass(frozen=True)
class Wishes:
    """What a run wants, as far as presolve must know: several best sets, a gap that is shared by all parts, haste."""

    several: bool = False
    gap: float = 0.0
    seconds_left: Callable[[], float] = lambda: np.inf


class Reduced(ABC):
    """What a step made of a problem."""

    parts: tuple[Problem, ...]
    offset: float = 0.0
    lower: float = -np.inf  # a bound on the whole, where the step has found one
    words: str  # what it did

    @abstractmethod
    def lift(self, masks: Sequence[Masks]) -> Masks:
        """A set of each part as a set of the whole."""

    @abstractmethod
    def project(self, mask: Masks) -> list[Masks]:
        """A set of the whole as sets of the parts, as far as they have its elements."""


class Step(ABC):
    """A way to make problems smaller."""

    keeps_all: ClassVar[bool] = False  # whether no set worth listing is lost
    why_one: ClassVar[str] = "it keeps one optimum, not all"

    @abstractmethod
    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether what it rests on holds of a problem."""

    def seconds(self, problem: Problem) -> float:
        """About how long it will take, where that may be long."""
        return 0.0

    @abstractmethod
    def apply(self, problem: Problem) -> Reduced | None:
        """The smaller problem; None where nothing was found."""


@dataclass(frozen=True)
class Interval(Reduced):
    """The problem on the sets of an interval [I, U], the elements of I being there and those outside U not."""

    whole: Problem
    I: Masks
    U: Masks
    words: str

    @cached_property
    def parts(self) -> tuple[Problem, ...]:  # type: ignore[override]
        """One problem on the free elements."""
        return (on_interval(self.whole, self.I, self.U),)

    def lift(self, masks: Sequence[Masks]) -> Masks:
        """With I."""
        full = self.I.copy()
        full[self.U & ~self.I] = masks[0]
        return full

    def project(self, mask: Masks) -> list[Masks]:
        """The free elements."""
        return [mask[self.U & ~self.I]]


def on_interval(problem: Problem, I: Masks, U: Masks) -> Problem:
    """T -> value(I ∪ T) for the T inside U∖I such that I ∪ T is feasible."""
    objective = as_difference(problem.objective.restrict(np.flatnonzero(I), np.flatnonzero(U)))
    binding = moves(problem.rows, I, U).rows
    return Problem(objective, restricted(binding, I, np.flatnonzero(U & ~I)))
