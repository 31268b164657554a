"""Counts of pairs of attributes and the class, and what follows from them: informations and probabilities.

With N_ijc the rows that have x_i, x_j and class c, one pass over the rows for each pair gives every quantity that a
tree over attributes needs: I(X_i; X_j | C), the pairwise EAR, and the tables P(x_i | x_j, c).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dsprog.core.validation import Floats, Ints


class Counts:
    """Counts of coded data.

    Parameters
    ----------
    codes : (rows, n) array of codes 0 .. sizes[j] - 1
    sizes : (n,) numbers of values
    y : (rows,) array of classes 0 .. classes - 1
    classes : int
    """

    def __init__(self, codes: Ints, sizes: Ints, y: Ints, classes: int) -> None:
        self.codes, self.sizes, self.y, self.classes = np.asfortranarray(codes), sizes, y, classes
        self.n = codes.shape[1]
        self._pairs: dict[tuple[int, int], Floats] = {}

    @cached_property
    def of_class(self) -> Floats:
        """N_c."""
        return np.bincount(self.y, minlength=self.classes).astype(float)

    def single(self, i: int) -> Floats:
        """N_ic as an array (values of i, classes)."""
        shape = (self.sizes[i], self.classes)
        return np.bincount(self.codes[:, i] * shape[1] + self.y, minlength=shape[0] * shape[1]).reshape(shape) * 1.0

    def pair(self, i: int, j: int) -> Floats:
        """N_ijc as an array (values of i, values of j, classes)."""
        if i > j:
            return self.pair(j, i).swapaxes(0, 1)
        if (i, j) not in self._pairs:
            shape = (self.sizes[i], self.sizes[j], self.classes)
            place = (self.codes[:, i] * shape[1] + self.codes[:, j]) * shape[2] + self.y
            self._pairs[i, j] = np.bincount(place, minlength=shape[0] * shape[1] * shape[2]).reshape(shape) * 1.0
        return self._pairs[i, j]

    @cached_property
    def conditional_information(self) -> Floats:
        """I(X_i; X_j | C) for all pairs, in nats: Σ N_ijc log(N_ijc N_c / (N_ic N_jc)) / N."""
        return self._for_pairs(lambda N: c_log_c(N) - c_log_c(N.sum(0)) - c_log_c(N.sum(1)) + c_log_c(N.sum((0, 1))))

    @cached_property
    def information(self) -> Floats:
        """I(X_i; X_j) for all pairs, in nats."""
        return self._for_pairs(
            lambda N: c_log_c(N.sum(2)) - c_log_c(N.sum((0, 2))) - c_log_c(N.sum((1, 2))) + c_log_c(N.sum())
        )

    @property
    def residual(self) -> Floats:
        """The pairwise EAR, I(X_i; X_j | C) - I(X_i; X_j)."""
        return self.conditional_information - self.information

    def _for_pairs(self, measure: Callable[[Floats], float]) -> Floats:
        result = np.zeros((self.n, self.n))
        for i in range(self.n):
            for j in range(i):
                result[i, j] = result[j, i] = measure(self.pair(i, j)) / len(self.y)
        return result


def c_log_c(counts: Floats) -> float:
    """Σ c log c over all cells."""
    flat = np.ravel(counts)
    return float(flat @ np.log(np.where(flat > 0, flat, 1.0)))


class LogTables:
    """Logarithms of smoothed probabilities, each table with one more place on both sides for a value never seen.

    A value never seen says nothing about the class (its logarithm is 0), and under a parent that has one an attribute
    follows P(x_i | c).
    """

    def __init__(self, counts: Counts, smoothing: float) -> None:
        self.counts, self.smoothing = counts, smoothing
        self._children: dict[tuple[int, int], Floats] = {}

    @property
    def prior(self) -> Floats:
        """log P(c), from the counts as they are."""
        N = self.counts.of_class
        return np.log(N / N.sum())

    def single(self, i: int) -> Floats:
        """log P(x_i | c), as an array (values + 1, classes)."""
        return extended(log_share(self.counts.single(i), 0, self.smoothing), 0)

    def child(self, i: int, parent: int) -> Floats:
        """log P(x_i | x_parent, c), as an array (values of the parent + 1, values + 1, classes); parent -1 is none."""
        if (i, parent) not in self._children:
            alone = self.single(i)[None, :, :]
            if parent >= 0:
                known = extended(log_share(self.counts.pair(parent, i), 1, self.smoothing), 1)
                alone = np.concatenate([known, alone])
            self._children[i, parent] = alone
        return self._children[i, parent]

    def edge(self, i: int, j: int) -> Floats:
        """log P(x_i, x_j | c) - log P(x_i | c) - log P(x_j | c), as an array (values + 1, values + 1, classes)."""
        N = self.counts.pair(i, j)
        together = log_share(N.reshape(-1, N.shape[2]), 0, self.smoothing).reshape(N.shape)
        table = np.zeros((N.shape[0] + 1, N.shape[1] + 1, N.shape[2]))
        table[:-1, :-1] = together - self.single(i)[:-1, None] - self.single(j)[None, :-1]
        return table


def log_share(N: Floats, axis: int, smoothing: float) -> Floats:
    """log (N + a) / (Σ N + a K) along an axis of K values; -inf where both are 0."""
    raised = N + smoothing
    total = raised.sum(axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.log(raised / np.where(total > 0, total, 1.0))


def extended(table: Floats, axis: int) -> Floats:
    """A table with a place more along an axis, filled with 0."""
    widths = [(0, 1 if k == axis else 0) for k in range(table.ndim)]
    return np.pad(table, widths)
