"""The five basic operations of the prismatic algorithm.

A *prism* over a simplex with vertices v_0, ..., v_n is {(x, t) : x in the simplex}. With f(∅) = g(∅) = 0, f̂ and ĝ the
Lovász extensions, and

    P = {(x, t) : t >= t~, t >= s_k·x for every cutting plane s_k}    which contains every (I_S, f(S)),
    φ(x) = Σ_i λ_i ĝ(v_i)   where  x = Σ_i λ_i v_i,                    the interpolation of ĝ at the vertices,

the bound of a prism is β = min {t - φ(x) : (x, t) in P, x in the simplex, x binary}. It is valid because

    f(S) - g(S) = f(S) - ĝ(I_S) >= f(S) - φ(I_S) >= β    for every set S whose vector I_S lies in the simplex:

ĝ is convex, so φ >= ĝ on the simplex, and (I_S, f(S)) lies in P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.core.lovasz import greedy_vertices
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks
from dsprog.milp import Programme, programme
from dsprog.milp.programme import Optimum, ProgrammeFailed

SHARE = 1e-12  # a barycentric weight above this counts as positive: a needless part does no harm, a missing one does
SLIP = 1e-7  # weights that are below 0 by more are outside; a weight that is nearer to 1 is a vertex


# -- 1. the first prism ---------------------------------------------------------------------------------------------


def first_simplex(start: Masks) -> Floats:
    """The n+1 vertices of a simplex around the cube with a corner at the set ``start``.

    The corner v = I_A of the cube sees it through the cone x_i <= 1 (i in A), x_i >= 0 (i not in A). The cone is closed
    by Σ_{i∉A} x_i - Σ_{i∈A} x_i <= n - |A|, which holds on the cube and meets the i-th edge of the cone at v + n e_i
    (i not in A) or v - n e_i (i in A).

    >>> first_simplex(np.array([False, True]))
    array([[ 0.,  1.],
           [ 2.,  1.],
           [ 0., -1.]])
    """
    corner = start.astype(float)
    return np.vstack([corner, corner + len(start) * np.diag(1.0 - 2.0 * corner)])


# -- 2. subdivision -------------------------------------------------------------------------------------------------


def bisection(vertices: Floats) -> Floats:
    """Barycentric weights of the midpoint of the longest edge; of equally long ones the first.

    >>> bisection(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    array([0. , 0.5, 0.5])
    """
    squares = ((vertices[:, None, :] - vertices[None, :, :]) ** 2).sum(axis=2)
    weights = np.zeros(len(vertices))
    weights[list(np.unravel_index(int(squares.argmax()), squares.shape))] = 0.5
    return weights


def barycentric(vertices: Floats, x: Floats) -> Floats:
    """The weights λ with x = Σ λ_i v_i and Σ λ_i = 1.

    >>> barycentric(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]), np.array([1.0, 0.0])).round(9) + 0.0
    array([0.5, 0.5, 0. ])
    """
    system = np.vstack([vertices.T, np.ones(len(vertices))])
    weights: Floats = np.linalg.lstsq(system, np.append(x, 1.0), rcond=None)[0]
    return weights


def parts(array: Floats, weights: Floats, new: Any) -> Floats:
    """Subdivide at the point r = Σ λ_i v_i: one part for every λ_i > 0, with ``new`` in the place of row i.

    With the vertices as ``array`` and r as ``new`` these are simplices without common interior points whose union is
    the simplex, unless r is a vertex; with ĝ at the vertices and ĝ(r) it is ĝ at theirs.

    >>> parts(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]), 0.5)[:, :, 0]
    array([[0.5, 1. ],
           [0. , 0.5]])
    """
    replaced = np.flatnonzero(weights > SHARE)
    result = np.repeat(array[None], len(replaced), axis=0)
    result[np.arange(len(replaced)), replaced] = new
    return result


def can_subdivide_at(weights: Floats) -> bool:
    """Whether the point with these weights lies in the simplex and is not one of its vertices."""
    return bool(weights.min() >= -SLIP and weights.max() < 1.0 - SLIP)


# -- 3. the lower bound ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrismBound:
    """β of a prism and the point x where it is attained.

    ``status`` is "optimal", "infeasible" (no x: β is +inf) or "limit" (out of time).
    """

    status: str
    beta: float
    x: Floats | None


def prism_programme(n: int, floor: float, kind: str, backend: str | None = None) -> Programme:
    """The programme min t - Σ_i λ_i ĝ(v_i) over P, for any prism; ``kind`` is "bilp" (x binary) or "lp" (0 <= x <= 1).

    Its columns are z = (x, t) with t >= ``floor`` = t~ and the weights λ >= 0; its rows are x = Σ λ_i v_i, Σ λ_i = 1
    and the cutting planes. The LP has the box because the first simplex sticks out of the cube; its value is at most
    that of the BILP, hence as valid a bound.
    """
    return programme(
        np.append(np.zeros(n), 1.0),
        np.append(np.zeros(n), floor),
        np.append(np.ones(n), np.inf),
        integer=np.append(np.full(n, kind == "bilp"), False),
        L=np.vstack([np.hstack([-np.eye(n), np.zeros((n, 1))]), np.zeros((1, n + 1))]),
        b=np.append(np.zeros(n), 1.0),
        backend=backend,
    )


def prism_bound(model: Programme, vertices: Floats, g_hat: Floats, time_limit: float = np.inf) -> PrismBound:
    """β by the programme; ``g_hat`` is ĝ at the vertices."""
    model.exchange(np.vstack([vertices.T, np.ones(len(vertices))]), -g_hat)
    try:
        found = model.solve(time_limit)
    except ProgrammeFailed:  # the prism keeps the bound of its parent, and its centre stands in for the optimum
        found = Optimum("optimal", -np.inf, np.append(vertices.mean(axis=0), 0.0))
    if found.z is None:
        return PrismBound(found.status, found.bound, None)
    x = np.clip(found.z[:-1], 0.0, 1.0)
    return PrismBound(found.status, found.bound, np.where(model.integer[:-1], np.round(x), x))


# -- 4. outer approximation -----------------------------------------------------------------------------------------


def cutting_planes(f: SetFunction, x: Floats) -> Floats:
    """For every row of x a slope s with s·x = f̂(x) and s·I_S <= f(S) - f(∅) for every S: t >= s·x cuts nothing off.

    s is the greedy vertex at x, a point of the base polytope of f and a subgradient of f̂.
    """
    return greedy_vertices(f, x)


def outer_height(slopes: Floats, floor: float, x: Floats) -> float:
    """The least t with (x, t) in P."""
    return float(np.max(slopes @ x, initial=floor))


def add_cutting_planes(model: Programme, slopes: Floats) -> None:
    """Add the rows t - s·x >= 0."""
    model.require(np.hstack([-slopes, np.ones((len(slopes), 1))]), np.zeros(len(slopes)))


def add_no_goods(model: Programme, masks: Masks) -> None:
    """Exclude sets that are known: Σ_{j∈S} (1 - x_j) + Σ_{j∉S} x_j >= 1. β then bounds all other sets."""
    signs = np.where(masks, -1.0, 1.0)
    model.require(np.hstack([signs, np.zeros((len(masks), 1))]), 1.0 - masks.sum(axis=1))


# -- 5. deletion ----------------------------------------------------------------------------------------------------


def is_empty(bound: PrismBound) -> bool:
    """DR1: the programme has no feasible point, so the prism contains no set."""
    return bound.status == "infeasible"


def is_no_better(beta: Any, alpha: float) -> Any:
    """DR2: c* = α - β <= 0, so no set in the prism improves on α, into which its binary vertices were entered."""
    return beta >= alpha


def binary_points(points: Floats) -> Masks:
    """The rows that are 0/1 vectors, as sets.

    >>> binary_points(np.array([[0.0, 1.0], [0.5, 1.0], [2.0, 0.0]])).tolist()
    [[False, True]]
    """
    return np.asarray(points[np.isin(points, (0.0, 1.0)).all(axis=1)] == 1.0)


def chain_sets(x: Floats) -> Masks:
    """For every row of x the n+1 sets S_0 ⊂ ... ⊂ S_n of its chain, whose values f̂ - ĝ averages at x: (B, n+1, n)."""
    ranks = np.argsort(np.argsort(-x, axis=1, kind="stable"), axis=1)
    return np.asarray(ranks[:, None, :] < np.arange(x.shape[1] + 1)[None, :, None])
