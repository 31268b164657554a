"""Coverage on a device: items as bits along chains, as products elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched
from dsprog.device.sizes import aligned


def packed(members: np.ndarray) -> np.ndarray:
    """The items of each element as bits of 32-bit words, (n, words).

    >>> packed(np.array([[True, False], [True, True]]))
    array([[3], [2]], dtype=uint32)
    """
    items, n = members.shape
    words = max(1, -(-items // 32))
    bits = np.zeros((n, words * 32), dtype=np.uint32)
    bits[:, :items] = members.T
    return (bits.reshape(n, words, 32) << np.arange(32, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)


class CoverageOnDevice(Batched):
    """Σ_i weights_i [some j∈S covers item i], members a dense (items, n) array."""

    def __init__(self, machine: Any, members: np.ndarray, weights: np.ndarray) -> None:
        self.n, self.xp = members.shape[1], machine.xp
        self.members, self.by_element = machine.send(members.astype(float)), machine.send(members.T.astype(float))
        self.bits, self.weights = machine.send(packed(members != 0)), machine.send(weights)
        self._chains = machine.kernel("coverage", "coverage_chains")

    def values(self, masks: Array) -> Array:
        """How many cover each item, by one product."""
        return (masks.astype(float) @ self.by_element > 0.5).astype(float) @ self.weights

    def marginals(self, masks: Array, among: Array) -> Array:
        """The weight of the items that j covers and no other member does."""
        covers = masks.astype(float) @ self.by_element
        gained = ((covers < 0.5) * self.weights) @ self.members
        lost = ((np.abs(covers - 1.0) < 0.5) * self.weights) @ self.members
        return np.where(masks, lost, gained)

    def chains(self, orders: Array, start: Array) -> Array:
        """One team an order."""
        out, words = self.xp.empty(orders.shape), self.bits.shape[1]
        sizes = (self.n, orders.shape[1], words)
        self._chains(len(orders), *sizes, self.bits, self.weights, orders, start, out, shared=aligned(4 * words))
        return out

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """min(1, amount) <= 1 and <= amount: the side that is tight at x."""
        amount = x @ self.by_element
        full = amount >= 1.0
        return full.astype(float) @ self.weights, (~full * self.weights) @ self.members
