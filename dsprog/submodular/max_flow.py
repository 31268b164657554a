"""Minimisation of submodular quadratic functions by maximum flow.

With P_ij <= 0,  P_ij x_i x_j = ½P_ij x_i + ½P_ij x_j + ½|P_ij| (x_i (1 - x_j) + x_j (1 - x_i)),  so that up to a
constant the function is the capacity of a cut: |u_i| from the source where the linear part is negative, to the sink
where it is positive, ½|P_ij| both ways.

scipy's maximum flow takes 32-bit integers. Capacities are scaled by a power of two and rounded down, which can only
lose flow; what is left is a flow problem in the residual network, solved again on a finer scale until nothing is
left. The flow found is feasible for the true capacities throughout, so its value is a valid bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.functions.graph import quadratic_form
from dsprog.set_function import SetFunction
from dsprog.submodular.minimum import SubmodularMinimum, minimum_between
from dsprog.validation import Masks

WHOLE = 1 << 30  # the most flow that one pass of 32-bit integers carries


def minimize_by_max_flow(f: SetFunction, gap: float) -> SubmodularMinimum:
    """Minimise a cut or a submodular quadratic function; see :func:`dsprog.minimize_submodular`."""
    form = quadratic_form(f)
    if form is None:
        raise ValueError(f"max_flow needs a sum of cuts, submodular Pairwise and modular functions, got {f!r}")
    u, pairs, constant = form
    if pairs.nnz and pairs.data.max() > 0:
        raise ValueError(f"max_flow needs a submodular function, got a positive pair {pairs.data.max():g}")
    linear = u + 0.5 * np.asarray(pairs.sum(axis=1)).ravel()
    capacities = network(linear, pairs)
    maximum = flow_with_pymaxflow if have_pymaxflow() else flow_with_scipy
    flow, minimal, maximal, rounds = maximum(capacities, f.n)
    lower = constant + np.minimum(linear, 0.0).sum() + flow
    scale = max(np.abs(linear).sum(), abs(constant), 1e-300)
    return minimum_between(f, minimal, maximal, minimal, lower, gap * scale, "max-flow", rounds)


def network(linear: np.ndarray, pairs: Any) -> Any:
    """Capacities between the elements 0..n-1, the source n and the sink n + 1, both directions of every arc stored."""
    import scipy.sparse as sparse

    n = len(linear)
    inner = sparse.coo_array(pairs)
    nodes, zeros = np.arange(n), np.zeros(n)
    rows = [inner.row, np.full(n, n), nodes, nodes, np.full(n, n + 1)]
    columns = [inner.col, nodes, np.full(n, n), np.full(n, n + 1), nodes]
    data = [-0.5 * inner.data, np.maximum(-linear, 0), zeros, np.maximum(linear, 0), zeros]
    return sparse.csr_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=(n + 2, n + 2)
    )


def flow_with_scipy(capacities: Any, n: int) -> tuple[float, Masks, Masks, int]:
    """Flow value, smallest and largest source side, and the number of passes."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import maximum_flow

    residual = capacities.copy()
    residual.sort_indices()
    source_row = slice(residual.indptr[n], residual.indptr[n + 1])
    most = float(residual.data[source_row].sum())  # no flow exceeds what leaves the source
    largest = max(most, 1e-300)
    total, rounds = 0.0, 0
    while most > 1e-16 * largest and rounds < 8:
        rounds += 1
        scale = 2.0 ** np.floor(np.log2(WHOLE / most))
        integers = np.minimum(np.floor(residual.data * scale), WHOLE).astype(np.int32)
        network = sparse.csr_array((integers, residual.indices, residual.indptr), shape=residual.shape)
        result = maximum_flow(network, n, n + 1)
        flow = aligned(result.flow, residual)
        residual.data = np.maximum(residual.data - flow / scale, 0.0)
        total += result.flow_value / scale
        # Rounding down lost less than 1/scale on each arc of a cut; integral capacities at scale >= 1 lost nothing.
        lost = (residual.data * scale) % 1.0
        most = float((lost > 0).sum()) / scale
    # An arc is saturated up to rounding in its own capacity, both directions together.
    left = residual.copy()
    left.data = residual.data - 1e-12 * (capacities + capacities.T)[arc_rows(residual), residual.indices]
    return total, reachable(left, n)[:n], ~reachable(left.T.tocsr(), n + 1)[:n], rounds


def aligned(flow: Any, pattern: Any) -> np.ndarray:
    """The entries of a flow matrix at the stored positions of ``pattern``."""
    import scipy.sparse as sparse

    flow = sparse.csr_array(flow)
    flow.sort_indices()
    if np.array_equal(flow.indptr, pattern.indptr) and np.array_equal(flow.indices, pattern.indices):
        return flow.data
    return np.asarray(flow[arc_rows(pattern), pattern.indices]).ravel()


def arc_rows(matrix: Any) -> np.ndarray:
    """The row of each stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def reachable(residual: Any, start: int) -> Masks:
    """The nodes that arcs with capacity left lead to."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import breadth_first_order

    keep, rows = residual.data > 0, arc_rows(residual)
    graph = sparse.csr_array((np.ones(keep.sum()), (rows[keep], residual.indices[keep])), shape=residual.shape)
    reached = np.zeros(residual.shape[0], dtype=bool)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached


def have_pymaxflow() -> bool:
    """Whether the optional PyMaxflow (GPL) is installed."""
    from importlib.util import find_spec

    return find_spec("maxflow") is not None


def flow_with_pymaxflow(capacities: Any, n: int) -> tuple[float, Masks, Masks, int]:
    """The same by Boykov and Kolmogorov's algorithm in floating point."""
    total, maximal = largest_source_side(capacities, n)
    _, complement = largest_source_side(capacities.T.tocsr(), n)  # arcs turned round, ends exchanged
    return total, ~complement, maximal, 1


def largest_source_side(capacities: Any, n: int) -> tuple[float, Masks]:
    """Maximum flow from node n to n + 1, or back if the arcs were turned round, and the largest minimum cut."""
    import maxflow

    dense_ends = capacities[[n, n + 1], :].toarray()[:, :n], capacities[:, [n, n + 1]].toarray()[:n, :]
    from_source = dense_ends[0].sum(axis=0)  # one of the two rows is zero
    to_sink = dense_ends[1].sum(axis=1)
    graph = maxflow.Graph[float](n, capacities.nnz)
    nodes = graph.add_nodes(n)
    arcs = capacities.tocoo()
    inner = (arcs.row < n) & (arcs.col < n)
    for i, j, capacity in zip(arcs.row[inner], arcs.col[inner], arcs.data[inner]):
        graph.add_edge(nodes[i], nodes[j], capacity, 0.0)
    for i in range(n):
        graph.add_tedge(nodes[i], from_source[i], to_sink[i])
    total = graph.maxflow()
    return total, np.array([graph.get_segment(node) == 0 for node in nodes], dtype=bool)
