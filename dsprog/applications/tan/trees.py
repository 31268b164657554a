"""From pairs and cuts to a tree over attributes.

A tree is an array of parents, -1 for a root. It comes from

- a maximum spanning tree on pair weights: Friedman's TAN with I(X_i; X_j | C), the pairwise discriminative TAN with
  the residuals EAR_ij;
- a recursive bipartition: the two parts of every cut, smallest blocks first, are joined by one edge;
- separators: for every attribute s the others are bipartitioned given s, and a tree in which s separates what hangs
  below it accordingly is put together by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from dsprog.applications.tan.attribute_cuts import AttributeCut
from dsprog.core.validation import Floats, Ints

Edge = tuple[int, int]
Block = frozenset[int]
Join = Callable[[tuple[int, ...], tuple[int, ...]], Edge]


def spanning_tree(weights: Floats) -> list[Edge]:
    """The edges of a maximum spanning tree, by Prim's algorithm; of equal weights the first pair is taken."""
    n = len(weights)
    if n == 0:
        return []
    best, link = weights[0].copy(), np.zeros(n, dtype=np.int64)
    outside = np.arange(n) > 0
    edges = []
    while outside.any():
        j = int(np.where(outside, best, -np.inf).argmax())
        edges.append((int(link[j]), j))
        outside[j] = False
        closer = outside & (weights[j] > best)
        best[closer], link[closer] = weights[j, closer], j
    return edges


def rooted(n: int, edges: Iterable[Edge], root: int = 0) -> Ints:
    """The parents when the tree hangs from an attribute."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    parents = np.full(n, -1, dtype=np.int64)
    stack = [root] if n else []
    while stack:
        i = stack.pop()
        for j in neighbours[i]:
            if j != parents[i]:
                parents[j] = i
                stack.append(j)
    return parents


def joined(cuts: Iterable[AttributeCut], join: Join) -> list[Edge]:
    """One edge for each cut, smallest blocks first."""
    return [join(cut.part, cut.rest) for cut in sorted(cuts, key=lambda cut: len(cut.block))]


def heaviest(weights: Floats) -> Join:
    """Join two parts by their pair of largest weight."""

    def join(part: tuple[int, ...], rest: tuple[int, ...]) -> Edge:
        here = weights[np.ix_(part, rest)]
        a, b = np.unravel_index(int(here.argmax()), here.shape)
        return part[a], rest[b]

    return join


class Separators:
    """The tree of largest total weight that respects the cuts given each separator.

    Let D_s be the blocks of the recursive bipartition of V∖s given s. A block B of D_s hangs below s either through
    one neighbour x, below which hang the largest blocks of D_x inside B∖x, or as its two halves in D_s:

        best(B, s) = max( max_x w_sx + Σ best(B', x),  best(B_1, s) + best(B_2, s) ).

    Parameters
    ----------
    weights : (n, n) pair weights
    cuts : for each attribute the cuts of the bipartition of the others, given it
    """

    def __init__(self, weights: Floats, cuts: list[list[AttributeCut]]) -> None:
        self.weights, self.n = weights, len(weights)
        self.halves = [{frozenset(c.block): (frozenset(c.part), frozenset(c.rest)) for c in these} for these in cuts]
        self._best: dict[tuple[Block, int], tuple[float, list[Edge]]] = {}

    def edges(self) -> list[Edge]:
        """The edges of the best tree over all roots."""
        trees = [self.best(frozenset(range(self.n)) - {s}, s) for s in range(self.n)]
        return max(trees, key=lambda tree: tree[0])[1] if trees else []

    def best(self, block: Block, s: int) -> tuple[float, list[Edge]]:
        """Weight and edges of the best way to hang a block of D_s below s."""
        if not block:
            return 0.0, []
        if (block, s) not in self._best:
            options = [self._through(block, s, x) for x in sorted(block)]
            if block in self.halves[s]:
                options.append(together(self.best(half, s) for half in self.halves[s][block]))
            self._best[block, s] = max(options, key=lambda option: option[0])
        return self._best[block, s]

    def _through(self, block: Block, s: int, x: int) -> tuple[float, list[Edge]]:
        below = together(self.best(part, x) for part in self._largest_inside(block - {x}, x))
        return below[0] + self.weights[s, x], [(s, x), *below[1]]

    def _largest_inside(self, block: Block, x: int) -> list[Block]:
        """The largest blocks of D_x inside a block; single attributes are blocks."""
        found: list[Block] = []
        stack = [frozenset(range(self.n)) - {x}] if block else []
        while stack:
            candidate = stack.pop()
            if candidate <= block:
                found.append(candidate)
            elif candidate & block:
                stack.extend(self.halves[x][candidate])
        return found


def together(parts: Iterable[tuple[float, list[Edge]]]) -> tuple[float, list[Edge]]:
    """The sum of weights and the union of edges."""
    weight, edges = 0.0, []
    for more, others in parts:
        weight += more
        edges += others
    return weight, edges


def all_pairs(part: tuple[int, ...], rest: tuple[int, ...]) -> list[Edge]:
    """The pairs across a cut."""
    return list(product(part, rest))
