"""Concave functions of |S| on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched


class CardinalityOnDevice(Batched):
    """h(|S|), h given at 0, 1, ..., n."""

    def __init__(self, machine: Any, h: np.ndarray) -> None:
        self.n, self.xp = len(h) - 1, machine.xp
        self.h, self.rises = machine.send(h), machine.send(np.append(np.diff(h), 0.0))

    def values(self, masks: Array) -> Array:
        """By the size."""
        return self.h[masks.sum(axis=1)]

    def marginals(self, masks: Array, among: Array) -> Array:
        """The rise at the size without j."""
        return self.rises[masks.sum(axis=1)[:, None] - masks]

    def chains(self, orders: Array, start: Array) -> Array:
        """The rise at the size so far."""
        there = orders >= 0
        size = start.sum(axis=1)[:, None] + np.cumsum(there, axis=1) - there
        return np.where(there, self.rises[size], 0.0)

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """The line through the piece of h that holds |x|."""
        size = x.sum(axis=1)
        piece = np.clip(np.floor(size), 0, max(self.n - 1, 0)).astype(int)
        slope = self.rises[piece]
        return self.h[piece] - slope * piece, np.broadcast_to(slope[:, None], x.shape)
