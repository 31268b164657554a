"""Mutual information between chosen columns and a class, counted in one pass.

With n_g rows in group g and n_gc of them in class c,  I(X_S; y) = H(y) + Σ_g (Σ_c n_gc log n_gc - n_g log n_g) / N. A
group of one class contributes nothing, and neither does any refinement of it: once the columns of a set tell the
class of some rows, these rows need not be looked at again for any larger set. The kernels work on *cells*, distinct
rows with a class and a count.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, everywhere
from dsprog.functions._grouping import group, mask_of, pack, workspace


@part
def tally(classes, counts, size, groups_of, groups, sizes):
    """n_gc for every group and class."""
    sizes[:groups] = 0
    for i in range(size):
        sizes[groups_of[i], classes[i]] += counts[i]


@part
def term(table, sizes):
    """Σ_c n_c log n_c - n log n of one group."""
    whole, total = 0, 0.0
    for c in range(len(sizes)):
        whole += sizes[c]
        total += table[sizes[c]]
    return total - table[whole]


@part
def information(table, sizes, groups):
    """The sum of terms."""
    total = 0.0
    for g in range(groups):
        total += term(table, sizes[g])
    return total


@part
def keep_mixed(words, classes, counts, size, groups_of, sizes, to_words, to_classes, to_counts):
    """Copy the cells whose group has several classes; return how many they are. Source and target may be the same."""
    kept = 0
    for i in range(size):
        whole = 0
        for c in range(sizes.shape[1]):
            whole += sizes[groups_of[i], c]
        if whole > sizes[groups_of[i], classes[i]]:
            for w in range(words.shape[1]):
                to_words[kept, w] = words[i, w]
            to_classes[kept], to_counts[kept] = classes[i], counts[i]
            kept += 1
    return kept


@part
def merge(words, groups, first, sizes, to_words, to_classes, to_counts):
    """Make each group a cell for each of its classes; return how many they are."""
    size = 0
    for g in range(groups):
        for c in range(sizes.shape[1]):
            if sizes[g, c] > 0:
                for w in range(words.shape[1]):
                    to_words[size, w] = words[first[g], w]
                to_classes[size], to_counts[size] = c, sizes[g, c]
                size += 1
    return size


@part
def buffers(words, kinds, levels):
    """Room for ``levels`` copies of the cells, for grouping them, and for the classes of groups."""
    size, width = words.shape
    return (
        np.empty((levels, size, width), np.uint64), np.empty((levels, size), np.int64),
        np.empty((levels, size), np.int64), workspace(size), np.empty((size, kinds), np.int64),
    )  # fmt: skip


@part
def count(words, classes, counts, mask, size, room, sizes):
    """Group the first ``size`` cells and count their classes; return how many groups."""
    slots, first, hashes, groups_of = room
    groups = group(words, mask, size, slots, first, hashes, groups_of)
    tally(classes, counts, size, groups_of, groups, sizes)
    return groups


@kernel
def values_kernel(words, classes, counts, kinds, table, fields, none, masks, out):
    """The sum of :func:`information` for every set."""
    _, _, _, room, sizes = buffers(words, kinds, 0)
    for b in range(len(masks)):
        groups = count(words, classes, counts, mask_of(fields, none, masks[b]), len(words), room, sizes)
        out[b] = information(table, sizes, groups)


@part
def without_each(W, C, M, size, table, fields, mask, removed, room, sizes, out):
    """The sum for the set ``mask`` without j, for every j in ``removed``; cells are at level 0 of W, C, M.

    Halving: the columns outside half of ``removed`` belong to every set that lacks one element of that half, so the
    cells that they give one class are left out before the half is halved again. Few are left at the single elements.
    """
    lows, highs, levels = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    left = np.zeros(len(W), np.int64)
    lows[0], highs[0], levels[0], left[0], height = 0, len(removed), 0, size, min(1, len(removed))
    while height:
        height -= 1
        low, high, level = lows[height], highs[height], levels[height]
        w, c, m, size = W[level], C[level], M[level], left[level]
        if high - low < len(removed) or high - low == 1:  # the cells at hand are mixed under the columns common to all
            common = mask.copy()
            for k in range(low, high):
                common &= ~fields[removed[k]]
            groups = count(w, c, m, common, size, room, sizes)
            if high - low == 1:
                out[removed[low]] = information(table, sizes, groups)
                continue
            level += 1
            left[level] = keep_mixed(w, c, m, size, room[3], sizes, W[level], C[level], M[level])
        middle = (low + high) // 2
        lows[height], highs[height], levels[height] = middle, high, level
        lows[height + 1], highs[height + 1], levels[height + 1] = low, middle, level
        height += 2


@part
def with_each(words, classes, counts, size, table, fields, mask, added, room, sizes, out):
    """The sum for the set ``mask`` with j, for every j in ``added``."""
    for j in added:
        groups = count(words, classes, counts, mask | fields[j], size, room, sizes)
        out[j] = information(table, sizes, groups)


@kernel
def marginals_kernel(words, classes, counts, kinds, table, fields, none, masks, among, out):
    """Differences of the sum. Cells that the columns common to all sets asked for give one class are left out, and
    those that no column asked about tells apart are merged.
    """
    n = len(fields)
    W, C, M, room, sizes = buffers(words, kinds, 3 + int(np.ceil(np.log2(n + 1))))
    for b in range(len(masks)):
        mask = mask_of(fields, none, masks[b])
        count(words, classes, counts, mask_of(fields, none, masks[b] & ~among[b]), len(words), room, sizes)
        size = keep_mixed(words, classes, counts, len(words), room[3], sizes, W[1], C[1], M[1])
        groups = count(W[1], C[1], M[1], mask_of(fields, none, masks[b] | among[b]), size, room, sizes)
        size = merge(W[1], groups, room[1], sizes, W[0], C[0], M[0])
        removed, added = np.flatnonzero(masks[b] & among[b]), np.flatnonzero(~masks[b] & among[b])
        if len(added):
            groups = count(W[0], C[0], M[0], mask, size, room, sizes)
        here = information(table, sizes, groups)
        there = np.full(n, here)
        if len(added):
            few = keep_mixed(W[0], C[0], M[0], size, room[3], sizes, W[1], C[1], M[1])
            with_each(W[1], C[1], M[1], few, table, fields, mask, added, room, sizes, there)
        without_each(W, C, M, size, table, fields, mask, removed, room, sizes, there)
        for j in range(n):
            out[b, j] = here - there[j] if masks[b, j] else there[j] - here


@kernel
def chains_kernel(words, classes, counts, kinds, table, fields, none, orders, start, out):
    """Increments of the sum along orders; cells leave as soon as their group has one class."""
    W, C, M, room, sizes = buffers(words, kinds, 1)
    w, c, m = W[0], C[0], M[0]
    inside = np.empty(len(fields), dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        mask = mask_of(fields, none, inside)
        before = information(table, sizes, count(words, classes, counts, mask, len(words), room, sizes))
        size = keep_mixed(words, classes, counts, len(words), room[3], sizes, w, c, m)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j] or size == 0:
                continue
            inside[j] = True
            mask |= fields[j]
            after = information(table, sizes, count(w, c, m, mask, size, room, sizes))
            size = keep_mixed(w, c, m, size, room[3], sizes, w, c, m)
            out[b, k] = after - before
            before = after


class ClassInformation(SetFunction):
    """I(X_S; y) of integer codes; users call it :class:`dsprog.MutualInformation`."""

    def __init__(self, X: Ints, y: Ints) -> None:
        self.X, self.y, self.n = X, y, X.shape[1]
        rows = pack(X)
        kinds = int(y.max(initial=0)) + 1
        cells, counts = np.unique(rows.row_of * kinds + y, return_counts=True)  # a cell: a distinct row with a class
        none = np.zeros(rows.words.shape[1], dtype=np.uint64)
        self._total = rows.total
        words = np.ascontiguousarray(rows.words[cells // kinds])
        self._compiled = (words, cells % kinds, counts, kinds, rows.count_log_count, rows.fields, none)
        self._offset = 0.0
        self._offset = float(self._values(np.zeros((1, self.n), dtype=bool))[0])
        modular = self.n <= 1  # in general it is neither submodular nor supermodular
        self.knows = Knowledge(submodular=modular, supermodular=modular, increasing=True)

    def _values(self, masks: Masks) -> Floats:
        out = np.empty(len(masks))
        values_kernel(*self._compiled, masks, out)
        return out / self._total - self._offset

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        out = np.empty(masks.shape)
        marginals_kernel(*self._compiled, masks, everywhere(masks) if among is None else among, out)
        return out / self._total

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        out = np.empty(orders.shape)
        chains_kernel(*self._compiled, orders, start, out)
        return out / self._total
