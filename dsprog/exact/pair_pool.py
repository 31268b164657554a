"""Pairs of rows of different class, and what is open about the class as long as they stay together.

A pair stays together unless S has one of the columns D_p in which the two rows differ. For disjoint pairs p of N rows,
and in nats,

    N H(y | X_S) >= 2 log 2 · #{p that S leaves together} >= 2 log 2 · Σ_p max(0, 1 - x(D_p)).

Proof: let B say of every row which pair it belongs to, the rows of no pair each being alone. Knowing more leaves less
open, H(y | X_S) >= H(y | X_S, B), and given B only a pair that stays together leaves something open, log 2 for each of
its two rows.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Ints, Masks

MOST_ROWS = 6000  # that are looked at for pairs at once
MOST_PAIRS = 400  # of one matching
PARTNERS = 8  # rows of other classes that a row is paired with


class PairPool:
    """Pairs of rows that some set left together, those that differ in few columns.

    Attributes
    ----------
    first, second : (P,) arrays
        Their rows.
    differ : (P, n) boolean array
        D_p.
    price : float
        What a pair that stays together adds to H(y | X_S), in nats.
    """

    def __init__(self, X: Ints, y: Ints) -> None:
        self.X, self.y, self.price = X, y, 2.0 * np.log(2.0) / len(X)
        self.first, self.second = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.differ = np.zeros((0, X.shape[1]), dtype=bool)
        self._rng = np.random.default_rng(0)

    def enlarge(self, S: Masks) -> None:
        """For rows that S leaves together with others of another class, those that differ least."""
        pairs = [pair for rows in self._mixed_groups(S) for pair in self._nearest(rows)]
        known = set(zip(self.first.tolist(), self.second.tolist()))
        new = np.array([pair for pair in dict.fromkeys(pairs) if pair not in known], dtype=np.int64).reshape(-1, 2)
        self.first, self.second = np.append(self.first, new[:, 0]), np.append(self.second, new[:, 1])
        self.differ = np.concatenate([self.differ, self.X[new[:, 0]] != self.X[new[:, 1]]])

    def _mixed_groups(self, S: Masks) -> list[Ints]:
        """The rows of each group of equal X_S that has several classes."""
        _, group = np.unique(self.X[:, S], axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1)
        return [rows for rows in groups if (self.y[rows] != self.y[rows[0]]).any()]

    def _nearest(self, rows: Ints) -> list[tuple[int, int]]:
        """Each row outside the largest class with its nearest rows of other classes."""
        rows = self._rng.permutation(rows)[:MOST_ROWS] if len(rows) > MOST_ROWS else rows
        largest = np.bincount(self.y[rows]).argmax()
        same = [self.X[rows][:, j, None] == np.unique(self.X[rows][:, j]) for j in range(self.X.shape[1])]
        values = np.concatenate([np.zeros((len(rows), 1)), *same], axis=1).astype(np.float32)
        pairs: list[tuple[int, int]] = []
        for r in np.array_split(np.flatnonzero(self.y[rows] != largest), 1 + len(rows) // 500):
            alike = values[r] @ values.T
            alike[self.y[rows[r], None] == self.y[rows]] = -1.0
            count = min(PARTNERS, len(rows) - 1)
            near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
            found = [(i, j) for i, row in zip(r, near) for j in row if self.y[rows[i]] != self.y[rows[j]]]
            pairs += [(int(min(rows[i], rows[j])), int(max(rows[i], rows[j]))) for i, j in found]
        return pairs

    def matching(self, x: Floats) -> tuple[Ints, Floats]:
        """Disjoint pairs of the pool with x(D) < 1, found greedily: little x(D) first, then few columns."""
        active = x > 0
        apart = self.differ[:, active] @ x[active]
        candidates = np.flatnonzero(apart < 1.0 - 1e-6)
        order = np.lexsort((self.differ[candidates].sum(axis=1), np.round(apart[candidates], 6)))
        used = np.zeros(len(self.X), dtype=bool)
        chosen: list[int] = []
        for p in candidates[order]:
            if len(chosen) < MOST_PAIRS and not (used[self.first[p]] or used[self.second[p]]):
                used[self.first[p]] = used[self.second[p]] = True
                chosen.append(p)
        return np.array(chosen, dtype=np.int64), apart[chosen]
