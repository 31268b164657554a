"""Weighted coverage: how much of a universe of items the chosen elements cover.

Items shared by chosen elements count once, hence diminishing returns. The kernels walk the incidence lists with one
counter an item: a chain costs the number of incidences, whatever n is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import GainModel
from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix, as_sparse


@part
def count_covers(indptr, items, mask, covers):
    """How many elements of the set cover each item."""
    covers[:] = 0
    for j in range(len(mask)):
        if mask[j]:
            for p in range(indptr[j], indptr[j + 1]):
                covers[items[p]] += 1


@kernel
def values_kernel(indptr, items, weights, masks, out):
    """Weight of the items with a cover."""
    covers = np.empty(len(weights), dtype=np.int64)
    for b in range(len(masks)):
        count_covers(indptr, items, masks[b], covers)
        total = 0.0
        for i in range(len(weights)):
            if covers[i] > 0:
                total += weights[i]
        out[b] = total


@kernel
def marginals_kernel(indptr, items, weights, masks, out):
    """Weight of the items that j covers and no other member does."""
    covers = np.empty(len(weights), dtype=np.int64)
    for b in range(len(masks)):
        count_covers(indptr, items, masks[b], covers)
        for j in range(masks.shape[1]):
            own = 1 if masks[b, j] else 0
            total = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                if covers[items[p]] == own:
                    total += weights[items[p]]
            out[b, j] = total


@kernel
def chains_kernel(indptr, items, weights, orders, start, out):
    """Weight of the items that each element is the first to cover."""
    covers = np.empty(len(weights), dtype=np.int64)
    for b in range(len(orders)):
        count_covers(indptr, items, start[b], covers)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            total = 0.0
            if j >= 0:
                for p in range(indptr[j], indptr[j + 1]):
                    if covers[items[p]] == 0:
                        total += weights[items[p]]
                        covers[items[p]] = 1
            out[b, k] = total


@kernel
def tangents_kernel(indptr, items, weights, x, constants, slopes):
    """Tangents of Σ_i weights_i min(1, Σ_{j covers i} x_j)."""
    amount = np.empty(len(weights))
    for b in range(len(x)):
        amount[:] = 0.0
        for j in range(x.shape[1]):
            for p in range(indptr[j], indptr[j + 1]):
                amount[items[p]] += x[b, j]
        total = 0.0
        for i in range(len(weights)):
            if amount[i] >= 1:
                total += weights[i]
        constants[b] = total
        for j in range(x.shape[1]):
            total = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                if amount[items[p]] < 1:
                    total += weights[items[p]]
            slopes[b, j] = total


class Coverage(SetFunction):
    """f(S) = Σ_i weights_i [some j∈S covers item i].

    Parameters
    ----------
    members : (items, n) array or scipy.sparse matrix of 0/1
        ``members[i, j]`` says whether element j covers item i.
    weights : (items,) array, non-negative, optional
        Ones by default.

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.Coverage([[1, 0, 1], [1, 1, 0]], weights=[2.0, 3.0])
    >>> f([1]), f([1, 2])
    (3.0, 5.0)
    """

    has_concave_extension = True
    has_columns = True
    has_gains = True

    def __init__(self, members: Any, weights: ArrayLike | None = None) -> None:
        import scipy.sparse as sparse

        by_element = sparse.csc_array(as_sparse(members, "members", square=False))
        if not np.isin(by_element.data, (0, 1)).all():
            raise ValueError("members must be 0 or 1 (put weights of items into weights)")
        items, self.n = by_element.shape
        self.members = by_element
        self.weights = item_weights(weights, items)
        self._compiled = (by_element.indptr, by_element.indices, self.weights)
        self.knows = Knowledge(submodular=True, increasing=True, integral=bool((self.weights % 1 == 0).all()) or None)

    def _values(self, masks: Masks) -> Floats:
        return filled(values_kernel, len(masks), *self._compiled, masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return filled(marginals_kernel, masks.shape, *self._compiled, masks)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(chains_kernel, orders.shape, *self._compiled, orders, start)

    def _concave_extension(self, x: Floats) -> Floats:
        return np.minimum(1.0, x @ self.members.T) @ self.weights

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # [some j∈S covers i] = min(1, |S ∩ cover of i|) <= 1 and <= Σ_{j∈S covers i} 1: take the side that is tight
        # at x.
        constants, slopes = np.empty(len(x)), np.empty(x.shape)
        tangents_kernel(*self._compiled, x, constants, slopes)
        return constants, slopes

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With nothing included, the same family on fewer elements."""
        return super()._restrict(include, free) if len(include) else Coverage(self.members[:, free], self.weights)

    def groups(self) -> list[Ints]:
        """The elements that cover an item."""
        by_item = self.members.tocsr()
        return np.split(by_item.indices, by_item.indptr[1:-1])

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """An item is a client whose benefits are 0 or its weight."""
        model.maxima(self.members.multiply(self.weights[:, None]).tocsc(), elements, weight)

    def on_device(self, machine: Any) -> Any:
        """With dense members."""
        from dsprog.device.batched_coverage import CoverageOnDevice

        return CoverageOnDevice(machine, self.members.toarray(), self.weights)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """An item is a column z_i: z_i >= x_j for each j that covers it, or z_i <= Σ x_j and z_i <= 1.

        Items that the same elements cover are one; an item of one element is that element.
        """
        covers = self._covers(elements)
        shared = np.array([len(who) > 1 for who, _ in covers], dtype=bool)
        z = np.array([who[0] for who, _ in covers], dtype=np.int64)
        z[shared] = model.columns(int(shared.sum()))
        for k in np.flatnonzero(shared):
            who = covers[k][0]
            if weight > 0:
                model.rows(np.column_stack([np.full(len(who), z[k]), who]), [1.0, -1.0], lower=0.0)
            else:
                model.rows(np.append(who, z[k])[None, :], np.append(np.ones(len(who)), -1.0), lower=0.0)
        return Expression(z, np.array([w for _, w in covers]))

    def _covers(self, elements: Ints) -> list[tuple[Ints, float]]:
        """The sets of columns that cover some item, each with the weight of its items."""
        covers: dict[bytes, tuple[Ints, float]] = {}
        for group, w in zip(self.groups(), self.weights):
            if w > 0 and len(group):
                columns = np.unique(elements[group])
                covers[columns.tobytes()] = (columns, w + covers.get(columns.tobytes(), (columns, 0.0))[1])
        return list(covers.values())


def item_weights(weights: ArrayLike | None, items: int) -> Floats:
    """A weight for each thing that may be covered; ones by default."""
    given = np.ones(items) if weights is None else weights
    negative = "coverage with negative weights is not submodular"
    return as_matrix(given, "weights", shape=(items,), nonnegative=negative)
