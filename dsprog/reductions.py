"""A smaller problem with the same optimum, before any search.

- *Elements fixed by marginals.* For S in [I, U] and j free, f(j|U∖j) - g(j|I) <= v(S ∪ j) - v(S ∖ j) <= f(j|I) -
  g(j|U∖j), v = f - g: if the left side is at least 0 some optimum omits j, if the right side is at most 0 some optimum
  has it. Elements that change nothing, or change the value by a constant, are among these. Repeated while I or U move.
- *Duplicates.* Let every term but the modular one be increasing and submodular. If h(jk) = h(j) = h(k) for such an h
  then h(S ∪ jk) = h(S ∪ j) = h(S ∪ k) for all S, since h(S ∪ jk) - h(S ∪ j) <= h(jk) - h(j) = 0. If this holds for
  all terms, the cost of k is at least 0 and at least that of j, then some optimum omits k: replace it by j.
- *Components.* If no term joins elements of C with others, v(S) - v(I) is the sum of v(I ∪ (S ∩ C)) - v(I) over the
  components C, which are minimised one by one.
- *Information.* a H(X_S | y) - a H(X_S) is written as -a I(X_S; y), which solvers bound better.

All of this ignores constraints, so that constrained problems stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dsprog.algebra import Difference, LinearCombination, Term
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation
from dsprog.functions.graph import Quadratic
from dsprog.functions.modular import Modular
from dsprog.functions.mutual_information import joined
from dsprog.problem import Problem
from dsprog.set_function import SetFunction
from dsprog.transforms import as_difference, restriction
from dsprog.validation import Floats, Ints, Masks

WORTH = 0.9  # a problem is replaced if this part of its elements is left, or less


@dataclass(frozen=True)
class Reduction:
    """Which elements some optimum has, which are left to choose, in components, and how the others went."""

    problem: Problem
    include: Masks
    components: tuple[Ints, ...]
    omitted: int
    duplicates: int

    @property
    def worthwhile(self) -> bool:
        """Whether the parts are so much smaller that looking at the functions through them pays."""
        left = sum(map(len, self.components))
        return len(self.components) > 1 or left <= WORTH * self.problem.n - 1

    def part(self, component: Ints) -> Problem:
        """The problem on one component, the included elements being there and all others not."""
        inside = np.flatnonzero(self.include)
        within = np.concatenate([inside, component])
        return Problem(as_difference(restriction(joined(self.problem.objective), inside, within)))

    def lifted(self, component: Ints, mask: Masks, base: Masks) -> Masks:
        """A set of one component as a set of the whole problem, elsewhere as ``base``."""
        full = base | self.include
        full[component] = mask
        return full

    def sentence(self) -> str:
        """What was found, for the log."""
        left = sum(map(len, self.components))
        found = f"{int(self.include.sum())} included, {self.omitted} omitted, {self.duplicates} duplicates"
        return f"{left} of {self.problem.n} elements left ({found}) in {len(self.components)} parts"


def reduce(problem: Problem, split: bool = True) -> Reduction:
    """Fix elements, drop duplicates, find components; a constrained problem is left as it is."""
    n, objective = problem.n, problem.objective
    I, U = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    if len(problem.rows) or not objective.is_certifiable or n == 0:
        return Reduction(problem, I, (np.arange(n),), 0, 0)
    copies = duplicates(objective)
    U &= ~copies
    I, U = fixed_by_marginals(objective, I, U)
    free = np.flatnonzero(U & ~I)
    components = connected(objective, free) if split else (free,)
    return Reduction(problem, I, components, int((~U & ~copies).sum()), int(copies.sum()))


def fixed_by_marginals(objective: Difference, I: Masks, U: Masks) -> tuple[Masks, Masks]:
    """Ends of the interval that some optimum lies in."""
    f, g = objective.f, objective.g
    while True:
        ends, F = np.array([I, U]), U & ~I
        df, dg = f._marginals(ends), g._marginals(ends)
        exclude = F & (df[1] - dg[0] >= 0)
        include = F & ~exclude & (df[0] - dg[1] <= 0)
        if not (include.any() or exclude.any()):
            return I, U
        I, U = I | include, U & ~exclude


# -- duplicates -----------------------------------------------------------------------------------------------------


def duplicates(objective: Difference) -> Masks:
    """Elements that can be replaced by another at no cost."""
    n, dropped = objective.n, np.zeros(objective.n, dtype=bool)
    terms = [*objective.f.terms, *objective.g.terms]
    parts = [term.function for term in terms if not isinstance(term.function, Modular)]
    if not parts or not all(h.knows.submodular and h.knows.increasing for h in parts):
        return dropped
    empty = np.zeros((1, n), dtype=bool)
    costs = modular_part(objective.terms, n)
    alone = np.array([h._marginals(empty)[0] for h in parts])
    order = np.lexsort((costs, *np.round(alone, 9)))
    for first, last in runs(np.round(alone, 9)[:, order]):
        same = order[first:last]
        for place, j in enumerate(same):
            rest = same[place + 1 :]
            rest = rest[~dropped[rest] & (costs[rest] >= 0)]
            if len(rest) and not dropped[j]:
                dropped[rest[parallel(parts, j, rest, n)]] = True
    return dropped


def parallel(parts: Iterable[SetFunction], j: int, others: Ints, n: int) -> Masks:
    """Whether h(jk) = h(j) = h(k) for each of the others k and every part h, exactly."""
    single, double = np.zeros((len(others), n), dtype=bool), np.zeros((len(others), n), dtype=bool)
    single[np.arange(len(others)), others] = True
    double[np.arange(len(others)), others] = True
    double[:, j] = True
    mine = np.arange(n)[None, :] == j
    equal = np.ones(len(others), dtype=bool)
    for h in parts:
        of_j, of_k, of_both = float(h._values(mine)[0]), h._values(single), h._values(double)
        equal &= (np.abs(of_both - of_j) <= 1e-14 * abs(of_j)) & (np.abs(of_both - of_k) <= 1e-14 * abs(of_j))
    return equal


def modular_part(terms: Iterable[Term], n: int) -> Floats:
    """The weights of the modular terms."""
    parts = (a * h.weights for a, h in terms if isinstance(h, Modular))
    return sum(parts, np.zeros(n))


def runs(keys: Floats) -> list[tuple[int, int]]:
    """Where equal columns of a sorted array begin and end, for those that are not alone."""
    change = np.flatnonzero((np.diff(keys, axis=1) != 0).any(axis=0)) + 1
    ends = [0, *change.tolist(), keys.shape[1]]
    return [(a, b) for a, b in pairwise(ends) if b - a > 1]


# -- components -----------------------------------------------------------------------------------------------------


def connected(objective: Difference, free: Ints) -> tuple[Ints, ...]:
    """The free elements in groups that no term joins."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if len(free) == 0:
        return ()
    place = np.full(objective.n, -1)
    place[free] = np.arange(len(free))
    heads, tails = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for group in joins(objective):
        members = place[group][place[group] >= 0]
        heads.append(members[:-1])
        tails.append(members[1:])
    edges = np.concatenate(heads), np.concatenate(tails)
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(len(free), len(free)))
    _, label = connected_components(graph, directed=False)
    return tuple(free[label == k] for k in np.unique(label))


def joins(h: SetFunction) -> list[Ints]:
    """Groups of elements such that h is a sum of functions of one group each, and a modular function."""
    if isinstance(h, LinearCombination):
        return [group for _, part in h.terms for group in joins(part)]
    if isinstance(h, Modular):
        return []
    if isinstance(h, Coverage):
        by_item = h.members.tocsr()
        return np.split(by_item.indices, by_item.indptr[1:-1])
    if isinstance(h, (ConcaveOfModular, FacilityLocation)):
        rows = h.W if isinstance(h, ConcaveOfModular) else h.similarity
        return [np.flatnonzero(row) for row in rows]
    if isinstance(h, Quadratic):
        pairs = h.pairs.tocoo()
        return list(np.column_stack([pairs.row, pairs.col]))
    return [np.arange(h.n)]
