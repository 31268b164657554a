"""Functions given by all their values."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import rounding
from dsprog.core.validation import Floats, Ints, Masks, all_masks, as_matrix
from dsprog.functions.graph import Pairwise

__all__ = ["Table", "all_masks"]


class Table(SetFunction):
    """f(S) read from a table of all 2**n values; bit j of the index says whether element j is in S.

    Knows everything about itself, by looking.

    Parameters
    ----------
    table : (2**n,) array

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.Table([0.0, 1.0, 1.0, 1.5])
    >>> f([0, 1]), f.knows.submodular
    (1.5, True)
    """

    def __init__(self, table: ArrayLike) -> None:
        self.table = as_matrix(table, "table", shape=(None,))
        self.n = len(self.table).bit_length() - 1
        if len(self.table) != 1 << self.n or len(self.table) == 0:
            raise ValueError(f"table must have 2**n values, got {len(self.table)}")
        self._bits = 1 << np.arange(self.n, dtype=np.int64)

    @classmethod
    def of(cls, function: SetFunction) -> Table:
        """Tabulate a function of up to 20 elements."""
        if function.n > 20:
            raise ValueError(f"function must have at most 20 elements to be tabulated, got n = {function.n}")
        return cls(function._values(all_masks(function.n)))

    @cached_property
    def knows(self) -> Knowledge:  # type: ignore[override]
        """Decided by inspection, up to rounding."""
        slack = rounding(self.table)
        lowest, highest = curvature_range(self.table)
        rises = [high - low for low, high in (halves(self.table, j) for j in range(self.n))]
        return Knowledge(
            submodular=bool(highest.max(initial=0.0) <= slack),
            supermodular=bool(lowest.min(initial=0.0) >= -slack),
            increasing=all((rise >= 0).all() for rise in rises),
            decreasing=all((rise <= 0).all() for rise in rises),
            symmetric=bool((self.table == self.table[::-1]).all()),
            integral=bool((self.table % 1 == 0).all()),
        )

    def _index(self, masks: Masks) -> Ints:
        return masks @ self._bits

    def _values(self, masks: Masks) -> Floats:
        return self.table[self._index(masks)]

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        index = self._index(masks)[:, None]
        return self.table[index | self._bits] - self.table[index & ~self._bits]

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        bits = np.append(self._bits, 0)[orders]  # -1 adds nothing
        prefixes = np.bitwise_or.accumulate(np.concatenate([self._index(start)[:, None], bits], axis=1), axis=1)
        return np.diff(self.table[prefixes], axis=1)

    def split(self) -> Difference:
        """f - g with g = -Σ α_ij x_i x_j, α_ij the pair's largest second difference: no smaller pairwise g does."""
        alpha = np.triu(np.maximum(curvature_range(self.table)[1], 0.0), 1)
        g = Pairwise(-alpha)
        return Difference(Table(self.table + g._values(all_masks(self.n))), g)


def halves(table: Floats, j: int) -> tuple[Floats, Floats]:
    """The values of the sets without j, and of the same sets with j."""
    pairs = table.reshape(-1, 2, 1 << j)
    return pairs[:, 0].ravel(), pairs[:, 1].ravel()


def curvature_range(table: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest f(S∪ij) - f(S∪i) - f(S∪j) + f(S) over S, for each pair, as (n, n) arrays."""
    n = len(table).bit_length() - 1
    lowest, highest = np.zeros((n, n)), np.zeros((n, n))
    for j in range(n):
        low, high = halves(table, j)
        for i in range(j):
            without, with_i = halves(high - low, i)
            second = with_i - without
            lowest[i, j] = lowest[j, i] = second.min()
            highest[i, j] = highest[j, i] = second.max()
    return lowest, highest
