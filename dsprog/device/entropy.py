"""Entropies of discrete data on a device: rows are grouped by hash tables in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched

THREADS = 256  # of a block, which works on one set


class EntropyOnDevice(Batched):
    """H(X_S, always) - offset, of packed rows (:mod:`dsprog.functions._grouping`)."""

    def __init__(self, machine: Any, table: Any, offset: float) -> None:
        rows, width = table.words.shape
        self.n, self.xp, self.offset = len(table.fields), machine.xp, offset
        bits = max(2, (2 * rows - 1).bit_length())  # half of the slots stay empty
        arrays = (np.ascontiguousarray(table.words.T), table.counts.astype(np.int32), table.count_log_count)
        kept = (*arrays, np.ascontiguousarray(table.fields), table.always)
        sizes = (self.n, rows, width, bits, len(table.count_log_count) - 1)
        self.data = (*sizes, *(machine.send(array) for array in kept))
        self.shared = 8 * 32 + 8 * width + 8 * (1 << bits)
        self._values, self._marginals, self._chains = (
            machine.kernel("entropy", f"entropy_{name}") for name in ("values", "marginals", "chains")
        )

    def values(self, masks: Array) -> Array:
        """One block a set."""
        out = self.xp.empty(len(masks))
        self._values(len(masks), *self.data, masks, out, shared=self.shared, lanes=THREADS)
        return out - self.offset

    def marginals(self, masks: Array, among: Array) -> Array:
        """One block a set."""
        out = self.xp.zeros(masks.shape)
        self._marginals(len(masks), *self.data, masks, among, out, shared=self.shared, lanes=THREADS)
        return out

    def chains(self, orders: Array, start: Array) -> Array:
        """One block an order."""
        out = self.xp.empty(orders.shape)
        sizes = (orders.shape[1], orders, start)
        self._chains(len(orders), *self.data, *sizes, out, shared=self.shared, lanes=THREADS)
        return out
