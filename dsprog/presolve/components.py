"""Components: groups of elements that no term, and no constraint, joins.

Then v(S) - v(I) is the sum of v(I ∪ (S ∩ C)) - v(I) over the components C, which are minimised one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Ints, Masks
from dsprog.presolve.exchange import moves
from dsprog.presolve.fixing import everything
from dsprog.presolve.quadratic import free_form_of
from dsprog.presolve.step import Reduced, Step, Wishes, on_interval


@dataclass(frozen=True)
class Separated(Reduced):
    """One problem for each component, the smallest first; with nothing chosen elsewhere each has the value v(∅) too."""

    whole: Problem
    components: tuple[Ints, ...]

    @property
    def words(self) -> str:  # type: ignore[override]
        """How many."""
        return f"{len(self.components)} parts"

    @cached_property
    def parts(self) -> tuple[Problem, ...]:  # type: ignore[override]
        """Each component with nothing outside it."""
        nothing = np.zeros(self.whole.n, dtype=bool)
        return tuple(on_interval(self.whole, nothing, self._mask(component)) for component in self.components)

    @cached_property
    def offset(self) -> float:  # type: ignore[override]
        """v(S) = v(∅) + Σ_k (v_k(S_k) - v(∅))."""
        return (1 - len(self.components)) * self.whole.objective([])

    def lift(self, masks: Sequence[Masks]) -> Masks:
        """All together."""
        full = np.zeros(self.whole.n, dtype=bool)
        for component, mask in zip(self.components, masks):
            full[component] = mask
        return full

    def project(self, mask: Masks) -> list[Masks]:
        """Each by itself."""
        return [mask[component] for component in self.components]

    def _mask(self, component: Ints) -> Masks:
        mask = np.zeros(self.whole.n, dtype=bool)
        mask[component] = True
        return mask


class Components(Step):
    """Parts that no term and no constraint joins."""

    why_one = "the best sets of the whole are not sets of its parts"

    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether values add up; a relative gap of the whole is not one of the parts, and a flow needs none."""
        form = free_form_of(problem)
        one_flow = form is not None and form.submodular
        return wishes.gap == 0 and problem.n > 1 and not one_flow and problem.objective.is_certifiable

    def seconds(self, problem: Problem) -> float:
        """Groups are lists of elements."""
        return 1e-7 * problem.n**2 if free_form_of(problem) is None else 0.0

    def apply(self, problem: Problem) -> Separated | None:
        """Look for them."""
        form = free_form_of(problem)
        found = connected(problem) if form is None else labelled(form.pairs)
        return Separated(problem, tuple(sorted(found, key=len))) if len(found) > 1 else None


def connected(problem: Problem) -> list[Ints]:
    """The elements in parts that no group of a term joins, and no row that binds."""
    from scipy.sparse import coo_array

    rows = moves(problem.rows, *everything(problem.n)).rows.A
    groups = [*problem.objective.groups(), *(np.flatnonzero(a) for a in rows), np.zeros(0, dtype=np.int64)]
    heads, tails = (np.concatenate([group[ends] for group in groups]) for ends in (slice(None, -1), slice(1, None)))
    return labelled(coo_array((np.ones(len(heads)), (heads, tails)), shape=(problem.n, problem.n)))


def labelled(graph: Any) -> list[Ints]:
    """The connected components of a sparse graph."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])
