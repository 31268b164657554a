"""QUBO files: BiqMac ``.sparse``, OR-Library and qbsolv text, as functions to minimise.

| format | text | meaning |
|---|---|---|
| sparse | ``n m``, then m lines ``i j q``, from 1 | minimise y'Qy, Q symmetric: q off the diagonal counts twice |
| or-library | number of problems, then each like sparse | *maximise* y'Qy: the function read is its negative |
| qbsolv | ``p qubo 0 nodes diagonals couplers``, then ``i j q``, from 0 | minimise Σ q x_i x_j, each line once |
"""

from __future__ import annotations

from dsprog.files.tokens import Tokens
from dsprog.functions.graph import Pairwise


def read_entries(tokens: Tokens, n: int, m: int, first: int, twice: bool, sign: float = 1.0) -> Pairwise:
    """m lines ``i j q`` as a function of n variables."""
    import scipy.sparse as sparse

    rows, columns, values = [], [], []
    for k in range(m):
        if not tokens.left:
            tokens.complain(f"the file ends after {k} of {m} entries")
        i, j = (tokens.whole(f"a row or column of {n}", first, n - 1 + first) - first for _ in range(2))
        q = tokens.real("an entry")
        rows.append(i)
        columns.append(j)
        values.append(sign * (2 * q if twice and i != j else q))
    return Pairwise(sparse.coo_array((values, (rows, columns)), shape=(n, n)).tocsr())


def read_sparse(tokens: Tokens, problem: int = 1) -> Pairwise:
    """BiqMac."""
    del problem
    n, m = tokens.size("the number of variables", 1), tokens.whole("the number of entries", 0)
    form = read_entries(tokens, n, m, first=1, twice=True)
    tokens.end()
    return form


def read_or_library(tokens: Tokens, problem: int = 1) -> Pairwise:
    """One problem of an OR-Library file, counted from 1; its negative, to be minimised."""
    count = tokens.whole("the number of problems", 1)
    if not 1 <= problem <= count:
        raise ValueError(f"{tokens.path} has the problems 1 to {count}, not {problem}")
    for _ in range(problem):
        n, m = tokens.size("the number of variables", 1), tokens.whole("the number of entries", 0)
        form = read_entries(tokens, n, m, first=1, twice=True, sign=-1.0)
    if problem == count:
        tokens.end()
    return form


def read_qbsolv(tokens: Tokens, problem: int = 1) -> Pairwise:
    """D-Wave's qbsolv."""
    del problem
    for expected in ("p", "qubo"):
        if tokens.word(f"the line 'p qubo ...', word {expected!r},") != expected:
            tokens.complain("the first line that is no comment must begin with 'p qubo'")
    tokens.word("the topology")
    n = tokens.size("the number of nodes", 1)
    m = tokens.whole("the number of diagonal entries", 0) + tokens.whole("the number of couplers", 0)
    form = read_entries(tokens, n, m, first=0, twice=False)
    tokens.end()
    return form
