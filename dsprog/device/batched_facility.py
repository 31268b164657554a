"""Facility location on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched
from dsprog.device.sizes import per_lane


class FacilityOnDevice(Batched):
    """Σ_i max_{j∈S} s_ij, s a dense (clients, n) array; ``ranking`` (clients, n) has the best facilities first."""

    def __init__(self, machine: Any, similarity: np.ndarray, ranking: np.ndarray) -> None:
        (self.clients, self.n), self.xp = similarity.shape, machine.xp
        self.similarity = machine.send(np.ascontiguousarray(similarity))
        self.columns = machine.send(np.ascontiguousarray(similarity.T))
        self.ranking = machine.send(np.ascontiguousarray(ranking.T.astype(np.int32)))
        size = per_lane(machine, self.clients)
        self._best_two, self._excess, self._losses, self._chains, self._thresholds = (
            machine.kernel("facility", f"facility_{name}", PER_LANE=size)
            for name in ("best_two", "excess", "losses", "chains", "thresholds")
        )

    def _two(self, masks: Array) -> tuple[Array, Array]:
        first, second = (self.xp.empty((len(masks), self.clients)) for _ in range(2))
        self._best_two(len(masks), self.n, self.clients, self.columns, masks, first, second)
        return first, second

    def _above(self, thresholds: Array) -> Array:
        out = self.xp.empty((len(thresholds), self.n))
        self._excess(len(out), self.n, self.clients, self.similarity, thresholds, out)
        return out

    def values(self, masks: Array) -> Array:
        """The best of each client."""
        return self._two(masks)[0].sum(axis=1)

    def marginals(self, masks: Array, among: Array) -> Array:
        """Outsiders gain over the best, members over the second best where they are the best."""
        first, second = self._two(masks)
        out = self._above(first)
        self._losses(len(masks), self.n, self.clients, self.similarity, first, second, masks, out)
        return out

    def chains(self, orders: Array, start: Array) -> Array:
        """One team an order."""
        out = self.xp.empty(orders.shape)
        self._chains(len(orders), self.n, orders.shape[1], self.clients, self.columns, orders, start, out)
        return out

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """max_{j∈S} s_ij <= τ + Σ_{j∈S} max(0, s_ij - τ) for every τ >= 0."""
        thresholds = self.xp.empty((len(x), self.clients))
        point = self.xp.ascontiguousarray(x)
        sizes = (self.n, self.clients)
        self._thresholds(len(x), *sizes, self.similarity, self.ranking, point, thresholds, shared=8 * self.n)
        return thresholds.sum(axis=1), self._above(thresholds)
