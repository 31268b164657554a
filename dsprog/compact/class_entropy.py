"""What the chosen columns leave open about a class: H(y | X_S) from below, for information that is rewarded.

I(X_S; y) = H(y) - H(y | X_S), so a column e >= H(y | X_S) is all that is needed. Two families of rows bound it.

*Pairs.* A pair of rows of different class stays together unless S has one of the columns D_p in which the two differ.
For disjoint pairs p of N rows, and in nats,

    N H(y | X_S) >= 2 log 2 · #{p that S leaves together} >= 2 log 2 · Σ_p max(0, 1 - x(D_p)).

Proof: let B say of every row which pair it belongs to, the rows of no pair each being alone. Knowing more leaves less
open, H(y | X_S) >= H(y | X_S, B), and given B only a pair that stays together leaves something open, log 2 for each of
its two rows. So choosing columns is a hitting-set problem with a price for what is not hit; pairs are generated where
a set leaves them together, those that differ in few columns first.

*Supersets.* Since H(y | X_S) falls as S grows and H(y | X_V) =: h is its least value, for any T and every S

    H(y | X_S) >= H(y | X_T) - (H(y | X_T) - h) x(V∖T):

for S ⊆ T the sum is 0, and otherwise the right side is at most h. It is exact at T, so that the programme becomes
exact at every set that it finds; T is enlarged as long as nothing more is learned, which makes the row stronger.
"""

from __future__ import annotations

import numpy as np

from dsprog.compact.cuts import SHALLOW
from dsprog.compact.model import Cut, Expression, Model
from dsprog.functions.mutual_information import MutualInformation
from dsprog.validation import Floats, Ints, Masks

MOST_ROWS = 6000  # that are looked at for pairs at once
MOST_PAIRS = 400  # in one row of the programme
PARTNERS = 8  # rows of other classes that a row is paired with in the pool


class ClassEntropy(Cut):
    """Rows that press a column e up to H(y | X_S)."""

    def __init__(self, information: MutualInformation, elements: Ints, e: int, weight: float) -> None:
        assert information.y is not None
        self.information, self.elements, self.e, self.weight = information, elements, e, weight
        self.X, self.y, n = information.X, information.y, information.n
        self.everything = float(information._values(np.ones((1, n), dtype=bool))[0])
        self.first, self.second = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)  # the pool of pairs
        self.differ = np.zeros((0, n), dtype=bool)
        self.together: dict[bytes, int] = {}  # the column max(0, 1 - x(D)) of each D
        self._rng = np.random.default_rng(0)
        self._enlarge_pool(np.zeros(n, dtype=bool))

    def separate(self, z: Floats, model: Model) -> float:
        """Pairs that x leaves together, and the row of the largest superset of a binary point."""
        x, here = np.clip(z[self.elements], 0.0, 1.0), float(z[self.e])
        if (np.minimum(x, 1.0 - x) > 1e-6).any():
            return self._add_pairs(x, here, model)
        self._enlarge_pool(x > 0.5)
        return max(self._add_pairs(x, here, model), self._add_superset(x > 0.5, here, model))

    # -- pairs ------------------------------------------------------------------------------------------------------

    def _enlarge_pool(self, S: Masks) -> None:
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

    def _add_pairs(self, x: Floats, here: float, model: Model) -> float:
        chosen, apart = self._matching(x)
        price = 2.0 * np.log(2.0) / len(self.X)
        violation = self.weight * (price * float((1.0 - apart).sum()) - here)
        if violation <= SHALLOW * model.unit:
            return max(violation, 0.0)
        columns = np.array([self._column(self.differ[p], model) for p in chosen])
        left_open = Expression(np.array([self.e]), np.ones(1))
        model.at_least(left_open.plus(Expression(columns, np.full(len(columns), -price))))
        return violation

    def _matching(self, x: Floats) -> tuple[Ints, Floats]:
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

    def _column(self, differ: Masks, model: Model) -> int:
        """The column max(0, 1 - x(D)), one for each set D of columns of the data."""
        name = differ.tobytes()
        if name not in self.together:
            column = int(model.columns(1)[0])
            columns = np.append(self.elements[differ], column)
            model.programme.row(columns, np.ones(len(columns)), lower=1.0)
            self.together[name] = column
        return self.together[name]

    # -- supersets --------------------------------------------------------------------------------------------------

    def _add_superset(self, S: Masks, here: float, model: Model) -> float:
        T = self._closure(S)
        gain = self.everything - float(self.information._values(T[None, :])[0])  # H(y | X_T) - h
        least = self.information.class_entropy - self.everything
        violation = self.weight * (least + gain - here)
        if violation > SHALLOW * model.unit:
            slopes = np.where(T, 0.0, gain)
            model.at_least(Expression(np.append(self.elements, self.e), np.append(slopes, 1.0), -least - gain))
        return max(violation, 0.0)

    def _closure(self, S: Masks) -> Masks:
        """S with further columns, one after the other, as long as they tell nothing more about the class."""
        T = S.copy()
        for j in np.flatnonzero(~S):
            if abs(self.information._marginals(T[None, :], (np.arange(len(T)) == j)[None, :])[0, j]) < 1e-14:
                T[j] = True
        return T
