"""Family E: the explaining-away residual of n attributes of CHESS; of random data where CHESS is not at hand."""

import numpy as np

import dsprog as ds
from benchmarks.primitives import chess_data
from dsprog.applications import explaining_away

NAME = "E explaining away"
SIZES = (10, 15, 20, 28, 36)


def constraints(n):
    return [ds.Cardinality(1, n - 1)]


def build(n, seed):
    X, y, _ = chess_data()
    columns = np.random.default_rng(seed).permutation(36)[:n] if n < 36 else np.arange(36)
    return explaining_away(X[:, columns], y)
