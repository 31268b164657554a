"""Ranks of matroids: the size of a largest independent subset."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.gain_model import IN, GainModel
from dsprog.core.kernel import kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_whole
from dsprog.functions._scalar import KINDS


@kernel
def partition_chains_kernel(blocks, capacities, orders, start, out):
    """An element adds one while its block has room."""
    used = np.empty(len(capacities), dtype=np.int64)
    inside = np.empty(len(blocks), dtype=np.bool_)
    for b in range(len(orders)):
        used[:] = 0
        for j in range(len(inside)):
            inside[j] = start[b, j]
        for j in range(len(blocks)):
            if inside[j]:
                used[blocks[j]] += 1
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j >= 0 and not inside[j]:
                inside[j] = True
                if used[blocks[j]] < capacities[blocks[j]]:
                    out[b, k] = 1.0
                used[blocks[j]] += 1


@part
def find_root(parent, v):
    """Representative of v's tree, halving the path."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@kernel
def graphic_chains_kernel(edges, vertices, orders, start, out):
    """An edge adds one when it joins two trees."""
    parent = np.empty(vertices, dtype=np.int64)
    for b in range(len(orders)):
        for v in range(vertices):
            parent[v] = v
        for j in range(len(edges)):
            if start[b, j]:
                parent[find_root(parent, edges[j, 0])] = find_root(parent, edges[j, 1])
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j >= 0:
                p = find_root(parent, edges[j, 0])
                q = find_root(parent, edges[j, 1])
                if p != q:
                    parent[p] = q
                    out[b, k] = 1.0


class MatroidRank(SetFunction):
    """r(S) = max {|A| : A ⊆ S independent}; build it with ``uniform``, ``partition`` or ``graphic``.

    Examples
    --------
    >>> import dsprog as ds
    >>> ds.MatroidRank.uniform(5, rank=2)([0, 1, 4])
    2.0
    >>> ds.MatroidRank.partition([0, 0, 1], capacities=[1, 1])([0, 1])
    1.0
    >>> triangle = ds.MatroidRank.graphic([(0, 1), (1, 2), (2, 0)])
    >>> triangle([0, 1, 2])
    2.0
    """

    def __init__(self, kind: str, labels: ArrayLike, capacities: ArrayLike) -> None:
        if kind not in ("partition", "graphic"):
            raise ValueError(f"kind must be 'partition' or 'graphic', got {kind!r}")
        graphic = kind == "graphic"
        self.kind = kind
        self.labels = as_whole(labels, "edges" if graphic else "blocks", shape=(None, 2) if graphic else (None,))
        self.capacities = as_whole(capacities, "capacities", shape=(1,) if graphic else (None,))
        self.n = len(self.labels)
        self._check_labels(int(self.capacities[0]) if graphic else len(self.capacities))
        self.has_concave_extension = self.has_gains = kind == "partition"
        self.knows = Knowledge(submodular=True, increasing=True, integral=True)

    def _check_labels(self, most: int) -> None:
        """Compiled code trusts them."""
        if self.n and self.labels.max() >= most:
            what = "edges must join vertices" if self.kind == "graphic" else "blocks must be numbered"
            raise ValueError(f"{what} below {most}, got {self.labels.max()}")

    @cached_property
    def _ends(self) -> tuple[Ints, int]:
        """The edges with the vertices that they touch numbered 0, 1, ..., and how many those are."""
        vertices, ends = np.unique(self.labels, return_inverse=True)
        return np.ascontiguousarray(ends.reshape(self.labels.shape), dtype=np.int64), len(vertices)

    @classmethod
    def uniform(cls, n: int, rank: int) -> MatroidRank:
        """Sets of at most ``rank`` elements are independent."""
        return cls.partition(np.zeros(as_count(n, "n"), dtype=np.int64), [as_count(rank, "rank")])

    @classmethod
    def partition(cls, blocks: ArrayLike, capacities: ArrayLike) -> MatroidRank:
        """At most ``capacities[k]`` elements of block k are independent; ``blocks[j]`` is the block of element j."""
        return cls("partition", blocks, capacities)

    @classmethod
    def graphic(cls, edges: ArrayLike, vertices: int | None = None) -> MatroidRank:
        """Sets of edges without a cycle are independent; ``edges`` is an (n, 2) array of vertices from 0."""
        ends = as_whole(np.empty((0, 2)) if np.size(edges) == 0 else edges, "edges", shape=(None, 2))
        needed = int(ends.max(initial=-1)) + 1
        count = needed if vertices is None else as_count(vertices, "vertices", least=needed)
        return cls("graphic", ends, np.array([count]))

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        if self.kind == "graphic":
            graphic_chains_kernel(*self._ends, orders, start, out)
        else:
            partition_chains_kernel(self.labels, self.capacities, orders, start, out)
        return out

    def groups(self) -> list[Ints]:
        """The blocks of a partition."""
        if self.kind != "partition":
            return super().groups()
        return [np.flatnonzero(self.labels == k) for k in range(len(self.capacities))]

    def _values(self, masks: Masks) -> Floats:
        return self._values_from_chains(masks)

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """A block is a curve, min(capacity, |S ∩ block|)."""
        inside = (elements == IN).astype(float)
        for k, capacity in enumerate(self.capacities):
            W = (self.labels == k).astype(float)[None, :]
            kind = (KINDS["truncate"], float(capacity))
            model.curves(W, np.ones(1), kind, elements, weight, np.minimum(W @ inside, capacity))

    def _block_amounts(self, x: Floats) -> Floats:
        member = self.labels[:, None] == np.arange(len(self.capacities))
        return x @ member

    def _concave_extension(self, x: Floats) -> Floats:
        return np.minimum(self.capacities, self._block_amounts(x)).sum(axis=1)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # min(capacity, |S ∩ block|) is at most either side: take the one that is tight at x.
        full = self._block_amounts(x) >= self.capacities
        slopes = np.where(full[:, self.labels], 0.0, 1.0) if self.n else np.zeros(x.shape)
        return (full * self.capacities).sum(axis=1).astype(float), slopes
