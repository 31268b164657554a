"""An energy over labels as plain arrays: what moves, bounds and searches work on.

    E(x) = constant + Σ_i u_i(x_i) + Σ_e c_e(x_i, x_j),   e = (i, j), i < j,   c_e(a, b) = w_e T_e[a, b]

with labels x_i in 0..L-1. Tables T are shared by edges: one for all of them if there is one distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.labels import own_labels
from dsprog.core.quadratic_form import Steps
from dsprog.core.validation import LARGEST, Floats, Ints, Masks, as_matrix
from dsprog.functions.graph import upper_triangle
from dsprog.functions.quadratic_energies import as_adjacency

MOST_TABLES = 1000  # that are looked at at a time


class Links(NamedTuple):
    """Edges as kernels want them: those of site i are ``edge[indptr[i]:indptr[i + 1]]``, with their other ends.

    ``tables[0, k]`` has the labels of the first end as rows, ``tables[1, k]`` those of the second; ``largest[k]``
    is the largest absolute value there.
    """

    indptr: Ints
    edge: Ints
    other: Ints
    weights: Floats
    which: Ints
    tables: Floats
    largest: Floats


@dataclass(frozen=True)
class LabelProblem:
    """u (n, L), the ends and weights of the edges, tables (K, L, L), and which table an edge has."""

    unary: Floats
    first: Ints
    second: Ints
    weights: Floats
    tables: Floats
    which: Ints
    constant: float = 0.0

    @property
    def n(self) -> int:
        """The number of sites."""
        return self.unary.shape[0]

    @property
    def count(self) -> int:
        """The number of labels."""
        return self.unary.shape[1]

    def pair_costs(self, a: Ints, b: Ints) -> Floats:
        """c_e(a_e, b_e) of every edge."""
        return self.weights * self.tables[self.which, a, b]

    def energy(self, x: Ints) -> float:
        """E(x)."""
        pairs = self.pair_costs(x[self.first], x[self.second])
        return self.constant + float(self.unary[np.arange(self.n), x].sum()) + float(pairs.sum())

    @cached_property
    def largest(self) -> Floats:
        """The largest absolute value of each table."""
        return np.abs(self.tables).max(axis=(1, 2), initial=0.0)

    @cached_property
    def magnitude(self) -> float:
        """An upper bound on |E - constant|, for tolerances."""
        pairs = float((np.abs(self.weights) * self.largest[self.which]).sum())
        return float(np.abs(self.unary).max(axis=1, initial=0.0).sum()) + pairs

    @property
    def slack(self) -> float:
        """What counts as rounding in an energy."""
        return 1e-14 * (self.magnitude + abs(self.constant))

    @cached_property
    def steps(self) -> Steps:
        """The values that E can take, where all costs are whole.

        Each summand is its first entry and a multiple of ``size``: the greatest common divisor of all differences.
        """
        shared = len(self.tables) == 1  # by many edges, of few weights
        weights = np.unique(self.weights) if shared else self.weights
        which = np.zeros(len(weights), dtype=np.int64) if shared else self.which
        parts: list[Floats] = [self.unary]
        for some in np.array_split(np.arange(len(weights)), 1 + len(weights) // MOST_TABLES):
            pairs = weights[some, None, None] * self.tables[which[some]]
            parts.append(pairs.reshape(len(some), self.count**2))
            if (pairs % 1).any():
                break
        if not self.n or self.magnitude >= 2**50 or any((costs % 1).any() for costs in parts):
            return Steps(0.0, 0.0)
        divisors = [int(np.gcd.reduce(np.abs(costs - costs[:, :1]).astype(np.int64), axis=None)) for costs in parts]
        return Steps(self.energy(np.zeros(self.n, dtype=np.int64)), float(np.gcd.reduce(divisors)))

    def target(self, energy: float) -> float:
        """A bound that reaches this proves ``energy``: nothing lies between, but for rounding."""
        return min(self.steps.needed(energy), energy - self.slack) if self.steps.size else energy - self.slack

    @cached_property
    def links(self) -> Links:
        """The edges by site, lower neighbours first."""
        m = len(self.first)
        here, there = np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first])
        order = np.lexsort((there, here))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=self.n))]).astype(np.int64)
        tables = np.stack([self.tables, self.tables.transpose(0, 2, 1)])
        edge = (order % max(1, m)).astype(np.int64)
        return Links(indptr, edge, there[order], self.weights, self.which, np.ascontiguousarray(tables), self.largest)

    @property
    def degree(self) -> int:
        """The most edges at one site."""
        return int(np.diff(self.links.indptr).max(initial=0))

    def response(self, x: Ints) -> Floats:
        """What each label would cost at each site if its neighbours kept theirs: an (n, L) array."""
        costs = self.unary.copy()
        for ends, others, rows in ((self.first, x[self.second], False), (self.second, x[self.first], True)):
            tables = self.tables[self.which, others] if rows else self.tables[self.which, :, others]
            np.add.at(costs, ends, self.weights[:, None] * tables)
        return costs

    def part(self, sites: Ints, x: Ints) -> tuple[LabelProblem, Ints]:
        """The problem of some sites, all others labelled as in ``x``, and the edges that it keeps.

        Its constant is 0.
        """
        place = np.full(self.n, -1)
        place[sites] = np.arange(len(sites))
        one, two = place[self.first], place[self.second]
        kept = np.flatnonzero((one >= 0) & (two >= 0))
        unary = self.unary[sites].copy()
        for e, ends, others, rows in (
            (np.flatnonzero((one >= 0) & (two < 0)), one, self.second, False),
            (np.flatnonzero((one < 0) & (two >= 0)), two, self.first, True),
        ):
            table, label = self.which[e], x[others[e]]
            costs = self.tables[table, label] if rows else self.tables[table, :, label]
            np.add.at(unary, ends[e], self.weights[e, None] * costs)
        used, which = np.unique(self.which[kept], return_inverse=True)
        tables = self.tables[used]
        return LabelProblem(unary, one[kept], two[kept], self.weights[kept], tables, which.astype(np.int64)), kept


def as_label_problem(unary: ArrayLike, graph: Any, distance: Any) -> LabelProblem:
    """Check what a user gives; see :func:`dsprog.applications.minimize_labels`."""
    costs = as_matrix(unary, "unary", shape=(None, None)).copy()  # which may be written, as those of parts
    n, count = costs.shape
    if not count:
        raise ValueError("unary must have a column for each label, got none")
    weights = as_adjacency(graph, "graph")
    if weights.shape != (n, n):
        raise ValueError(f"graph must have {n} sites, as unary has rows, got {weights.shape[0]}")
    edges = upper_triangle(weights).tocoo()
    first, second = edges.row.astype(np.int64), edges.col.astype(np.int64)
    if isinstance(distance, Mapping):
        tables = tables_of(distance, own_labels(graph) or range(n), first, second, count)
        which = np.arange(len(first))
    else:
        tables = as_matrix(distance, "distance", shape=(count, count))[None]
        if not np.allclose(tables[0], tables[0].T, rtol=1e-12, atol=0.0):
            raise ValueError(
                "distance must be symmetric, since edges have no direction: give a table for each edge as "
                "{(i, j): table}, with the labels of i as rows, where they have one"
            )
        which = np.zeros(len(first), dtype=np.int64)
    with np.errstate(over="ignore"):
        problem = LabelProblem(costs, first, second, np.asarray(edges.data, dtype=float), tables, which)
        if not problem.magnitude <= LARGEST:
            raise ValueError(f"graph and distance must have products that add up to at most {LARGEST:g}")
    return problem


def tables_of(tables: Mapping[Any, Any], names: Any, first: Ints, second: Ints, count: int) -> Floats:
    """A table for each edge, from a dictionary with pairs of sites as keys, in either direction."""
    place = {name: k for k, name in enumerate(names)}
    found: dict[tuple[int, int], Floats] = {}
    for pair, table in tables.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(end in place for end in pair)):
            raise ValueError(f"distance must have pairs of sites as keys, got {pair!r}")
        i, j = place[pair[0]], place[pair[1]]
        matrix = as_matrix(table, f"distance of {pair!r}", shape=(count, count))
        if (min(i, j), max(i, j)) in found:
            raise ValueError(f"distance must have each edge once, got {pair!r} in both directions")
        found[min(i, j), max(i, j)] = matrix if i < j else matrix.T
    missing = [pair for pair in zip(first.tolist(), second.tolist()) if pair not in found]
    if missing:
        i, j = missing[0]
        raise ValueError(f"distance must have a table for each edge, got none for {(names[i], names[j])!r}")
    listed = [found[pair] for pair in zip(first.tolist(), second.tolist())]
    return np.array(listed).reshape(len(listed), count, count)


def free_sites(allowed: Masks) -> Ints:
    """Sites with more than one label left."""
    return np.flatnonzero(allowed.sum(axis=1) > 1)
