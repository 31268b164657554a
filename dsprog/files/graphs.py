"""Graph files: max-cut in rudy format, and DIMACS maximum flow as the minimum cut that it equals."""

from __future__ import annotations

import numpy as np

from dsprog.files.tokens import Tokens
from dsprog.functions.graph import Pairwise
from dsprog.functions.quadratic_energies import max_cut


def read_rudy(tokens: Tokens, problem: int = 1) -> Pairwise:
    """``n m``, then m lines ``i j w`` from 1: the negative of the cut, to be minimised."""
    import scipy.sparse as sparse

    del problem
    n, m = tokens.size("the number of vertices", 1), tokens.whole("the number of edges", 0)
    edges = []
    for k in range(m):
        if not tokens.left:
            tokens.complain(f"the file ends after {k} of {m} edges")
        i, j = (tokens.whole(f"a vertex of {n}", 1, n) - 1 for _ in range(2))
        edges.append((i, j, tokens.real("a weight")))
    tokens.end()
    rows, columns, weights = zip(*edges) if edges else ((), (), ())
    upper = sparse.coo_array((np.array(weights, dtype=float), (rows, columns)), shape=(n, n)).tocsr()
    return max_cut(upper + upper.T)


def read_dimacs(tokens: Tokens, problem: int = 1) -> Pairwise:
    """``p max n m``, ``n id s``, ``n id t``, ``a from to capacity``: the capacity of the cut around source and S.

    The elements are the nodes other than source and sink, in their order.
    """
    import scipy.sparse as sparse

    del problem
    n = m = 0
    ends: dict[str, int] = {}
    arcs: list[tuple[int, int, float]] = []
    while tokens.left:
        kind = tokens.word("a line")
        if kind == "p":
            if tokens.word("the word 'max'") != "max":
                tokens.complain("the problem must be 'max', a maximum flow")
            n, m = tokens.size("the number of nodes", 2), tokens.whole("the number of arcs", 0)
        elif kind == "n" and n:
            node = tokens.whole("a node", 1, n) - 1
            ends[tokens.word("'s' or 't'")] = node
        elif kind == "a" and n:
            tail, head = (tokens.whole("a node", 1, n) - 1 for _ in range(2))
            capacity = tokens.real("a capacity")
            if capacity < 0:
                tokens.complain(f"a capacity must be at least 0, got {capacity:g}")
            arcs.append((tail, head, capacity))
        else:
            tokens.complain(f"a line must begin with p, n or a, and p must come first, got {kind!r}")
    if set(ends) != {"s", "t"} or ends["s"] == ends["t"]:
        tokens.complain("there must be one source (n ID s) and another node as sink (n ID t)")
    if len(arcs) != m:
        tokens.complain(f"the file has {len(arcs)} arcs where its head says {m}")
    source, sink = ends["s"], ends["t"]
    element = np.cumsum(~np.isin(np.arange(n), (source, sink))) - 1
    # the capacity c of an arc (i, j) counts c x_i (1 - x_j), with x = 1 at the source and 0 at the sink
    u, constant = np.zeros(n - 2), 0.0
    pairs = [(element[i], element[j], -c) for i, j, c in arcs if not {i, j} & {source, sink}]
    for i, j, c in arcs:
        if i == source and j == sink:
            constant += c
        elif i == source and j != source:
            constant += c
            u[element[j]] -= c
        elif i not in (source, sink) and j != source:
            u[element[i]] += c
    rows, columns, weights = zip(*pairs) if pairs else ((), (), ())
    matrix = sparse.coo_array((np.array(weights, dtype=float), (rows, columns)), shape=(n - 2, n - 2))
    return Pairwise(matrix.tocsr(), u, constant)
