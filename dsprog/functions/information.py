"""Entropies of discrete data: how much the chosen columns tell.

One entropy costs one pass over the distinct rows (:mod:`dsprog.functions._grouping`), however many columns are chosen.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_codes, chosen_entries
from dsprog.functions._grouping import PackedRows, Words, group, mask_of, pack, room_for

if TYPE_CHECKING:
    from dsprog.functions.mutual_information import MutualInformation


class CountTable(NamedTuple):
    """Distinct rows in words with their counts, c log c of every count, and the bit fields of columns.

    ``always`` holds the fields that belong to every set.
    """

    words: Words
    counts: Ints
    count_log_count: Floats
    fields: Words
    always: Words


@part
def sum_of_c_log_c(data, mask, room, sizes):
    """Σ over groups of c log c, and how many groups there are; rows are grouped by their words under the mask."""
    rows, table = len(data.words), data.count_log_count
    groups = group(data.words, mask, rows, room)
    for g in range(groups):
        sizes[g] = 0
    for r in range(rows):
        sizes[room.groups_of[r]] += data.counts[r]
    total = 0.0
    for g in range(groups):
        total += table[sizes[g]]
    return total, groups


@kernel
def values_kernel(data, room, masks, out):
    """H = log N - Σ c log c / N for every set."""
    table, total = data.count_log_count, len(data.count_log_count) - 1
    sizes, mask = np.empty(len(data.words), dtype=np.int64), np.empty(len(data.always), dtype=np.uint64)
    for b in range(len(masks)):
        mask_of(data.fields, data.always, masks[b], mask)
        c, _ = sum_of_c_log_c(data, mask, room, sizes)
        out[b] = (table[total] - c) / total


@kernel
def marginals_kernel(data, room, masks, among, out):
    """H(S ∪ j) - H(S ∖ j): flip one field of the mask at a time."""
    rows, width, total = len(data.words), len(data.always), len(data.count_log_count) - 1
    sizes, mask = np.empty(rows, dtype=np.int64), np.empty(width, dtype=np.uint64)
    for b in range(len(masks)):
        mask_of(data.fields, data.always, masks[b], mask)
        here, groups = sum_of_c_log_c(data, mask, room, sizes)
        for j in range(len(data.fields)):
            if not among[b, j] or (not masks[b, j] and groups == rows):  # all rows told apart: no more to learn
                out[b, j] = 0.0
                continue
            for w in range(width):
                mask[w] ^= data.fields[j, w]
            there, _ = sum_of_c_log_c(data, mask, room, sizes)
            for w in range(width):
                mask[w] ^= data.fields[j, w]
            out[b, j] = (there - here if masks[b, j] else here - there) / total


@kernel
def chains_kernel(data, room, orders, start, out):
    """Increments along orders; once all rows are told apart the rest are 0."""
    rows, width, total = len(data.words), len(data.always), len(data.count_log_count) - 1
    sizes, mask = np.empty(rows, dtype=np.int64), np.empty(width, dtype=np.uint64)
    inside = np.empty(len(data.fields), dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        mask_of(data.fields, data.always, inside, mask)
        before, groups = sum_of_c_log_c(data, mask, room, sizes)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j] or groups == rows:
                continue
            inside[j] = True
            for w in range(width):
                mask[w] |= data.fields[j, w]
            after, groups = sum_of_c_log_c(data, mask, room, sizes)
            out[b, k] = (before - after) / total
            before = after


class CountedEntropy(SetFunction):
    """H(X_S, always) - H(always), for the two families below."""

    X: Ints
    y: Ints | None = None  # always there

    def _set_data(self) -> None:
        if len(self.X) == 0:
            raise ValueError("X must have at least one row, got none")
        self.n = self.X.shape[1]
        self.knows = Knowledge(submodular=True, increasing=True)

    @cached_property
    def _rows(self) -> PackedRows:
        return pack(self.X if self.y is None else np.column_stack([self.X, self.y]))

    @cached_property
    def _table(self) -> CountTable:
        rows = self._rows
        always = np.zeros(rows.words.shape[1], dtype=np.uint64) if self.y is None else rows.fields[self.n]
        return CountTable(rows.words, rows.counts, rows.count_log_count, rows.fields[: self.n], always)

    @cached_property
    def _offset(self) -> float:
        return float(self._joint(np.zeros((1, self.n), dtype=bool))[0])

    def _joint(self, masks: Masks) -> Floats:
        """H(X_S, always)."""
        return filled(values_kernel, len(masks), self._table, room_for(len(self._table.words)), masks)

    def on_device(self, machine: Any) -> Any:
        """With the same packed rows."""
        from dsprog.device.batched_entropy import EntropyOnDevice

        return EntropyOnDevice(machine, self._table, self._offset)

    def _values(self, masks: Masks) -> Floats:
        return self._joint(masks) - self._offset

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        room, asked = room_for(len(self._table.words)), chosen_entries(masks, among)
        return filled(marginals_kernel, masks.shape, self._table, room, masks, asked)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(chains_kernel, orders.shape, self._table, room_for(len(self._table.words)), orders, start)


class Entropy(CountedEntropy):
    """H(X_S), the joint entropy of the chosen columns, in nats.

    Parameters
    ----------
    X : (rows, n) array of discrete values of any kind

    Examples
    --------
    >>> import dsprog as ds
    >>> X = [["a", 0], ["a", 1], ["b", 0], ["b", 1]]
    >>> round(ds.Entropy(X)([0, 1]), 6)
    1.386294
    """

    def __init__(self, X: Any) -> None:
        self.X = as_codes(X, "X", shape=(None, None))
        self._set_data()

    def minus(self, other: SetFunction) -> MutualInformation | None:
        """H(X_S) - H(X_S | y) = I(X_S; y)."""
        from dsprog.functions.mutual_information import MutualInformation

        if isinstance(other, ConditionalEntropy) and np.array_equal(self.X, other.X):
            return MutualInformation(self.X, other.y)
        return None


class ConditionalEntropy(CountedEntropy):
    """H(X_S | y) = H(X_S, y) - H(y), in nats.

    Parameters
    ----------
    X : (rows, n) array of discrete values
    y : (rows,) array of classes

    Examples
    --------
    >>> import dsprog as ds
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> ds.ConditionalEntropy(X, y)([0])
    0.0
    """

    def __init__(self, X: Any, y: Any) -> None:
        self.X = as_codes(X, "X", shape=(None, None))
        self.y = as_codes(y, "y", shape=(len(self.X),))
        self._set_data()
