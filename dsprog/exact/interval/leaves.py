"""Nodes that are so small that all their sets are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.validation import Masks
from dsprog.exact.interval.bound import free
from dsprog.run.driver import Bundle, take


def enumerated(nodes: Bundle, leaf: int, sizes: tuple[float, float], xp: Any = np) -> tuple[Bundle, list[Masks]]:
    """The nodes that are left, and all sets of the others.

    The others have at most ``leaf`` free elements, or a size leaves them no choice. ``xp`` makes arrays where the nodes
    are.
    """
    nodes, masks = without_choice(nodes, sizes, xp)
    found, count = [masks], free(nodes).sum(axis=1)
    small = count <= leaf
    if small.any():
        found += [subsets(take(nodes, small & (count == size)), size, xp) for size in range(leaf + 1)]
        nodes = take(nodes, ~small)
    return nodes, found


def without_choice(nodes: Bundle, sizes: tuple[float, float], xp: Any = np) -> tuple[Bundle, Masks]:
    """The nodes in which the least and the most size leave more than one element to choose, and all sets of the others.

    With |S| <= |I| + 1 these are I and I ∪ j, with |S| >= |U| - 1 they are U and U∖j.
    """
    least, most = sizes
    if least == -np.inf and most == np.inf:
        return nodes, nodes["I"][:0]
    with_one = nodes["I"].sum(axis=1) + 1 >= most
    without_one = ~with_one & (nodes["U"].sum(axis=1) - 1 <= least)
    if not (with_one.any() or without_one.any()):
        return nodes, nodes["I"][:0]
    found = []
    for rows, end in ((with_one, "I"), (without_one, "U")):
        ends, (b, j) = nodes[end][rows], np.nonzero(free(nodes)[rows])
        flipped = ends[b]
        flipped[xp.arange(len(b)), j] ^= True
        found += [ends, flipped]
    return take(nodes, ~(with_one | without_one)), np.concatenate(found)


def subsets(nodes: Bundle, size: int, xp: Any = np) -> Masks:
    """All sets of intervals that have ``size`` free elements each."""
    codes = (xp.arange(1 << size)[:, None] >> xp.arange(size)) & 1 == 1
    count = len(nodes["I"])
    masks = np.repeat(nodes["I"], len(codes), axis=0)
    if size and count:
        columns = np.nonzero(free(nodes))[1].reshape(count, size)
        rows = xp.arange(count * len(codes))[:, None]
        masks[rows, np.repeat(columns, len(codes), axis=0)] = np.tile(codes, (count, 1))
    return masks
