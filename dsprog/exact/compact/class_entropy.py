"""What the chosen columns leave open about a class: H(y | X_S) from below, for information that is rewarded.

I(X_S; y) = H(y) - H(y | X_S), so a column e >= H(y | X_S) is all that is needed. Two families of rows bound it.

*Pairs.* For disjoint pairs p of rows of different class, of N rows, D_p the columns in which the two differ,

    N H(y | X_S) >= 2 log 2 · Σ_p max(0, 1 - x(D_p)),

which :mod:`dsprog.exact.pair_pool` proves. So choosing columns is a hitting-set problem with a price for what is not
hit; pairs are generated where a set leaves them together, those that differ in few columns first.

*Supersets.* Since H(y | X_S) falls as S grows and H(y | X_V) =: h is its least value, for any T and every S

    H(y | X_S) >= H(y | X_T) - (H(y | X_T) - h) x(V∖T):

for S ⊆ T the sum is 0, and otherwise the right side is at most h. It is exact at T, so that the programme becomes
exact at every set that it finds; T is enlarged as long as nothing more is learned, which makes the row stronger.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.compact.cuts import SHALLOW, Separator
from dsprog.exact.pair_pool import PairPool
from dsprog.functions.mutual_information import MutualInformation


class ClassEntropy(Separator):
    """Rows that press a column e up to H(y | X_S)."""

    def __init__(self, information: MutualInformation, elements: Ints, e: int, weight: float) -> None:
        assert information.y is not None
        self.information, self.elements, self.e, self.weight = information, elements, e, weight
        n = information.n
        self.everything = information(range(n))
        self.together: dict[bytes, int] = {}  # the column max(0, 1 - x(D)) of each D
        self.pool = PairPool(information.X, information.y)
        self.pool.enlarge(np.zeros(n, dtype=bool))

    def separate(self, z: Floats, model: ColumnModel) -> float:
        """Pairs that x leaves together, and the row of the largest superset of a binary point."""
        x, here = np.clip(z[self.elements], 0.0, 1.0), float(z[self.e])
        if (np.minimum(x, 1.0 - x) > 1e-6).any():
            return self._add_pairs(x, here, model)
        self.pool.enlarge(x > 0.5)
        return max(self._add_pairs(x, here, model), self._add_superset(x > 0.5, here, model))

    # -- pairs ------------------------------------------------------------------------------------------------------

    def _add_pairs(self, x: Floats, here: float, model: ColumnModel) -> float:
        chosen, apart = self.pool.matching(x)
        price = self.pool.price
        violation = self.weight * (price * float((1.0 - apart).sum()) - here)
        if violation <= SHALLOW * model.unit:
            return max(violation, 0.0)
        columns = np.array([self._column(self.pool.differ[p], model) for p in chosen])
        left_open = Expression(np.array([self.e]), np.ones(1))
        model.at_least(left_open.plus(Expression(columns, np.full(len(columns), -price))))
        return violation

    def _column(self, differ: Masks, model: ColumnModel) -> int:
        """The column max(0, 1 - x(D)), one for each set D of columns of the data."""
        name = differ.tobytes()
        if name not in self.together:
            column = int(model.columns(1)[0])
            columns = np.append(self.elements[differ], column)
            model.row(columns, np.ones(len(columns)), lower=1.0)
            self.together[name] = column
        return self.together[name]

    # -- supersets --------------------------------------------------------------------------------------------------

    def _add_superset(self, S: Masks, here: float, model: ColumnModel) -> float:
        T = self._closure(S)
        gain = self.everything - self.information(T)  # H(y | X_T) - h
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
            if abs(self.information.marginals(T[None, :], (np.arange(len(T)) == j)[None, :])[0, j]) < 1e-14:
                T[j] = True
        return T
