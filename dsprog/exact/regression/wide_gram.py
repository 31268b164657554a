"""G = A'A + R of many features, of which only what is asked for is made, and kept.

A = X diag(s) is never made: X stays as it was given. Two things are kept. A *block* of G among the features that were
ever asked for, beside their columns of A, grows as they become more; from ``MOST`` on it begins anew. And *rows* of G,
no more of them than X has: as a product of many rows with X costs little more than that of one, the first call makes
those of the features that promise most, too.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.exact.regression.elimination import block

MOST = 1200  # features of a block
AHEAD = 16  # rows that are made beside the first


class WideGram:
    """G = A'A + R, A = X diag(scale) and R a diagonal; ``promising`` features are asked for first, it is expected."""

    def __init__(self, X: Floats, scale: Floats, R: Floats, promising: Ints) -> None:
        self.X, self.scale, self.R = X, scale, R
        self.promising = promising
        self._forget()
        self.row_of: dict[int, Floats] = {}

    def _forget(self, most: int = MOST) -> None:
        """The empty block, with room for so many features; memory is taken as it fills."""
        self.place, self.size = np.full(len(self.scale), -1), 0
        self.columns, self.G = np.empty((most, len(self.X))), np.empty((most, most))

    def _columns_of(self, features: Ints) -> Floats:
        """Columns of A as rows."""
        return np.ascontiguousarray(self.X[:, features].T) * self.scale[features, None]

    def _know(self, features: Ints) -> None:
        """Have features in the block."""
        new = np.unique(features[self.place[features] < 0])
        if len(new) == 0:
            return
        if self.size + len(new) > len(self.G):
            new = np.unique(features)
            self._forget(max(MOST, len(new)))
        old, end = self.size, self.size + len(new)
        self.place[new], self.size = np.arange(old, end), end
        self.columns[old:end] = self._columns_of(new)
        columns = self.columns[old:end]
        self.G[old:end, :old] = columns @ self.columns[:old].T
        self.G[:old, old:end] = self.G[old:end, :old].T
        self.G[old:end, old:end] = columns @ columns.T  # half the work, since both are one
        self.G[np.arange(old, end), np.arange(old, end)] += self.R[new]

    def block(self, some: Ints, others: Ints) -> Floats:
        """G of some features by others."""
        self._know(some if others is some else np.concatenate([some, others]))
        return block(self.G, self.place[some], self.place[others])

    def rows(self, chosen: Ints) -> Floats:
        """Rows of G."""
        new = [j for j in chosen.tolist() if j not in self.row_of]
        if new:
            if len(self.row_of) + len(new) > len(self.X):
                self.row_of.clear()
                new = chosen.tolist()
            room = 0 if self.row_of else min(AHEAD, len(self.X)) - len(new)
            wanted = np.array(new + [j for j in self.promising[: max(0, room)].tolist() if j not in new])
            made = (self._columns_of(wanted) @ self.X) * self.scale
            made[np.arange(len(wanted)), wanted] += self.R[wanted]
            self.row_of.update(zip(wanted.tolist(), made))
        return np.array([self.row_of[j] for j in chosen.tolist()]).reshape(len(chosen), len(self.scale))

    def product(self, some: Ints, u: Floats) -> Floats:
        """G w for a w that is u on some features and vanishes elsewhere."""
        self._know(some)
        Gw = ((u @ self.columns[self.place[some]]) @ self.X) * self.scale
        Gw[some] += self.R[some] * u
        return Gw
