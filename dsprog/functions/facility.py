"""Facility location: each client is served by its best open facility."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.column_model import ColumnModel, Expression, joined
from dsprog.core.gain_model import GainModel
from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix, as_sparse, chosen_entries
from dsprog.functions._sparse_facility import (
    sparse_chains_kernel,
    sparse_excess_kernel,
    sparse_marginals_kernel,
    sparse_thresholds_kernel,
)

MOST_PAIRS = 5000  # of client and facility, beyond which a compact model has threshold cuts instead of columns


@part
def best_two(columns, mask, first, second):
    """Largest and second largest similarity of each client over the set; 0 where there is none."""
    first[:] = 0.0
    second[:] = 0.0
    for j in range(len(mask)):
        if mask[j]:
            for i in range(len(first)):
                s = columns[j, i]
                second[i] = max(second[i], min(s, first[i]))
                first[i] = max(first[i], s)


@kernel
def values_kernel(columns, masks, out):
    """Σ_i max_{j∈S} s_ij."""
    best = np.empty(columns.shape[1])
    for b in range(len(masks)):
        best[:] = 0.0
        for j in range(masks.shape[1]):
            if masks[b, j]:
                for i in range(len(best)):
                    best[i] = max(best[i], columns[j, i])
        total = 0.0
        for i in range(len(best)):
            total += best[i]
        out[b] = total


@kernel
def marginals_kernel(columns, masks, among, out):
    """Outsiders gain over the best, members over the second best where they are the best."""
    first = np.empty(columns.shape[1])
    second = np.empty(columns.shape[1])
    for b in range(len(masks)):
        best_two(columns, masks[b], first, second)
        for j in range(masks.shape[1]):
            total = 0.0
            if not among[b, j]:
                pass
            elif masks[b, j]:
                for i in range(len(first)):
                    if columns[j, i] == first[i]:
                        total += first[i] - second[i]
            else:
                for i in range(len(first)):
                    total += max(0.0, columns[j, i] - first[i])
            out[b, j] = total


@kernel
def chains_kernel(columns, orders, start, out):
    """Gains over the running best."""
    best = np.empty(columns.shape[1])
    for b in range(len(orders)):
        best[:] = 0.0
        for j in range(start.shape[1]):
            if start[b, j]:
                for i in range(len(best)):
                    best[i] = max(best[i], columns[j, i])
        for k in range(orders.shape[1]):
            j = orders[b, k]
            total = 0.0
            if j >= 0:
                for i in range(len(best)):
                    gain = max(0.0, columns[j, i] - best[i])
                    total += gain
                    best[i] += gain
            out[b, k] = total


@kernel
def thresholds_kernel(columns, ranking, x, out):
    """τ_i: the similarity at which client i, taking fractions x_j in falling order, has one unit; 0 if never."""
    for b in range(len(x)):
        for i in range(columns.shape[1]):
            left = 1.0
            out[b, i] = 0.0
            for r in range(ranking.shape[1]):
                j = ranking[i, r]
                left -= x[b, j]
                if left <= 0:
                    out[b, i] = columns[j, i]
                    break


class FacilityLocation(SetFunction):
    """f(S) = Σ_i max_{j∈S} s_ij, and 0 for the empty set.

    Its concave extension serves client i with fractions y_j <= x_j, Σ y_j <= 1, of largest total similarity; by linear
    programming duality that is min over τ >= 0 of τ + Σ_j x_j max(0, s_ij - τ).

    Parameters
    ----------
    similarity : (clients, n) array or scipy.sparse matrix, non-negative
        What a sparse matrix does not store is 0, and costs nothing.

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.FacilityLocation([[3.0, 1.0], [0.0, 2.0]])
    >>> f([0]), f([0, 1])
    (3.0, 5.0)
    """

    has_concave_extension = True
    has_columns = True
    has_gains = True

    def __init__(self, similarity: Any) -> None:
        why = "the empty set serves nobody, with value 0"
        if hasattr(similarity, "tocsc"):
            self.similarity = as_sparse(similarity, "similarity", square=False).tocsc()
            as_matrix(self.similarity.data, "similarity", shape=(None,), nonnegative=why)
            entries = self.similarity.data
        else:
            self.similarity = entries = as_matrix(similarity, "similarity", shape=(None, None), nonnegative=why)
            self._columns = np.ascontiguousarray(self.similarity.T)
        self.n = self.similarity.shape[1]
        self.knows = Knowledge(submodular=True, increasing=True, integral=bool((entries % 1 == 0).all()) or None)

    @property
    def _is_sparse(self) -> bool:
        return not isinstance(self.similarity, np.ndarray)

    @property
    def _stored(self) -> tuple[Ints, Ints, Floats]:
        return self.similarity.indptr, self.similarity.indices, self.similarity.data

    @cached_property
    def _ranking(self) -> Ints:
        """The facilities of each client, the best first."""
        return np.argsort(-self.dense, axis=1, kind="stable")

    @cached_property
    def _ranked(self) -> tuple[Ints, Ints, Floats]:
        """The same for sparse benefits: pointers, facilities and benefits."""
        rows = self.similarity.tocsr()
        order = np.lexsort((-rows.data, np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))))
        return rows.indptr, rows.indices[order], rows.data[order]

    def _values(self, masks: Masks) -> Floats:
        if self._is_sparse:
            return self._values_from_chains(masks)
        return filled(values_kernel, len(masks), self._columns, masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out, wanted = np.empty(masks.shape), chosen_entries(masks, among)
        if self._is_sparse:
            sparse_marginals_kernel(*self._stored, self.similarity.shape[0], masks, wanted, out)
        else:
            marginals_kernel(self._columns, masks, wanted, out)
        return out

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        if self._is_sparse:
            sparse_chains_kernel(*self._stored, self.similarity.shape[0], orders, start, out)
        else:
            chains_kernel(self._columns, orders, start, out)
        return out

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # max_{j∈S} s_ij <= τ + Σ_{j∈S} max(0, s_ij - τ) for every τ >= 0.
        thresholds, slopes = np.empty((len(x), self.similarity.shape[0])), np.empty(x.shape)
        if self._is_sparse:
            sparse_thresholds_kernel(*self._ranked, x, thresholds)
            sparse_excess_kernel(*self._stored, thresholds, slopes)
        else:
            thresholds_kernel(self._columns, self._ranking, x, thresholds)
            excess_kernel(self._columns, thresholds, slopes)
        return thresholds.sum(axis=1), slopes

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With nothing included, the same family on fewer facilities."""
        return super()._restrict(include, free) if len(include) else FacilityLocation(self.similarity[:, free])

    def on_device(self, machine: Any) -> Any:
        """With dense similarities."""
        from dsprog.device.batched_facility import FacilityOnDevice

        return FacilityOnDevice(machine, self.dense, self._ranking)

    def spans(self) -> Masks | None:
        """j spans k if it serves every client at least as well."""
        if self._is_sparse:
            return super().spans()
        spanned = np.empty((self.n, self.n), dtype=bool)
        spans_kernel(self._columns, spanned)
        return spanned

    def groups(self) -> list[Ints]:
        """The facilities that serve a client."""
        if self._is_sparse:
            rows = self.similarity.tocsr()
            return np.split(rows.indices, rows.indptr[1:-1])
        return [np.flatnonzero(row) for row in self.similarity]

    @property
    def dense(self) -> Floats:
        """The benefits with every entry written out."""
        return self.similarity.toarray() if self._is_sparse else self.similarity

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Each client keeps its best benefit."""
        model.maxima(self.similarity, elements, weight)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """From below a client covers levels: z_r >= x_j for its r best facilities, z_1 <= z_2 <= ..., and its
        similarity is Σ_r (s_r - s_{r+1}) z_r. From above it takes fractions y_j <= x_j with Σ y_j <= 1, and its
        similarity is Σ_j s_j y_j; where that would be many columns, threshold cuts do the same.
        """
        similarity = self.dense
        if weight < 0 and int((similarity[:, elements != model.zero] > 0).sum()) > MOST_PAIRS:
            return model.below_maxima(similarity, elements, weight)
        parts = [Expression()]
        for s in similarity:
            ranking = np.argsort(-s, kind="stable")
            ranked = ranking[(s[ranking] > 0) & (elements[ranking] != model.zero)]
            if len(ranked) == 0:
                continue
            y, x = model.columns(len(ranked)), elements[ranked]
            pairs = np.column_stack([y, x])
            if weight > 0:
                model.rows(pairs, [1.0, -1.0], lower=0.0)
                model.rows(np.column_stack([y[1:], y[:-1]]), [1.0, -1.0], lower=0.0)
                parts.append(Expression(y, s[ranked] - np.append(s[ranked][1:], 0.0)))
            else:
                model.rows(pairs, [1.0, -1.0], upper=0.0)
                model.rows(y[None, :], 1.0, upper=1.0)
                parts.append(Expression(y, s[ranked]))
        return joined(parts)


@kernel
def excess_kernel(columns, thresholds, slopes):
    """Σ_i max(0, s_ij - τ_i) for every j."""
    for b in range(len(thresholds)):
        for j in range(columns.shape[0]):
            total = 0.0
            for i in range(columns.shape[1]):
                total += max(0.0, columns[j, i] - thresholds[b, i])
            slopes[b, j] = total


@kernel
def spans_kernel(columns, out):
    """Whether column j is nowhere below column k."""
    for j in range(columns.shape[0]):
        for k in range(columns.shape[0]):
            i = 0
            while i < columns.shape[1] and columns[j, i] >= columns[k, i]:
                i += 1
            out[j, k] = i == columns.shape[1]
