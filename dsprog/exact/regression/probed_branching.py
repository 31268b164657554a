"""Which feature to branch on: the one whose two children's bounds rise most.

A few candidates, the largest coefficients, are probed: a short descent with the feature forced and one without it give
valid bounds of both children, so that nothing is lost by probing. With ``room`` left to the cutoff, a bound that rises
by the part x of it is taken to leave a tree of 2^(-LEVELS x) the size, and the feature with the smallest two trees is
branched on. The largest coefficient alone lifts the child without it and leaves the other where it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import part
from dsprog.core.validation import Floats, Ints
from dsprog.exact.regression.budget import Capped
from dsprog.exact.regression.coefficient_boxes import forced_bound
from dsprog.exact.regression.perspective_bound import Point, descend, product, shape, shape_all

CANDIDATES = 10
LEVELS = 8.0


class Branch(NamedTuple):
    """A free feature by its position, and bounds on the sets that have it and on those that do not."""

    position: int
    inside: float
    outside: float


@part
def left_out_bound(problem, shapes, point, j, limits, val):
    """The bound without j; leaves w as it is."""
    lo, hi = problem.lo[j], problem.hi[j]
    problem.lo[j], problem.hi[j] = 0.0, 0.0
    shape(problem, j, shapes)
    rest = Point(point.w.copy(), point.Gw.copy())
    for k in range(len(rest.w)):
        rest.Gw[k] -= problem.G[j, k] * point.w[j]
    rest.w[j] = 0.0
    lower = descend(problem, shapes, rest, -1, limits.cutoff, limits, val)
    problem.lo[j], problem.hi[j] = lo, hi
    shape(problem, j, shapes)
    return lower


@part
def probe(problem, w, limits, asked, ends):
    """Bounds with (row 0) and without (row 1) each feature that is asked for."""
    point, val = Point(w, product(problem.G, w)), np.empty(len(w))
    shapes = shape_all(problem)
    for j in range(len(w)):
        if asked[j]:
            ends[0, j] = forced_bound(problem, shapes, point, j, 0.0, limits.cutoff, limits, val)
            shape(problem, j, shapes)
            ends[1, j] = left_out_bound(problem, shapes, point, j, limits, val)


def largest_coefficient(w: Floats, val: Floats, lower: float, capped: Capped) -> Branch:
    """The feature of the largest coefficient, each child with its part of the bound."""
    k = int(np.argmax(np.abs(w) if w.any() else val))
    return Branch(k, lower + max(0.0, capped.last - float(val[k])), lower + max(0.0, float(val[k]) - capped.next))


def candidates(w: Floats) -> Ints:
    """Positions of the largest coefficients."""
    largest = np.argsort(-np.abs(w), kind="stable")[:CANDIDATES]
    return largest[w[largest] != 0]


def strongest(positions: Ints, inside: Floats, outside: Floats, lower: float, cutoff: float, room: float) -> Branch:
    """The candidate that leaves the smallest trees, none where a bound reaches the cutoff."""

    def tree(bounds: Floats) -> Floats:
        rise = np.maximum(bounds - lower, 0.0) / max(room, np.finfo(float).tiny)
        return np.where(bounds >= cutoff, 0.0, np.exp2(-LEVELS * rise))

    best = int(np.argmin(tree(inside) + tree(outside)))
    return Branch(int(positions[best]), float(inside[best]), float(outside[best]))
