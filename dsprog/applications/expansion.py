"""Many labels by α-expansion: every move, "keep your label or take α", is a quadratic problem of its own.

For a metric between labels each move is submodular, and at the end the energy is within a factor of the minimum
(Boykov, Veksler and Zabih 2001); for other distances the exact quadratic solver makes the moves.
:func:`dsprog.applications.minimize_labels` has a lower bound as well, and proves most images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.applications.energy import as_adjacency
from dsprog.core.validation import Floats, Ints, as_matrix
from dsprog.functions.graph import Pairwise
from dsprog.solve.minimize import minimize


@dataclass(frozen=True)
class Labelling:
    """Labels, their energy, and how often the labels were gone through."""

    labels: Ints
    energy: float
    rounds: int


def labelling_energy(unary: Floats, weights: Any, distance: Floats, labels: Ints) -> float:
    """Σ unary[i, x_i] + Σ_{i<j} w_ij distance[x_i, x_j]."""
    edges = weights.tocoo()
    pair = 0.5 * float(edges.data @ distance[labels[edges.row], labels[edges.col]])
    return float(unary[np.arange(len(labels)), labels].sum()) + pair


def expansion_move(unary: Floats, weights: Any, distance: Floats, labels: Ints, alpha: int) -> Pairwise:
    """The energy as a function of the set of sites that take the label α."""
    import scipy.sparse as sparse

    n, sites = len(labels), np.arange(len(labels))
    edges = sparse.triu(weights, 1).tocoo()
    i, j, w = edges.row, edges.col, edges.data
    keep, first = w * distance[labels[i], labels[j]], w * distance[alpha, labels[j]]
    second, both = w * distance[labels[i], alpha], w * distance[alpha, alpha]
    u = unary[:, alpha] - unary[sites, labels]
    u = u + np.bincount(i, first - keep, n) + np.bincount(j, second - keep, n)
    constant = float(unary[sites, labels].sum() + keep.sum())
    pairs = sparse.coo_array((keep + both - first - second, (i, j)), shape=(n, n)).tocsr()
    return Pairwise(pairs, u, constant)


def alpha_expansion(
    unary: ArrayLike, graph: Any, distance: ArrayLike, *, most_rounds: int = 20, time_limit: float | None = None
) -> Labelling:
    """Minimise Σ unary[i, x_i] + Σ_{i<j} w_ij distance[x_i, x_j] over labels x_i, move by move.

    Parameters
    ----------
    unary : (n, labels) array
    graph : (n, n) matrix or networkx graph
        Symmetric weights w >= 0 between sites.
    distance : (labels, labels) array
        Symmetric.
    most_rounds : int
    time_limit : float, optional
        Seconds for each move.

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> unary = np.array([[0, 5, 9], [4.0, 3.5, 5.0], [9, 5, 0], [9, 5, 0]])
    >>> alpha_expansion(unary, chain, 1 - np.eye(3)).labels
    array([0, 0, 2, 2])
    """
    costs = as_matrix(unary, "unary", shape=(None, None))
    n, count = costs.shape
    weights = as_adjacency(graph, "graph")
    if weights.shape != (n, n):
        raise ValueError(f"graph must have {n} sites, as unary has rows, got {weights.shape[0]}")
    apart = as_matrix(distance, "distance", shape=(count, count))
    if not np.allclose(apart, apart.T):
        raise ValueError("distance must be symmetric")
    labels = costs.argmin(axis=1)
    energy = labelling_energy(costs, weights, apart, labels)
    rounds, before = 0, np.inf
    while energy < before and rounds < most_rounds:
        rounds, before = rounds + 1, energy
        for alpha in range(count):
            move = minimize(expansion_move(costs, weights, apart, labels, alpha), time_limit=time_limit)
            if move.value < energy - 1e-12 * abs(energy):
                labels, energy = labels.copy(), move.value
                labels[list(move.S)] = alpha
    return Labelling(labels, labelling_energy(costs, weights, apart, labels), rounds)
