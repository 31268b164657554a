"""Entropies of discrete data on a device: rows are grouped by hash tables in shared memory.

A grouping costs a pass over all rows whatever the set is, so that nothing is saved by carrying groups along: marginals
and chains are values of many sets at once, which is what a card wants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched

THREADS = 512  # of a block, which works on one set
ENTRIES = 1 << 28  # of one temporary array of sets


class EntropyOnDevice(Batched):
    """H(X_S, always) - offset, of packed rows (:mod:`dsprog.functions._grouping`)."""

    def __init__(self, machine: Any, table: Any, offset: float) -> None:
        rows, width = table.words.shape
        self.n, self.xp, self.offset = len(table.fields), machine.xp, offset
        bits = max(2, (rows + rows // 4).bit_length())  # a fifth of the slots stays empty, if no rows are alike
        arrays = (np.ascontiguousarray(table.words.T), table.counts.astype(np.int32), table.count_log_count)
        kept = (*arrays, np.ascontiguousarray(table.fields), table.always)
        sizes = (self.n, rows, width, bits, len(table.count_log_count) - 1)
        self.data = (*sizes, *(machine.send(array) for array in kept))
        self.shared = 8 * 32 + 8 * width + 8 * (1 << bits)
        self._values = machine.kernel("entropy", "entropy_values", self.shared)

    def values(self, masks: Array) -> Array:
        """One block a set."""
        out = self.xp.empty(len(masks))
        self._values(len(masks), *self.data, masks, out, shared=self.shared, lanes=THREADS)
        return out - self.offset

    def marginals(self, masks: Array, among: Array) -> Array:
        """From the values of the sets with one element more or less."""
        out, here = self.xp.zeros(masks.shape), self.values(masks)
        rows, columns = among.nonzero()
        most = max(1, ENTRIES // max(1, self.n))
        for first in range(0, len(rows), most):
            b, j = rows[first : first + most], columns[first : first + most]
            flipped = masks[b]
            flipped[self.xp.arange(len(b)), j] ^= True
            change = self.values(flipped) - here[b]
            out[b, j] = self.xp.where(masks[b, j], -change, change)
        return out

    def chains(self, orders: Array, start: Array) -> Array:
        """From the values of all sets along each order."""
        (_, m), most = orders.shape, max(1, ENTRIES // max(1, self.n * (orders.shape[1] + 1)))
        parts = [
            self._along(orders[first : first + most], start[first : first + most])
            for first in range(0, len(orders), most)
        ]
        return self.xp.concatenate(parts) if parts else self.xp.zeros((0, m))

    def _along(self, orders: Array, start: Array) -> Array:
        xp, (count, m) = self.xp, orders.shape
        place = xp.full((count, self.n + 1), m + 1)  # when each element comes; what stands for -1 is cut off
        named = xp.where(orders >= 0, orders, self.n)
        place[xp.arange(count)[:, None], named] = xp.arange(1, m + 1)
        place = xp.where(start, 0, place[:, : self.n])
        sets = place[:, None, :] <= xp.arange(m + 1)[:, None]
        values = self.values(sets.reshape(count * (m + 1), self.n)).reshape(count, m + 1)
        return values[:, 1:] - values[:, :-1]
