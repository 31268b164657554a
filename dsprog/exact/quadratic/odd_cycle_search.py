"""Branch and bound for sparse quadratic functions: the odd-cycle bound, one variable fixed at a time."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Floats, Masks
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.settle import settled
from dsprog.exact.quadratic.tabu import tabu_search
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

ROUNDING = 1e-10  # of the scale of the coefficients: a set that is no further from its bound than this is proved


class OddCycleSearch(Method):
    """Best-first search over partial labellings; a node is ``labels`` (1, n) with -1 for free variables.

    The run is asked between rounds of cuts; a node that it interrupts stays open with the bound reached.
    """

    name = "the odd-cycle linear programme"

    def __init__(self, problem: Problem, run: Run, form: QuadraticForm, steps: Steps, rng: np.random.Generator) -> None:
        super().__init__(problem, run)
        self.form, self.steps, self.rng = form, steps, rng

    def stop(self) -> bool:
        """Whether the run wants to stop."""
        return self.run.stop_reason() is not None

    def root(self) -> Bundle:
        """Nothing fixed."""
        return {"lower": np.array([-np.inf]), "labels": np.full((1, self.form.n), -1)}

    def proof(self) -> str:
        """In words."""
        return f"branch and bound with {self.name}"

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Bound one node; close it or fix one more variable both ways."""
        labels, parent = settled(self.form, bundle["labels"][0]), float(bundle["lower"][0])
        if (labels >= 0).all():
            masks = (labels == 1)[None]
            values = self.form.values(masks)
            return Expansion([], 1, masks, values, max(parent, float(values[0])), "odd cycles")
        bound, best, rounding = self.bound, self.best, ROUNDING * self.form.scale
        bound.fix(labels)

        def pause(z: Floats) -> tuple[bool, float]:
            del z
            if best.improve(bound.labels()) or bound.inner is None:
                bound.towards(best.mask)
            return self.stop(), self.steps.needed(min(cutoff, best.value - rounding))

        lower = self.steps.rounded(max(parent, bound.run(self.steps.needed(cutoff), pause)))
        masks, values, cuts = best.mask[None], np.array([best.value]), len(bound.programme.b)
        if lower >= min(cutoff, best.value - rounding):
            return Expansion([], 1, masks, values, lower, "odd cycles")
        if self.stop():
            return Expansion([{**bundle, "lower": np.array([lower])}], 1, masks, values, source="odd cycles")
        before, labels = labels, bound.implied(labels, self.steps.needed(cutoff))
        closed = (
            self.steps.rounded(max(lower, cutoff)) if (before != labels).any() else np.inf
        )  # the sets that reduced costs rule out
        if (labels >= 0).all():
            children = labels[None, None]
        else:
            children = np.repeat(labels[None, None], 2, axis=0)
            children[:, 0, bound.most_fractional(labels)] = (0, 1)
        bundles = [{"lower": np.array([lower]), "labels": child} for child in children]
        return Expansion(bundles, 1, masks, values, closed, "odd cycles", cuts)

    @cached_property
    def bound(self) -> OddCycleBound:
        """One programme for all nodes: a node only limits its variables, and what it separates holds for all."""
        return OddCycleBound(self.form, self.rng)

    @cached_property
    def best(self) -> Best:
        """The best set of all nodes, from the run's on."""
        best, mask = Best(self.form, self.rng), self.run.mask
        if mask is not None and len(mask) == self.form.n:
            best.improve(mask)
        return best


class Best:
    """The best set of a form so far."""

    def __init__(self, form: QuadraticForm, rng: np.random.Generator) -> None:
        self.form, self.rng = form, rng
        self.mask, self.value = np.zeros(form.n, dtype=bool), np.inf

    def improve(self, mask: Masks) -> bool:
        """Take a set, after a short tabu search, if it is better; whether it was."""
        masks, values = tabu_search(self.form, mask[None], self.rng, steps=2 * self.form.n)
        if values[0] >= self.value:
            return False
        self.mask, self.value = masks[0], float(values[0])
        return True
