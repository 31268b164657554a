"""UAI MARKOV files with binary variables and tables of at most two of them, as energies -Σ ln θ."""

from __future__ import annotations

import math

import numpy as np

from dsprog.files.tokens import Tokens
from dsprog.functions.graph import Pairwise


def read_uai(tokens: Tokens, problem: int = 1) -> Pairwise:
    """The energy -Σ ln θ of a MARKOV model; its minimum is the most probable labelling."""
    import scipy.sparse as sparse

    del problem
    kind = tokens.word("the word MARKOV")
    if kind != "MARKOV":
        tokens.complain(f"the file must begin with MARKOV, got {kind!r}")
    n = tokens.size("the number of variables", 1)
    for i in range(n):
        labels = tokens.whole("the number of labels of a variable", 1)
        if labels != 2:
            tokens.complain(f"variable {i} has {labels} labels, and only binary models can be read")
    scopes = [scope(tokens, n) for _ in range(tokens.whole("the number of tables", 0))]
    u, constant = np.zeros(n), 0.0
    pairs: list[tuple[int, int, float]] = []
    for variables in scopes:
        energies = table(tokens, len(variables))
        constant += energies[0]
        if len(variables) == 1:
            u[variables[0]] += energies[1] - energies[0]
        elif len(variables) == 2:
            i, j = variables
            u[j] += energies[1] - energies[0]
            u[i] += energies[2] - energies[0]
            pairs.append((i, j, energies[0] - energies[1] - energies[2] + energies[3]))
    tokens.end()
    rows, columns, values = zip(*pairs) if pairs else ((), (), ())
    matrix = sparse.coo_array((np.array(values, dtype=float), (rows, columns)), shape=(n, n))
    return Pairwise(matrix.tocsr(), u, constant)


def scope(tokens: Tokens, n: int) -> list[int]:
    """The variables of one table."""
    size = tokens.whole("the number of variables of a table", 0)
    if size > 2:
        tokens.complain(f"a table of {size} variables: only tables of at most two can be read")
    variables = [tokens.whole("a variable of a table", 0, n - 1) for _ in range(size)]
    if len(set(variables)) < size:
        tokens.complain(f"a table names variable {variables[0]} twice")
    return variables


def table(tokens: Tokens, size: int) -> list[float]:
    """-ln θ of the entries of one table."""
    entries = tokens.whole("the number of entries of a table", 1)
    if entries != 2**size:
        tokens.complain(f"a table of {size} binary variables has {2**size} entries, not {entries}")
    energies = []
    for _ in range(entries):
        theta = tokens.real("an entry of a table")
        if theta <= 0:
            tokens.complain(f"an entry of a table must be positive (0 would have infinite energy), got {theta:g}")
        energies.append(-math.log(theta))
    return energies
