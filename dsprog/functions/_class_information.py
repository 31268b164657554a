"""Mutual information between chosen columns and a class, counted in one pass.

With n_g rows in group g and n_gc of them in class c,  I(X_S; y) = H(y) + Σ_g (Σ_c n_gc log n_gc - n_g log n_g) / N. A
group of one class contributes nothing, and neither does any refinement of it: once the columns of a set tell the
class of some rows, these rows need not be looked at again for any larger set. The kernels work on *cells*, distinct
rows with a class and a count.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, chosen_entries
from dsprog.functions._grouping import Room, Words, group, mask_of, pack, room_for


class Cells(NamedTuple):
    """Cells: words, class and count of each; several levels of cells where there is one more dimension."""

    words: Words
    classes: Ints
    counts: Ints


class Columns(NamedTuple):
    """c log c of every count, the bit field of each column, and a mask without columns."""

    count_log_count: Floats
    fields: Words
    none: Words


class Counting(NamedTuple):
    """Room for grouping cells, and for n_gc (groups, classes)."""

    room: Room
    sizes: Ints


def counting_room(cells: Cells, kinds: int) -> Counting:
    """For these cells, of so many classes."""
    return Counting(room_for(len(cells.words)), np.empty((len(cells.words), kinds), dtype=np.int64))


def copies(cells: Cells, levels: int) -> Cells:
    """Room for several copies of the cells."""
    return Cells(*(np.empty((levels, *array.shape), dtype=array.dtype) for array in cells))


@part
def level_of(levels, k):
    """The cells of one level."""
    return Cells(levels.words[k], levels.classes[k], levels.counts[k])


@part
def information(table, sizes, groups):
    """The sum over groups of Σ_c n_c log n_c - n log n."""
    total = 0.0
    for g in range(groups):
        whole, term = 0, 0.0
        for c in range(sizes.shape[1]):
            whole += sizes[g, c]
            term += table[sizes[g, c]]
        total += term - table[whole]
    return total


@part
def keep_mixed(cells, size, counting, to):
    """Copy the cells whose group has several classes; return how many they are. Source and target may be the same."""
    sizes, groups_of = counting.sizes, counting.room.groups_of
    kept = 0
    for i in range(size):
        whole = 0
        for c in range(sizes.shape[1]):
            whole += sizes[groups_of[i], c]
        if whole > sizes[groups_of[i], cells.classes[i]]:
            for w in range(cells.words.shape[1]):
                to.words[kept, w] = cells.words[i, w]
            to.classes[kept], to.counts[kept] = cells.classes[i], cells.counts[i]
            kept += 1
    return kept


@part
def merge(cells, groups, counting, to):
    """Make each group a cell for each of its classes; return how many they are."""
    sizes, first = counting.sizes, counting.room.first
    size = 0
    for g in range(groups):
        for c in range(sizes.shape[1]):
            if sizes[g, c] > 0:
                for w in range(cells.words.shape[1]):
                    to.words[size, w] = cells.words[first[g], w]
                to.classes[size], to.counts[size] = c, sizes[g, c]
                size += 1
    return size


@part
def count(cells, mask, size, counting):
    """Group the first ``size`` cells and count their classes, n_gc; return how many groups."""
    sizes, groups_of = counting.sizes, counting.room.groups_of
    groups = group(cells.words, mask, size, counting.room)
    for g in range(groups):
        for c in range(sizes.shape[1]):
            sizes[g, c] = 0
    for i in range(size):
        sizes[groups_of[i], cells.classes[i]] += cells.counts[i]
    return groups


@kernel
def values_kernel(cells, columns, counting, masks, out):
    """The sum of :func:`information` for every set."""
    mask = np.empty(len(columns.none), dtype=np.uint64)
    for b in range(len(masks)):
        mask_of(columns.fields, columns.none, masks[b], mask)
        groups = count(cells, mask, len(cells.words), counting)
        out[b] = information(columns.count_log_count, counting.sizes, groups)


@part
def without_each(levels, size, columns, mask, removed, counting, out):
    """The sum for the set ``mask`` without j, for every j in ``removed``; cells are at level 0.

    Halving: the columns outside half of ``removed`` belong to every set that lacks one element of that half, so the
    cells that they give one class are left out before the half is halved again. Few are left at the single elements.
    """
    # an entry of the stack: removed[low:high], and the level of the cells that are mixed without them
    lows, highs, depths = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    left, common = np.empty(len(levels.words), dtype=np.int64), np.empty(len(mask), dtype=np.uint64)
    lows[0], highs[0], depths[0], left[0], height = 0, len(removed), 0, size, min(1, len(removed))
    while height:
        height -= 1
        low, high, level = lows[height], highs[height], depths[height]
        cells, size = level_of(levels, level), left[level]
        if high - low < len(removed) or high - low == 1:  # the cells at hand are mixed under the columns common to all
            for w in range(len(mask)):
                common[w] = mask[w]
                for k in range(low, high):
                    common[w] &= ~columns.fields[removed[k], w]
            groups = count(cells, common, size, counting)
            if high - low == 1:
                out[removed[low]] = information(columns.count_log_count, counting.sizes, groups)
                continue
            level += 1
            left[level] = keep_mixed(cells, size, counting, level_of(levels, level))
        middle = (low + high) // 2
        lows[height], highs[height], depths[height] = middle, high, level
        lows[height + 1], highs[height + 1], depths[height + 1] = low, middle, level
        height += 2


@part
def with_each(cells, size, columns, mask, added, counting, out):
    """The sum for the set ``mask`` with j, for every j in ``added``."""
    more = np.empty(len(mask), dtype=np.uint64)
    for j in added:
        for w in range(len(mask)):
            more[w] = mask[w] | columns.fields[j, w]
        groups = count(cells, more, size, counting)
        out[j] = information(columns.count_log_count, counting.sizes, groups)


@kernel
def marginals_kernel(cells, levels, columns, counting, masks, among, out):
    """Differences of the sum. Cells that the columns common to all sets asked for give one class are left out, and
    those that no column asked about tells apart are merged.
    """
    n, table, sizes = len(columns.fields), columns.count_log_count, counting.sizes
    width = len(columns.none)
    mask, common, most = np.empty(width, np.uint64), np.empty(width, np.uint64), np.empty(width, np.uint64)
    asked, there = np.empty(n, dtype=np.int64), np.empty(n)
    merged, mixed = level_of(levels, 0), level_of(levels, 1)
    for b in range(len(masks)):
        for w in range(len(mask)):
            mask[w] = common[w] = most[w] = columns.none[w]
        ins, outs = 0, n  # asked: the members asked about at the front, the others at the back
        for j in range(n):
            for w in range(len(mask)):
                field = columns.fields[j, w]
                if masks[b, j]:
                    mask[w] |= field
                    if not among[b, j]:
                        common[w] |= field
                if masks[b, j] or among[b, j]:
                    most[w] |= field
            if among[b, j] and masks[b, j]:
                asked[ins] = j
                ins += 1
            elif among[b, j]:
                outs -= 1
                asked[outs] = j
        count(cells, common, len(cells.words), counting)
        size = keep_mixed(cells, len(cells.words), counting, mixed)
        groups = count(mixed, most, size, counting)
        size = merge(mixed, groups, counting, merged)
        if outs < n:
            groups = count(merged, mask, size, counting)
        here = information(table, sizes, groups)
        for j in range(n):
            there[j] = here
        if outs < n:
            few = keep_mixed(merged, size, counting, mixed)
            with_each(mixed, few, columns, mask, asked[outs:], counting, there)
        without_each(levels, size, columns, mask, asked[:ins], counting, there)
        for j in range(n):
            out[b, j] = here - there[j] if masks[b, j] else there[j] - here


@kernel
def chains_kernel(cells, levels, columns, counting, orders, start, out):
    """Increments of the sum along orders; cells leave as soon as their group has one class."""
    table, sizes, mixed = columns.count_log_count, counting.sizes, level_of(levels, 0)
    inside, mask = np.empty(len(columns.fields), dtype=np.bool_), np.empty(len(columns.none), dtype=np.uint64)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        mask_of(columns.fields, columns.none, inside, mask)
        before = information(table, sizes, count(cells, mask, len(cells.words), counting))
        size = keep_mixed(cells, len(cells.words), counting, mixed)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j] or size == 0:
                continue
            inside[j] = True
            for w in range(len(mask)):
                mask[w] |= columns.fields[j, w]
            after = information(table, sizes, count(mixed, mask, size, counting))
            size = keep_mixed(mixed, size, counting, mixed)
            out[b, k] = after - before
            before = after


class ClassInformation(SetFunction):
    """I(X_S; y) of integer codes; users call it :class:`dsprog.MutualInformation`."""

    def __init__(self, X: Ints, y: Ints) -> None:
        self.X, self.y, self.n = X, y, X.shape[1]
        modular = self.n <= 1  # in general it is neither submodular nor supermodular
        self.knows = Knowledge(submodular=modular, supermodular=modular, increasing=True)
        rows = pack(X)
        kinds = int(y.max(initial=0)) + 1
        cells, counts = np.unique(rows.row_of * kinds + y, return_counts=True)  # a cell: a distinct row with a class
        none = np.zeros(rows.words.shape[1], dtype=np.uint64)
        self._total = rows.total
        words = np.ascontiguousarray(rows.words[cells // kinds])
        self._cells, self._kinds = Cells(words, cells % kinds, counts), kinds
        self._columns = Columns(rows.count_log_count, rows.fields, none)

    @cached_property
    def _offset(self) -> float:
        return float(self._sums(np.zeros((1, self.n), dtype=bool))[0])

    def _sums(self, masks: Masks) -> Floats:
        counting = counting_room(self._cells, self._kinds)
        return filled(values_kernel, len(masks), self._cells, self._columns, counting, masks) / self._total

    def _values(self, masks: Masks) -> Floats:
        return self._sums(masks) - self._offset

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        levels = copies(self._cells, 3 + self.n.bit_length())  # of the halving, and two
        room = (levels, self._columns, counting_room(self._cells, self._kinds))
        asked = chosen_entries(masks, among)
        return filled(marginals_kernel, masks.shape, self._cells, *room, masks, asked) / self._total

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        room = (copies(self._cells, 1), self._columns, counting_room(self._cells, self._kinds))
        return filled(chains_kernel, orders.shape, self._cells, *room, orders, start) / self._total
