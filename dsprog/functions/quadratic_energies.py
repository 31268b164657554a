"""Energies from what users have: QUBO matrices, Ising models, graphs of numpy, scipy.sparse or networkx."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import as_matrix, as_sparse
from dsprog.functions.graph import Pairwise


def as_adjacency(graph: Any, name: str) -> Any:
    """A symmetric sparse matrix of weights from a matrix or a networkx graph (its nodes in their order)."""
    if hasattr(graph, "adjacency") and hasattr(graph, "is_directed"):
        import networkx as nx

        directed = graph.is_directed()
        graph = nx.to_scipy_sparse_array(graph, dtype=float) if len(graph) else np.zeros((0, 0))
        graph = as_undirected(as_sparse(graph, name), name) if directed else graph
    matrix = as_sparse(graph, name)
    if (abs(matrix - matrix.T) > 0).nnz:
        raise ValueError(f"{name} must be symmetric: the weight of an edge stands at (i, j) and at (j, i)")
    return matrix


def as_undirected(matrix: Any, name: str) -> Any:
    """A directed graph whose edges are given in one direction, or in both with one weight."""
    both = matrix.astype(bool).multiply(matrix.T.astype(bool))
    if ((matrix - matrix.T).multiply(both)).count_nonzero():
        raise ValueError(
            f"{name} must be undirected, or give each edge in one direction or with the same weight in both: got a "
            "directed graph with different weights in the two"
        )
    return matrix + matrix.T - matrix.multiply(both)


def qubo(Q: Any) -> Pairwise:
    """x'Qx for 0/1 variables, to be minimised; Q need not be symmetric.

    >>> import dsprog as ds
    >>> ds.minimize(qubo([[-1, 3], [0, -2]])).S
    (1,)
    """
    return Pairwise(Q)


def max_cut(graph: Any) -> Pairwise:
    """The negative weight of the edges between S and the rest: its minimum is a maximum cut.

    >>> import dsprog as ds
    >>> ds.minimize(max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])).value
    -2.0
    """
    A = as_adjacency(graph, "graph")
    A.setdiag(0.0)
    degree = np.asarray(A.sum(axis=1)).ravel()
    return Pairwise(A, -degree)  # Σ_{i,j∈S} A_ij counts every edge inside twice: -cut = -Σ degree + 2 Σ inside


def ising(h: ArrayLike, J: Any) -> Pairwise:
    """Σ h_i s_i + Σ_{i<j} J_ij s_i s_j over signs, to be minimised; S are the elements with sign -1.

    >>> import dsprog as ds
    >>> ds.minimize(ising([0.0, 0.5], [[0, 1], [1, 0]])).value
    -1.5
    """
    coupling = as_adjacency(J, "J")
    coupling.setdiag(0.0)
    field = as_matrix(h, "h", shape=(coupling.shape[0],))
    # s = 1 - 2x: s_i s_j = 1 - 2 x_i - 2 x_j + 4 x_i x_j
    total = np.asarray(coupling.sum(axis=1)).ravel()
    return Pairwise(2 * coupling, -2 * field - 2 * total, float(field.sum() + 0.5 * total.sum()))
