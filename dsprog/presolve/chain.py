"""Presolve: the steps in their order, and what they leave together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Masks
from dsprog.presolve.components import Components
from dsprog.presolve.domination import Dominated
from dsprog.presolve.fixing import FixedByConstraints, FixedByMarginals
from dsprog.presolve.quadratic import FewNeighbours, OneOfTwo, RoofDuality, free_form_of
from dsprog.presolve.step import Reduced, Step, Wishes

STEPS: tuple[Step, ...] = (
    FixedByConstraints(),
    RoofDuality(),
    OneOfTwo(),
    FewNeighbours(),
    Dominated(),
    FixedByMarginals(),
    Components(),  # the last: every step before it gives one part
)
PATIENCE = 0.2  # of the time that is left: a step that may take longer is left out
WORTH = 0.9  # a problem is replaced if this part of its elements is left, or less


@dataclass(frozen=True)
class Presolved:
    """A problem, what the steps made of it, one after the other, and why some were left out."""

    problem: Problem
    stages: tuple[Reduced, ...] = ()
    without: str = ""

    @cached_property
    def parts(self) -> tuple[Problem, ...]:
        """What is left to solve, the smallest first."""
        last = self.stages[-1].parts if self.stages else (self.problem,)
        return tuple(part for part in last if part.n)

    @cached_property
    def offset(self) -> float:
        """What the values of the parts miss: value(lift(S_1, ...)) = offset + Σ_k value_k(S_k)."""
        last = self.stages[-1].parts if self.stages else (self.problem,)
        return sum(stage.offset for stage in self.stages) + sum(part.objective([]) for part in last if not part.n)

    @property
    def lower(self) -> float:
        """A bound on the whole that some step has found."""
        return max((stage.lower for stage in self.stages), default=-np.inf)

    @property
    def left(self) -> int:
        """How many elements are left."""
        return sum(part.n for part in self.parts)

    @property
    def worthwhile(self) -> bool:
        """Whether parts are so much smaller that looking at functions through them pays; forms are written anew."""
        if not self.stages:
            return False
        direct = free_form_of(self.problem) is not None
        return direct or len(self.parts) > 1 or self.left <= WORTH * self.problem.n - 1

    def lift(self, masks: Sequence[Masks]) -> Masks:
        """A set of each part as a set of the whole."""
        given = iter(masks)
        last = self.stages[-1].parts if self.stages else (self.problem,)
        found = [next(given) if part.n else np.zeros(0, dtype=bool) for part in last]
        for stage in reversed(self.stages):
            found = [stage.lift(found)]
        return found[0]

    def project(self, mask: Masks) -> list[Masks]:
        """A set of the whole as sets of the parts."""
        found = [mask]
        for stage in self.stages:
            found = stage.project(found[0])
        return [part for part in found if len(part)]

    def sentence(self) -> str:
        """What was done, for log and result."""
        words = ", ".join(stage.words for stage in self.stages) or "nothing found"
        count = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        done = f"{self.left} of {self.problem.n} elements left{count} ({words})"
        return f"{done}; {self.without}" if self.without and self.problem.n else done


def presolve(problem: Problem, wishes: Wishes) -> Presolved:
    """Apply every step that accepts what is left."""
    stages: list[Reduced] = []
    left_out: list[str] = []
    part = problem
    for step in STEPS:
        if not part.n or not step.accepts(part, wishes):
            continue
        if wishes.several and not step.keeps_all:
            left_out.append(f"{type(step).__name__} ({step.why_one})")
            continue
        if step.seconds(part) > PATIENCE * wishes.seconds_left():
            left_out.append(f"{type(step).__name__} (it would take too long)")
            continue
        reduced = step.apply(part)
        if reduced is not None:
            stages.append(reduced)
            part = reduced.parts[0]
    return Presolved(problem, tuple(stages), f"left out: {', '.join(left_out)}" if left_out else "")
