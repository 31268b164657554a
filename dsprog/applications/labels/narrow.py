"""The exact end of a narrow problem: sites are minimised out one by one, over the labels that they still have.

When a site goes, the costs that it has with its remaining neighbours are added up to one table, whose minimum over the
site's labels is a cost of these neighbours from then on. With labels pruned, a table has few entries even where the
graph is not quite narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dsprog.applications.labels.dual import EPS
from dsprog.applications.labels.label_problem import LabelProblem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.elimination.elimination_order import EliminationOrder, elimination_order

WIDEST = 14  # neighbours of a site when its turn comes
MOST_SITES = 3000  # the order is found in Python
MOST_ENTRIES = 1 << 18  # of one table


@dataclass(frozen=True)
class Factor:
    """Costs of some sites: an axis of the table for each, in the order in which they go."""

    sites: tuple[int, ...]
    table: Floats


def narrow_order(problem: LabelProblem, allowed: Masks) -> EliminationOrder | None:
    """An order of the sites whose tables are small, if one is found."""
    if problem.n > MOST_SITES:
        return None
    order = elimination_order(problem.n, np.column_stack([problem.first, problem.second]), WIDEST)
    if order is None:
        return None
    counts = allowed.sum(axis=1).tolist()
    entries = max((counts[i] * math.prod(counts[j] for j in s) for i, s in zip(order.order, order.scopes)), default=1)
    return order if entries <= MOST_ENTRIES else None


def eliminate(problem: LabelProblem, allowed: Masks, order: EliminationOrder) -> tuple[Ints, float]:
    """A best labelling with allowed labels, and a bound that differs from its energy by rounding.

    An entry is a sum of at most n + m costs, and sums of costs are compared: nothing lies further below.
    """
    kept = [np.flatnonzero(row) for row in allowed]
    place = {i: k for k, i in enumerate(order.order)}
    waiting: list[list[Factor]] = [[] for _ in range(problem.n)]

    def put(factor: Factor) -> None:
        if factor.sites:
            waiting[factor.sites[0]].append(factor)

    for i in range(problem.n):
        put(Factor((i,), problem.unary[i, kept[i]]))
    for e, (i, j) in enumerate(zip(problem.first.tolist(), problem.second.tolist())):
        table = problem.weights[e] * problem.tables[problem.which[e]][np.ix_(kept[i], kept[j])]
        put(Factor((i, j), table) if place[i] < place[j] else Factor((j, i), table.T))
    best: list[tuple[tuple[int, ...], Ints]] = []
    for i, scope in zip(order.order, order.scopes):
        sites = (i, *sorted(scope, key=place.__getitem__))
        total = joined(waiting[i], sites, tuple(len(kept[j]) for j in sites))
        best.append((sites[1:], total.argmin(axis=0)))
        waiting[i] = []
        put(Factor(sites[1:], total.min(axis=0)))
    chosen = np.zeros(problem.n, dtype=np.int64)
    for i, (others, choice) in zip(reversed(order.order), reversed(best)):
        chosen[i] = choice[tuple(chosen[list(others)])]
    x = np.array([labels[k] for labels, k in zip(kept, chosen)], dtype=np.int64)
    rounding = (problem.n + len(problem.first) + 4) * EPS * problem.magnitude
    return x, problem.energy(x) - rounding - problem.slack


def joined(factors: list[Factor], sites: tuple[int, ...], shape: tuple[int, ...]) -> Floats:
    """The sum of factors over ``sites``, each spread over the axes that it does not have."""
    total = np.zeros(shape)
    for factor in factors:
        total += factor.table.reshape([shape[k] if j in factor.sites else 1 for k, j in enumerate(sites)])
    return total
