"""The Fujishige–Wolfe minimum-norm-point algorithm.

The point x* of least norm in the base polytope B(f) sorts the ground set so that {x* < 0} is the smallest and {x* <=
0} the largest minimiser of f. Wolfe's method walks to it over convex combinations of greedy vertices. Two things make
it robust here:

- any point x of B(f) gives the bound f(S) >= f(∅) + Σ_j min(0, x_j), so the gap is known at every step, and
  convergence of the norm is never needed;
- the minimiser is read from the values along the chain of x, not from the signs of x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix
from dsprog.submodular.minimum import SubmodularMinimum, minimum_between
from dsprog.submodular.persistency import persistency


class ActiveVertices:
    """A point kept as a convex combination of affinely independent vertices."""

    def __init__(self, vertex: Floats) -> None:
        self.vertices = vertex[None, :].copy()
        self.weights = np.ones(1)
        self.gram = np.array([[vertex @ vertex]])

    @property
    def point(self) -> Floats:
        """The combination itself."""
        return self.weights @ self.vertices

    def add(self, vertex: Floats) -> None:
        """Append a vertex with weight 0."""
        products = self.vertices @ vertex
        self.gram = np.block([[self.gram, products[:, None]], [products[None, :], np.array([[vertex @ vertex]])]])
        self.vertices = np.vstack([self.vertices, vertex])
        self.weights = np.append(self.weights, 0.0)

    def affine_minimiser(self) -> Floats:
        """Weights, of any sign and sum one, of the point of least norm in the affine hull: (11' + VV') u = 1,
        normalised.
        """
        scale = max(np.trace(self.gram) / len(self.gram), 1e-300)
        system = self.gram / scale + 1.0
        try:
            u = np.linalg.solve(system, np.ones(len(system)))
        except np.linalg.LinAlgError:
            u = np.linalg.lstsq(system, np.ones(len(system)), rcond=None)[0]
        return u / u.sum()

    def move_to_nearest(self) -> None:
        """Minor cycles: go to the affine minimiser, dropping vertices whose weight would turn negative."""
        while True:
            target = self.affine_minimiser()
            blocking = target < 1e-14
            if not blocking.any():
                self.weights = target
                return
            steps = self.weights[blocking] / np.maximum(self.weights[blocking] - target[blocking], 1e-300)
            theta = min(1.0, float(steps.min()))
            self.weights = (1 - theta) * self.weights + theta * target
            keep = self.weights > 1e-14
            keep[np.flatnonzero(blocking)[steps.argmin()]] = False
            if not keep.any():
                keep[self.weights.argmax()] = True
            self.vertices, self.gram = self.vertices[keep], self.gram[np.ix_(keep, keep)]
            self.weights = self.weights[keep] / self.weights[keep].sum()


def minimize_by_min_norm_point(
    f: SetFunction,
    gap: float,
    start: ArrayLike | None = None,
    max_iterations: int | None = None,
    extremes: bool = True,
) -> SubmodularMinimum:
    """Minimise f; see :func:`dsprog.minimize_submodular`. What marginals decide is fixed first."""
    first = np.zeros(f.n) if start is None else as_matrix(start, "start", shape=(f.n,))
    fixed = persistency(f)
    walk = walk_to_nearest(fixed.restrict(f), first[fixed.free], max_iterations, extremes)
    minimal, maximal, best = fixed.lift_sets(np.array([walk.minimal, walk.maximal, walk.best]), f.n)
    base, empty = fixed.lift_base(f, walk.base), f([])
    lower = empty + np.minimum(0.0, base).sum()
    slack = gap * max(walk.scale, float(np.abs(base).max(initial=0.0))) + 8 * np.finfo(float).eps * abs(empty)
    return minimum_between(f, minimal, maximal, best, lower, slack, "min-norm point", walk.iterations, base, extremes)


class Walk(NamedTuple):
    """Smallest, largest and best minimiser met, the base of the best bound, the largest value, and iterations."""

    minimal: Masks
    maximal: Masks
    best: Masks
    base: Floats
    scale: float
    iterations: int


def walk_to_nearest(f: SetFunction, first: Floats, max_iterations: int | None, extremes: bool) -> Walk:
    """Walk towards the point of least norm, until the gap closes or, for the extreme minimisers, to its end.

    Values are taken relative to f(∅), so that a constant changes nothing.
    """
    limit = max_iterations if max_iterations is not None else 50 * f.n + 100
    x, base = np.zeros(f.n), np.zeros(f.n)
    best, best_value, lower = np.zeros(f.n, dtype=bool), 0.0, -np.inf
    vertex, values, order = chain_at(f, first)
    active, scale = ActiveVertices(vertex), float(np.abs(values).max())
    stalled = iterations = 0
    while iterations < limit:
        iterations += 1
        x = active.point
        vertex, values, order = chain_at(f, x)
        scale = max(scale, float(np.abs(values).max()))
        stalled += 1
        bound = np.minimum(0.0, x).sum()
        if bound > lower:
            lower, base, stalled = bound, x, 0
        if values.min() < best_value:
            best, best_value, stalled = prefix(order, int(values.argmin())), float(values.min()), 0
        closed = not extremes and best_value - lower <= 1e-15 * scale
        # x is nearest to the origin when no vertex lies on the near side of its hyperplane: x·x <= x·vertex.
        nearest = x @ x - x @ vertex <= 1e-14 * scale * np.abs(x).sum()
        if closed or nearest or stalled > 3 * f.n + 30:
            break
        active.add(vertex)
        active.move_to_nearest()
    sizes = np.flatnonzero(values <= min(values.min(), best_value) + 1e-12 * scale)
    if len(sizes) == 0:
        return Walk(best, best, best, base, scale, iterations)
    return Walk(prefix(order, sizes[0]), prefix(order, sizes[-1]), best, base, scale, iterations)


def nearest_base(
    f: SetFunction, accuracy: float, start: ArrayLike | None = None, max_iterations: int | None = None
) -> Floats:
    """The point of least norm in the base polytope of f, to within ``accuracy``.

    The minimiser x* and the point x returned satisfy |x - x*|² <= x·x - min over vertices s of x·s <= accuracy, unless
    the iterations ran out. -x is then the minimiser of f̂(z) + |z|²/2 over all z, and clipped to the cube, over the
    cube.

    >>> import dsprog as ds
    >>> nearest_base(ds.CardinalityConcave(2, [0.0, 3.0, 4.0]), 1e-12)
    array([2., 2.])
    """
    first = np.zeros(f.n) if start is None else as_matrix(start, "start", shape=(f.n,))
    active = ActiveVertices(chain_at(f, first)[0])
    for _ in range(max_iterations if max_iterations is not None else 50 * f.n + 100):
        x = active.point
        vertex, _, _ = chain_at(f, x)
        if x @ x - x @ vertex <= accuracy:
            break
        active.add(vertex)
        active.move_to_nearest()
    return active.point


def chain_at(f: SetFunction, x: Floats) -> tuple[Floats, Floats, Ints]:
    """The greedy vertex least along x, the values of the prefixes of its order relative to f(∅), and the order."""
    order = np.argsort(x, kind="stable")
    increments = f.chains(order[None, :])[0]
    vertex = np.empty(f.n)
    vertex[order] = increments
    return vertex, np.concatenate([[0.0], np.cumsum(increments)]), order


def prefix(order: Ints, size: int) -> Masks:
    """The first elements of an order, as a mask."""
    mask = np.zeros(len(order), dtype=bool)
    mask[order[:size]] = True
    return mask
