"""The Lovász extension, greedy vertices, and the modular bounds that follow from them.

For a point x take the elements in falling order of x and let s_j be the increment of f when j joins. Then

    f̂(x) = f(∅) + s·x,

which is f at binary points, piecewise linear, defined on all of R^n, and convex exactly when f is submodular. In that
case s is a vertex of the base polytope and a subgradient at x, and f(S) >= f(∅) + s(S) for every S.

>>> import dsprog as ds
>>> f = ds.CardinalityConcave(2, "sqrt")
>>> value, subgradient = ds.lovasz_extension(f, [1.0, 0.0])
>>> value == f([0])
True
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, as_mask, as_permutation, as_points


def greedy_vertices(f: SetFunction, x: ArrayLike) -> Floats:
    """The increments of f in falling order of each row of x, by element: a (B, n) array of base vertices.

    >>> import dsprog as ds
    >>> ds.greedy_vertices(ds.CardinalityConcave(2, [0, 3, 4]), [[0.1, 0.9]])
    array([[1., 3.]])
    """
    points = as_points(x, f.n)
    orders = np.argsort(-points, axis=1, kind="stable")
    vertices = np.empty(points.shape)
    np.put_along_axis(vertices, orders, f.chains(orders), axis=1)
    return vertices


def lovasz_extension(f: SetFunction, x: ArrayLike) -> tuple[float | Floats, Floats]:
    """Value and subgradient of the Lovász extension, at one point (n,) or at each row of (B, n).

    >>> import dsprog as ds
    >>> ds.lovasz_extension(ds.Cut([[0, 1], [1, 0]]), [0.5, -1.5])
    (2.0, array([ 1., -1.]))
    """
    point = np.asarray(x, dtype=float)
    points = as_points(np.atleast_2d(point), f.n)
    vertices = greedy_vertices(f, points)
    values = f.values(np.zeros((1, f.n), dtype=bool)) + (vertices * points).sum(axis=1)
    return (float(values[0]), vertices[0]) if point.ndim == 1 else (values, vertices)


def modular_lower_bound(f: SetFunction, order: ArrayLike) -> Modular:
    """The modular function below a submodular f that is tight at every prefix of ``order``.

    >>> import dsprog as ds
    >>> bound = ds.modular_lower_bound(ds.CardinalityConcave(3, "sqrt"), [2, 0, 1])
    >>> bound([2]), round(bound([0, 2]), 6)
    (1.0, 1.414214)
    """
    refuse_non_submodular(f)
    elements = as_permutation(order, f.n, "order")
    weights = np.empty(f.n)
    weights[elements] = f.chains(elements[None, :])[0]
    return Modular(weights, f([]))


def modular_upper_bound(f: SetFunction, S: Iterable[int], kind: str = "grow") -> Modular:
    """A modular function above a submodular f that is tight at S.

    With f(j|A) = f(A ∪ j) - f(A ∖ j), for every T,

    - "grow":   f(T) <= f(S) - Σ_{j∈S∖T} f(j|V∖j) + Σ_{j∈T∖S} f(j|S), sharp for the sets that contain S;
    - "shrink": f(T) <= f(S) - Σ_{j∈S∖T} f(j|S∖j) + Σ_{j∈T∖S} f(j|∅), sharp for the subsets of S.

    >>> import dsprog as ds
    >>> f = ds.CardinalityConcave(3, "sqrt")
    >>> bound = ds.modular_upper_bound(f, [0])
    >>> bound([0]) == f([0]) and bound([0, 1]) == f([0, 1])
    True
    """
    if kind not in ("grow", "shrink"):
        raise ValueError(f"kind must be 'grow' or 'shrink', got {kind!r}")
    refuse_non_submodular(f)
    mask = as_mask(S, f.n)
    extreme = np.full(f.n, kind == "grow")
    at_S, at_extreme = f.marginals(np.array([mask, extreme]))
    inside, outside = (at_extreme, at_S) if kind == "grow" else (at_S, at_extreme)
    weights = np.where(mask, inside, outside)
    return Modular(weights, f(mask) - weights[mask].sum())


def refuse_non_submodular(f: SetFunction) -> None:
    """Modular bounds rest on submodularity."""
    if f.knows.submodular is False:
        raise ValueError(f"f must be submodular for its modular bounds to hold, but {f!r} is known not to be")
