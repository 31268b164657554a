"""Choosing k of n: points that stand for all others, vertices that see most of a graph.

Both are rewards within a budget, which :class:`dsprog.BudgetBranchAndBound` solves with a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.constraints import Cardinality
from dsprog.core.validation import Ints, as_count, as_matrix
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize


@dataclass(frozen=True)
class Medoids:
    """Medoids, the place of each point's medoid among them, the sum of distances, and the result with its proof."""

    medoids: tuple[int, ...]
    labels: Ints
    cost: float
    result: Result


@dataclass(frozen=True)
class Dominating:
    """Vertices, how many they dominate (themselves and their neighbours), and the result with its proof."""

    vertices: tuple[int, ...]
    dominated: int
    result: Result


def k_medoids(points: ArrayLike, k: int, *, distances: bool = False, **options: Any) -> Medoids:
    """The k points with the least sum of distances from every point to the nearest of them.

    With d_max the largest distance, max_{j∈S} (d_max - d_ij) is facility location: n d_max minus the sum of distances.

    Parameters
    ----------
    points : (n, d) array, or (n, n) array of distances if ``distances``
    k : int
    distances : bool
        Whether ``points`` holds distances; Euclidean ones are computed otherwise.
    **options
        Of :func:`dsprog.minimize`.

    Examples
    --------
    >>> from dsprog.applications import k_medoids
    >>> found = k_medoids([[0.0], [1.0], [2.0], [9.0], [9.5]], 2)
    >>> found.medoids, found.labels.tolist(), found.cost, found.result.certified
    ((1, 3), [0, 0, 0, 1, 1], 2.5, True)
    """
    array = as_matrix(points, "points", shape=(None, None))
    n = len(array)
    if not 1 <= as_count(k, "k") <= n:
        raise ValueError(f"k must lie between 1 and the number of points, {n}, got {k}")
    if distances and (array.shape != (n, n) or (array < 0).any()):
        raise ValueError(f"points must be an (n, n) array of non-negative distances, got shape {array.shape}")
    d = array if distances else euclidean(array)
    result = minimize(-FacilityLocation(d.max(initial=0.0) - d), constraints=[Cardinality(k, k)], **options)
    to_medoids = d[:, list(result.S)]
    return Medoids(result.S, to_medoids.argmin(axis=1), float(to_medoids.min(axis=1).sum()), result)


def euclidean(points: np.ndarray) -> np.ndarray:
    """Distances between all points."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points))


def dominating_set(graph: Any, k: int, **options: Any) -> Dominating:
    """The k vertices that, with their neighbours, are most.

    Parameters
    ----------
    graph : networkx graph, scipy.sparse matrix or array
        Undirected; entries of a matrix that are not 0 are edges. Vertices of a graph are numbered in its order.
    k : int
    **options
        Of :func:`dsprog.minimize`.

    Examples
    --------
    >>> from dsprog.applications import dominating_set
    >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> found = dominating_set(path, 1)
    >>> found.vertices, found.dominated, found.result.certified
    ((1,), 3, True)
    """
    import scipy.sparse as sparse

    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        place = {vertex: i for i, vertex in enumerate(graph.nodes)}
        ends = np.array([(place[a], place[b]) for a, b, *_ in graph.edges], dtype=np.int64).reshape(-1, 2)
        edges = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(place), len(place)))
    else:
        edges = sparse.coo_array(graph if sparse.issparse(graph) else as_matrix(graph, "graph", shape=(None, None)))
    if edges.shape[0] != edges.shape[1]:
        raise ValueError(f"graph must be a networkx graph or a square matrix of edges, got shape {edges.shape}")
    if not 0 <= as_count(k, "k") <= edges.shape[0]:
        raise ValueError(f"k must be at most the number of vertices, {edges.shape[0]}, got {k}")
    near = sparse.csc_array(edges != 0).astype(float)
    members = ((near + near.T + sparse.eye_array(edges.shape[0])) > 0).astype(float)
    result = minimize(-Coverage(members), constraints=[Cardinality(max=k)], **options)
    return Dominating(result.S, round(-result.value), result)
