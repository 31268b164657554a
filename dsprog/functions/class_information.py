"""Mutual information between chosen columns and a class, counted in one pass.

With n_g rows in group g and n_gc of them in class c,  I(X_S; y) = H(y) + Σ_g (Σ_c n_gc log n_gc - n_g log n_g) / N. A
group of one class contributes nothing, and neither does any refinement of it: once the columns of a set tell the
class of some rows, these rows need not be looked at again for any larger set. The kernels work on *cells*, distinct
rows with a class and a count.
"""

from __future__ import annotations

import numpy as np

from dsprog.functions.information import mask_of, pack, workspace
from dsprog.kernel import kernel
from dsprog.knowledge import Knowledge
from dsprog.set_function import SetFunction
from dsprog.validation import Floats, Ints, Masks, everywhere


@kernel
def group(words, classes, counts, mask, size, slots, keys, sizes, groups_of):
    """Group the first ``size`` cells by their words under the mask: class sizes of groups, the group of each cell."""
    width = words.shape[1]
    last = 4
    while last < 2 * size:
        last *= 2
    last -= 1
    slots[: last + 1] = -1
    groups = 0
    for i in range(size):
        h = np.uint64(0)
        for w in range(width):
            h = (h ^ (words[i, w] & mask[w])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        place = np.int64(h >> np.uint64(20)) & last
        while True:
            g = slots[place]
            if g < 0:
                g = groups
                slots[place] = g
                for w in range(width):
                    keys[g, w] = words[i, w] & mask[w]
                sizes[g] = 0
                groups += 1
                break
            same = True
            for w in range(width):
                if keys[g, w] != words[i, w] & mask[w]:
                    same = False
            if same:
                break
            place = (place + 1) & last
        sizes[g, classes[i]] += counts[i]
        groups_of[i] = g
    return groups


@kernel
def information(table, sizes, groups):
    """Σ_g (Σ_c n_gc log n_gc - n_g log n_g)."""
    total = 0.0
    for g in range(groups):
        whole = 0
        for c in range(sizes.shape[1]):
            whole += sizes[g, c]
            total += table[sizes[g, c]]
        total -= table[whole]
    return total


@kernel
def keep_mixed(words, classes, counts, size, groups_of, sizes):
    """Move the cells whose group has several classes to the front; return how many they are."""
    kept = 0
    for i in range(size):
        whole = 0
        for c in range(sizes.shape[1]):
            whole += sizes[groups_of[i], c]
        if whole > sizes[groups_of[i], classes[i]]:
            words[kept], classes[kept], counts[kept] = words[i], classes[i], counts[i]
            kept += 1
    return kept


@kernel
def merge(words, classes, counts, groups, keys, sizes):
    """Replace the cells by their groups, a cell for each class of each; return how many they are."""
    size = 0
    for g in range(groups):
        for c in range(sizes.shape[1]):
            if sizes[g, c] > 0:
                words[size], classes[size], counts[size] = keys[g], c, sizes[g, c]
                size += 1
    return size


@kernel
def buffers(words, kinds):
    """Room for a copy of the cells and for grouping them."""
    size = len(words)
    slots, keys, counts = workspace(size, words.shape[1])
    return (
        np.empty_like(words), np.empty(size, np.int64), counts,
        slots, keys, np.empty((size, kinds), np.int64), np.empty(size, np.int64),
    )  # fmt: skip


@kernel
def values_kernel(words, classes, counts, kinds, table, fields, none, masks, out):
    """The sum of :func:`information` for every set."""
    _, _, _, slots, keys, sizes, groups_of = buffers(words, kinds)
    for b in range(len(masks)):
        mask = mask_of(fields, none, masks[b])
        groups = group(words, classes, counts, mask, len(words), slots, keys, sizes, groups_of)
        out[b] = information(table, sizes, groups)


@kernel
def marginals_kernel(words, classes, counts, kinds, table, fields, none, masks, among, out):
    """Differences of the sum. Cells that the columns common to all sets asked for give one class are left out, and
    those that no column asked about tells apart are merged.
    """
    W, C, M, slots, keys, sizes, groups_of = buffers(words, kinds)
    for b in range(len(masks)):
        W[:], C[:], M[:] = words, classes, counts
        mask = mask_of(fields, none, masks[b])
        common = mask_of(fields, none, masks[b] & ~among[b])
        group(W, C, M, common, len(W), slots, keys, sizes, groups_of)
        size = keep_mixed(W, C, M, len(W), groups_of, sizes)
        union = mask_of(fields, none, masks[b] | among[b])
        size = merge(W, C, M, group(W, C, M, union, size, slots, keys, sizes, groups_of), keys, sizes)
        here = information(table, sizes, group(W, C, M, mask, size, slots, keys, sizes, groups_of))
        for j in range(len(fields)):
            out[b, j] = 0.0
            if among[b, j] and size:
                groups = group(W, C, M, mask ^ fields[j], size, slots, keys, sizes, groups_of)
                there = information(table, sizes, groups)
                out[b, j] = here - there if masks[b, j] else there - here


@kernel
def chains_kernel(words, classes, counts, kinds, table, fields, none, orders, start, out):
    """Increments of the sum along orders; cells leave as soon as their group has one class."""
    W, C, M, slots, keys, sizes, groups_of = buffers(words, kinds)
    inside = np.empty(len(fields), dtype=np.bool_)
    for b in range(len(orders)):
        W[:], C[:], M[:] = words, classes, counts
        for j in range(len(inside)):
            inside[j] = start[b, j]
        mask = mask_of(fields, none, inside)
        before = information(table, sizes, group(W, C, M, mask, len(W), slots, keys, sizes, groups_of))
        size = keep_mixed(W, C, M, len(W), groups_of, sizes)
        for k in range(orders.shape[1]):
            j = orders[b, k]
            out[b, k] = 0.0
            if j < 0 or inside[j] or size == 0:
                continue
            inside[j] = True
            mask |= fields[j]
            after = information(table, sizes, group(W, C, M, mask, size, slots, keys, sizes, groups_of))
            size = keep_mixed(W, C, M, size, groups_of, sizes)
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
