"""Branch and bound on a quadratic form: odd cycles while it is sparse and they do well, else the semidefinite bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Masks
from dsprog.exact.quadratic.odd_cycle_search import ROUNDING, OddCycleSearch
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint
from dsprog.exact.quadratic.semidefinite_search import SemidefiniteSearch
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound

NEARLY_CLOSED = 0.01  # of the gap of the bounds before: what the odd-cycle bound leaves at a root that it keeps


class FormSearch(Method):
    """Nodes of the two searches are told apart by their arrays; sets are reported as ``lift`` makes them."""

    def __init__(
        self,
        run: Run,
        form: QuadraticForm,
        steps: Steps,
        rng: np.random.Generator,
        options: QuadraticBranchAndBound,
        lift: Callable[[Masks], Masks],
    ) -> None:
        super().__init__(run.problem, run)
        self.form, self.steps, self.rng, self.options, self.lift = form, steps, rng, options, lift
        self.gap_before = run.value - run.lower_bound
        self.rounding = 2 * ROUNDING * form.scale  # a set that is this close to an odd-cycle bound is proved
        self.used: dict[str, int] = {}

    @cached_property
    def odd_cycles(self) -> OddCycleSearch:
        """For sparse forms."""
        return OddCycleSearch(self.problem, self.run, self.form, self.steps, self.rng)

    @cached_property
    def semidefinite(self) -> SemidefiniteSearch:
        """For dense ones."""
        return SemidefiniteSearch(self.problem, self.run, self.form, self.steps, self.rng, InteriorPoint())

    def root(self) -> Bundle:
        """Of the bound that comes first; what is known already holds for it."""
        sparse = self.form.density <= self.options.sparse
        root = self.odd_cycles.root() if sparse else self.semidefinite.root()
        return {**root, "lower": np.maximum(root["lower"], self.run.lower_bound)}

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """By the bound that the node belongs to; the semidefinite one takes over a root that odd cycles leave open."""
        inner = self.semidefinite if "y" in bundle else self.odd_cycles
        found = inner.expand(bundle, cutoff)
        self.used[inner.name] = self.used.get(inner.name, 0) + 1
        bundles, small = found.bundles, self.form.n <= self.options.large
        if inner is self.odd_cycles and bundles and (bundle["labels"] < 0).all() and small:
            lower = float(bundles[0]["lower"][0])
            if float(found.values.min()) - lower > NEARLY_CLOSED * self.gap_before:
                bundles = [{**self.semidefinite.root(), "lower": np.array([lower])}]
        return Expansion(bundles, found.nodes, self.lift(found.masks), found.values, found.closed, found.source)

    def proof(self) -> str:
        """Which bounds closed the nodes."""
        names = " and ".join(self.used)
        return names if sum(self.used.values()) == 1 else f"branch and bound with {names}"
