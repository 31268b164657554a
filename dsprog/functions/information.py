"""Entropies of discrete data: how much the chosen columns tell.

Rows are packed into 64-bit words, one bit field for each column, so that the key of a row on a set of columns is the
words under a mask. Rows are counted in a hash table that compares whole keys: the hash only finds the place, and a
collision cannot change a count. One entropy costs one pass over the distinct rows, however many columns are chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsprog.kernel import kernel
from dsprog.knowledge import Knowledge
from dsprog.set_function import SetFunction
from dsprog.validation import Floats, Ints, Masks, as_codes, everywhere

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class PackedRows:
    """Distinct rows as words (R, W), their counts, and the bit field of each column as words (columns, W)."""

    words: Words
    counts: Ints
    row_of: Ints  # the distinct row that each given row is
    fields: Words
    count_log_count: Floats  # c log c for c = 0 .. number of rows

    @property
    def total(self) -> int:
        """The number of rows, repeated ones included."""
        return len(self.count_log_count) - 1


def pack(codes: Ints) -> PackedRows:
    """Pack integer codes (rows, columns); a field never straddles two words."""
    rows, columns = codes.shape
    widths = [int(c).bit_length() for c in codes.max(axis=0, initial=0)]
    places, word, used = [], 0, 0
    for width in widths:
        if used + width > 64:
            word, used = word + 1, 0
        places.append((word, used))
        used += width
    words = np.zeros((rows, word + 1), dtype=np.uint64)
    fields = np.zeros((columns, word + 1), dtype=np.uint64)
    for j, (w, shift) in enumerate(places):
        words[:, w] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
        fields[j, w] = np.uint64(((1 << widths[j]) - 1) << shift)
    distinct, row_of, counts = distinct_rows(words)
    c = np.arange(rows + 1.0)
    return PackedRows(distinct, counts, row_of, fields, c * np.log(np.maximum(c, 1.0)))


def distinct_rows(words: Words) -> tuple[Words, Ints, Ints]:
    """The distinct rows in order, which of them each row is, and how often each comes; faster than ``np.unique``."""
    order = np.lexsort(words.T[::-1])
    ranked = words[order]
    first = np.ones(len(words), dtype=bool)
    first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    row_of = np.empty(len(words), dtype=np.int64)
    row_of[order] = np.cumsum(first) - 1
    return ranked[first], row_of, np.bincount(row_of)


@kernel
def sum_of_c_log_c(words, counts, table, mask, slots, keys, sizes):
    """Σ over distinct keys of c log c, and how many keys there are; keys are the rows' words under the mask."""
    width = words.shape[1]
    last = len(slots) - 1
    slots[:] = -1
    groups = 0
    for r in range(len(words)):
        h = np.uint64(0)
        for w in range(width):
            h = (h ^ (words[r, w] & mask[w])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        place = np.int64(h >> np.uint64(20)) & last
        while True:
            g = slots[place]
            if g < 0:
                slots[place] = groups
                for w in range(width):
                    keys[groups, w] = words[r, w] & mask[w]
                sizes[groups] = counts[r]
                groups += 1
                break
            same = True
            for w in range(width):
                if keys[g, w] != words[r, w] & mask[w]:
                    same = False
            if same:
                sizes[g] += counts[r]
                break
            place = (place + 1) & last
    total = 0.0
    for g in range(groups):
        total += table[sizes[g]]
    return total, groups


@kernel
def workspace(rows, width):
    """Hash slots, keys and group sizes for a pass over the rows."""
    size = 4
    while size < 2 * rows:
        size *= 2
    return np.empty(size, dtype=np.int32), np.empty((rows, width), dtype=np.uint64), np.empty(rows, dtype=np.int64)


@kernel
def mask_of(fields, always, inside):
    """The bit fields of a set of columns, with the fields that are always there."""
    mask = always.copy()
    for j in range(len(fields)):
        if inside[j]:
            mask |= fields[j]
    return mask


@kernel
def values_kernel(words, counts, table, fields, always, masks, out):
    """H = log N - Σ c log c / N for every set."""
    total = len(table) - 1
    slots, keys, sizes = workspace(len(words), words.shape[1])
    for b in range(len(masks)):
        c, _ = sum_of_c_log_c(words, counts, table, mask_of(fields, always, masks[b]), slots, keys, sizes)
        out[b] = (table[total] - c) / total


@kernel
def marginals_kernel(words, counts, table, fields, always, masks, among, out):
    """H(S ∪ j) - H(S ∖ j): flip one field of the mask at a time."""
    total = len(table) - 1
    slots, keys, sizes = workspace(len(words), words.shape[1])
    for b in range(len(masks)):
        mask = mask_of(fields, always, masks[b])
        here, groups = sum_of_c_log_c(words, counts, table, mask, slots, keys, sizes)
        for j in range(len(fields)):
            if not among[b, j] or (not masks[b, j] and groups == len(words)):  # all rows told apart: no more to learn
                out[b, j] = 0.0
                continue
            there, _ = sum_of_c_log_c(words, counts, table, mask ^ fields[j], slots, keys, sizes)
            out[b, j] = (there - here if masks[b, j] else here - there) / total


@kernel
def chains_kernel(words, counts, table, fields, always, orders, start, out):
    """Increments along orders; once all rows are told apart the rest are 0."""
    total = len(table) - 1
    slots, keys, sizes = workspace(len(words), words.shape[1])
    inside = np.empty(len(fields), dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        mask = mask_of(fields, always, inside)
        before, groups = sum_of_c_log_c(words, counts, table, mask, slots, keys, sizes)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j] or groups == len(words):
                continue
            inside[j] = True
            mask |= fields[j]
            after, groups = sum_of_c_log_c(words, counts, table, mask, slots, keys, sizes)
            out[b, k] = (before - after) / total
            before = after


class CountedEntropy(SetFunction):
    """H(X_S, always) - offset, for the two families below."""

    def _set_rows(self, X: Ints, y: Ints | None) -> None:
        if len(X) == 0:
            raise ValueError("X must have at least one row, got none")
        self.n = X.shape[1]
        self._rows = pack(X if y is None else np.column_stack([X, y]))
        always = np.zeros(self._rows.words.shape[1], dtype=np.uint64) if y is None else self._rows.fields[self.n]
        rows = self._rows
        self._compiled = (rows.words, rows.counts, rows.count_log_count, rows.fields[: self.n], always)
        self._offset = 0.0
        self._offset = self._values(np.zeros((1, self.n), dtype=bool))[0]
        self.knows = Knowledge(submodular=True, increasing=True)

    def _values(self, masks: Masks) -> Floats:
        out = np.empty(len(masks))
        values_kernel(*self._compiled, masks, out)
        return out - self._offset

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out = np.empty(masks.shape)
        marginals_kernel(*self._compiled, masks, everywhere(masks) if among is None else among, out)
        return out

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(*self._compiled, orders, start, out)
        return out


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
        self._set_rows(self.X, None)


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
        self._set_rows(self.X, self.y)
