"""Energies from what users have: QUBO matrices and dictionaries, Ising models, binary quadratic models, graphs.

Variables of dictionaries, models and networkx graphs may be called anything; their names become labels, which results
carry.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from dsprog.core.labels import as_labels, own_labels
from dsprog.core.validation import as_matrix, as_number, as_sparse
from dsprog.functions.graph import Pairwise, without_loops


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
    """x'Qx for 0/1 variables, to be minimised.

    Parameters
    ----------
    Q : matrix, dict or binary quadratic model
        A matrix need not be symmetric. A dictionary has ``{(u, v): coefficient}``, with (u, u) for linear terms, and
        u, v of any name. A ``dimod.BinaryQuadraticModel`` may speak of 0/1 variables or of signs.

    Examples
    --------
    >>> import dsprog as ds
    >>> ds.minimize(qubo([[-1, 3], [0, -2]])).S
    (1,)
    >>> ds.minimize(qubo({("a", "a"): -1, ("a", "b"): 3, ("b", "b"): -2})).labels
    ('b',)
    """
    if hasattr(Q, "linear") and hasattr(Q, "quadratic"):
        model = Q.change_vartype("BINARY", inplace=False)
        pairs = {**{(v, v): a for v, a in model.linear.items()}, **model.quadratic}
        variables = list(model.variables)
        return with_names(Pairwise(pair_matrix(pairs, variables), constant=float(model.offset)), variables)
    if isinstance(Q, Mapping):
        variables = variables_of(v for pair in Q for v in as_pair(pair))
        return with_names(Pairwise(pair_matrix(Q, variables)), variables)
    return Pairwise(Q)


def max_cut(graph: Any) -> Pairwise:
    """The negative weight of the edges between S and the rest: its minimum is a maximum cut.

    >>> import dsprog as ds
    >>> ds.minimize(max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])).value
    -2.0
    """
    A = without_loops(as_adjacency(graph, "graph"))
    degree = np.asarray(A.sum(axis=1)).ravel()
    # Σ_{i,j∈S} A_ij counts every edge inside twice: -cut = -Σ degree + 2 Σ inside
    names = own_labels(graph)
    return with_names(Pairwise(A, -degree), None if names is None else list(names))


def ising(h: Any, J: Any) -> Pairwise:
    """Σ h_i s_i + Σ_{i<j} J_ij s_i s_j over signs, to be minimised; S are the elements with sign -1.

    ``h`` and ``J`` are arrays, or dictionaries ``{u: field}`` and ``{(u, v): coupling}``.

    >>> import dsprog as ds
    >>> ds.minimize(ising([0.0, 0.5], [[0, 1], [1, 0]])).value
    -1.5
    >>> ds.minimize(ising({"a": 1.0}, {("a", "b"): -1.0})).labels
    ('a', 'b')
    """
    labels: list[Hashable] | None = None
    if isinstance(J, Mapping):
        fields = h if isinstance(h, Mapping) else dict(enumerate(h))
        labels = variables_of([*fields, *(v for pair in J for v in as_pair(pair))])
        if any(u == v for u, v in J):
            raise ValueError("J must couple different variables, got one coupled to itself")
        half = pair_matrix(J, labels)
        h, J = [as_number(fields.get(v, 0.0), f"the field of {v!r}") for v in labels], half + half.T
    coupling = without_loops(as_adjacency(J, "J"))
    field = as_matrix(h, "h", shape=(coupling.shape[0],))
    # s = 1 - 2x: s_i s_j = 1 - 2 x_i - 2 x_j + 4 x_i x_j
    total = np.asarray(coupling.sum(axis=1)).ravel()
    energy = Pairwise(2 * coupling, -2 * field - 2 * total, float(field.sum() + 0.5 * total.sum()))
    return with_names(energy, labels)


def as_pair(pair: Any) -> tuple[Hashable, Hashable]:
    """A key of a dictionary of pairs."""
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise ValueError(f"keys must be pairs of variables such as (0, 1) or ('a', 'b'), got {pair!r}")
    return pair


def variables_of(names: Iterable[Hashable]) -> list[Hashable]:
    """Each name once, in order of appearance; 0 .. n-1 in their own order."""
    found = list(dict.fromkeys(names))
    numbers = list(range(len(found)))
    return numbers if set(found) == set(numbers) else found  # type: ignore[return-value]


def pair_matrix(pairs: Mapping[Any, float], variables: list[Hashable]) -> Any:
    """The coefficients at the places of their variables."""
    import scipy.sparse as sparse

    place = {v: k for k, v in enumerate(variables)}
    rows, columns = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    values = np.array([as_number(a, f"the coefficient of {pair!r}") for pair, a in pairs.items()])
    return sparse.coo_array((values, (rows, columns)), shape=(len(place), len(place))).tocsr()


def with_names(energy: Pairwise, variables: list[Hashable] | None) -> Pairwise:
    """Names for the elements, unless they are their numbers."""
    if variables is not None and variables != list(range(energy.n)):
        energy._labels = as_labels(variables, energy.n)
    return energy
