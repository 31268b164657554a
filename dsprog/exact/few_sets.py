"""Families of so few sets that all are looked at: sizes, blocks and forced elements, counted exactly.

Take rows that ask for a number of elements of a block, lo <= |S ∩ block| <= hi, with blocks that are disjoint, and let
m elements be free in a block. The sets of the interval [I, U] that keep these rows are Π_blocks Σ_{lo <= r <= hi}
C(m, r) in number; other rows only make them fewer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsprog.core.constraints import TOLERANCE, LinearRows
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Ints, Masks, count_sizes


@dataclass(frozen=True)
class Block:
    """Between ``least`` and ``most`` of some elements."""

    elements: Ints
    least: int
    most: int

    @property
    def count(self) -> int:
        """How many subsets that is; beyond some 10^18 the count is not finished."""
        return count_sizes(len(self.elements), self.least, self.most)

    @property
    def freedom(self) -> float:
        """The logarithm of the part of all subsets that it leaves."""
        return math.log2(self.count) - len(self.elements) if self.count else -math.inf

    def subsets(self) -> Iterator[tuple[int, ...]]:
        """All of them, small ones first."""
        sizes = range(self.least, self.most + 1)
        return itertools.chain.from_iterable(itertools.combinations(self.elements, size) for size in sizes)


@dataclass(frozen=True)
class FewSets:
    """The sets that a choice of disjoint blocks and forced elements leaves; all feasible sets are among them."""

    include: Masks
    blocks: tuple[Block, ...]

    @cached_property
    def count(self) -> int:
        """How many they are."""
        return math.prod(block.count for block in self.blocks)

    def batches(self, sizes: Iterator[int]) -> Iterator[Masks]:
        """All of them, as many at a time as each of ``sizes`` says."""
        choices = itertools.product(*(block.subsets() for block in self.blocks))
        while some := list(itertools.islice(choices, next(sizes))):
            chosen = [list(itertools.chain.from_iterable(parts)) for parts in some]
            masks = np.repeat(self.include[None], len(some), axis=0)
            b = np.repeat(np.arange(len(some)), [len(elements) for elements in chosen])
            masks[b, np.fromiter(itertools.chain.from_iterable(chosen), dtype=int, count=len(b))] = True
            yield masks


def few_sets(problem: Problem) -> FewSets:
    """The sets that the rows of a problem leave, as far as blocks say it."""
    n, rows = problem.n, problem.rows
    nodes = {"I": np.zeros((1, n), dtype=bool), "U": np.ones((1, n), dtype=bool)}
    include, exclude, feasible = propagate(rows, nodes)
    if not feasible[0]:
        return FewSets(include[0], (Block(np.zeros(0, dtype=int), 1, 0),))
    left = ~(include | exclude)[0]
    taken, blocks = ~left, []
    for block in sorted(counting_rows(rows, include[0], left), key=lambda block: block.freedom):
        if not taken[block.elements].any():
            blocks.append(block)
            taken[block.elements] = True
    others = [Block(np.array([j]), 0, 1) for j in np.flatnonzero(~taken)]
    return FewSets(include[0], (*blocks, *others))


def counting_rows(rows: LinearRows, include: Masks, left: Masks) -> list[Block]:
    """The rows that ask for a number of elements: whose entries, among those that are left, are all equal."""
    found = []
    for a, lo, hi in zip(rows.A, *rows.relaxed):
        elements = np.flatnonzero(left & (a != 0))
        if len(elements) and (a[elements] == a[elements[0]]).all():
            limits = sorted(((lo - a @ include) / a[elements[0]], (hi - a @ include) / a[elements[0]]))
            least, most = max(limits[0] - TOLERANCE, 0.0), min(limits[1] + TOLERANCE, float(len(elements)))
            found.append(Block(elements, math.ceil(least), math.floor(most)))
    return found
