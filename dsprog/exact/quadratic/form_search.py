"""Branch and bound on a quadratic form: odd cycles if it is sparse, the semidefinite bound if it is dense.

At a root that odd cycles leave open both are computed, and the search goes on with the higher one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Masks
from dsprog.exact.quadratic.odd_cycle_search import ROUNDING, OddCycleSearch
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint
from dsprog.exact.quadratic.semidefinite_search import SemidefiniteSearch
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound


NEIGHBOURS = 7  # on average, up to which odd cycles are tried where few variables have a field

Lift = Callable[[Masks], Masks]


class FormSearch(Method):
    """Nodes of the two searches are told apart by their arrays; sets are reported as ``lift`` makes them."""

    def __init__(
        self,
        run: Run,
        form: QuadraticForm,
        steps: Steps,
        rng: np.random.Generator,
        options: QuadraticBranchAndBound,
        lift: Lift,
    ) -> None:
        super().__init__(run.problem, run)
        self.form, self.steps, self.rng, self.options, self.lift = form, steps, rng, options, lift
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

    @property
    def sparse(self) -> bool:
        """Whether odd cycles come first: few pairs, and few neighbours or mostly short cycles, through vertex 0."""
        form = self.form
        hub = int(np.count_nonzero(form.field)) > 0.5 * form.n
        few = int(form.pairs.nnz) <= NEIGHBOURS * form.n
        return form.density <= self.options.sparse and (hub or few)

    def root(self) -> Bundle:
        """Of the bound that comes first; what is known already holds for it."""
        root = self.odd_cycles.root() if self.sparse else self.semidefinite.root()
        return {**root, "lower": np.maximum(root["lower"], self.run.lower_bound)}

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """By the bound that the node belongs to; at a root that odd cycles leave open, by the better of both."""
        inner: OddCycleSearch | SemidefiniteSearch = self.semidefinite if "y" in bundle else self.odd_cycles
        found = self.counted(inner, bundle, cutoff)
        at_root = inner is self.odd_cycles and bool((bundle["labels"] < 0).all())
        small = self.form.n <= self.options.large and self.semidefinite.in_time(self.form.n)
        if at_root and found.bundles and small and self.run.stop_reason() is None:
            found = self.better(found, cutoff)
        return replace(found, masks=self.lift(found.masks))

    def counted(self, inner: OddCycleSearch | SemidefiniteSearch, bundle: Bundle, cutoff: float) -> Expansion:
        """Expand a node by one of the searches."""
        self.used[inner.name] = self.used.get(inner.name, 0) + 1
        return inner.expand(bundle, cutoff)

    def better(self, found: Expansion, cutoff: float) -> Expansion:
        """What odd cycles left of the root, or what the semidefinite bound leaves of it, whichever bound is higher."""
        lower = float(found.bundles[0]["lower"][0])
        root = {**self.semidefinite.root(), "lower": np.array([lower])}
        other = self.counted(self.semidefinite, root, min(cutoff, float(found.values.min())))
        masks, values = np.vstack([found.masks, other.masks]), np.append(found.values, other.values)
        if other.bundles and float(other.bundles[0]["lower"][0]) <= lower:
            return replace(found, nodes=found.nodes + other.nodes, masks=masks, values=values)
        return replace(other, nodes=found.nodes + other.nodes, masks=masks, values=values)

    def recipe(self) -> partial[FormSearch]:
        """From the form; random numbers of a worker are its own."""
        return partial(remade_form_search, self.form, self.steps, self.options, self.lift)

    def counts(self) -> dict[str, int]:
        """How often each bound was used."""
        return dict(self.used)

    def credit(self, counts: dict[str, int]) -> None:
        """Add what a worker used."""
        for name, count in counts.items():
            self.used[name] = self.used.get(name, 0) + count

    def proof(self) -> str:
        """Which bounds closed the nodes."""
        names = " and ".join(self.used)
        return names if sum(self.used.values()) == 1 else f"branch and bound with {names}"


def remade_form_search(
    form: QuadraticForm,
    steps: Steps,
    options: QuadraticBranchAndBound,
    lift: Lift,
    problem: Problem,
    run: Run,
) -> FormSearch:
    """The search in another process, whose run begins without sets and bound."""
    return FormSearch(run, form, steps, np.random.default_rng(run.seed), options, lift)
