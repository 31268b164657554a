"""Sums of concave functions of weights on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched
from dsprog.device.sizes import aligned, per_lane


class ConcaveOnDevice(Batched):
    """Σ_k weights_k φ(W_k S), φ by its code.

    Parameters
    ----------
    machine : Machine
    phi : (int, float)
        The code and the parameter of φ.
    value : callable
        φ of arrays of the device.
    W : (K, n) array
    weights, smallest, rise, bend : (K,) arrays
        As in :class:`dsprog.ConcaveOfModular`.
    """

    def __init__(self, machine: Any, phi: tuple[int, float], value: Any, W: Any, **groups: Any) -> None:
        (groups_count, self.n), self.xp, self.phi = W.shape, machine.xp, phi
        self.value = value
        self.W, self.columns = machine.send(np.ascontiguousarray(W)), machine.send(np.ascontiguousarray(W.T))
        self.weights, self.smallest, self.rise, self.bend = (
            machine.send(groups[name]) for name in ("weights", "smallest", "rise", "bend")
        )
        self.at_zero = float(value(np.zeros(1))[0])
        self.K = groups_count
        size = per_lane(machine, groups_count)
        self._chains, self._marginals, self._lines = (
            machine.kernel("concave", f"concave_{name}", PER_LANE=size) for name in ("chains", "marginals", "lines")
        )

    def values(self, masks: Array) -> Array:
        """The weights of all groups by one product."""
        return self.value(masks.astype(float) @ self.columns) @ self.weights

    def marginals(self, masks: Array, among: Array) -> Array:
        """One team a set."""
        out = self.xp.zeros(masks.shape)
        sizes = (self.n, self.K, *self.phi)
        shared = aligned(8 * self.K + 4 * self.n)
        self._marginals(len(masks), *sizes, self.weights, self.W, self.columns, masks, among, out, shared=shared)
        return out

    def chains(self, orders: Array, start: Array) -> Array:
        """One team an order."""
        out = self.xp.empty(orders.shape)
        sizes = (self.n, orders.shape[1], self.K, *self.phi)
        self._chains(len(orders), *sizes, self.weights, self.columns, orders, start, out)
        return out

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """φ(w·S) <= φ(w·x) + φ'(w·x) (w·S - w·x), with the bent secant on [0, smallest]; two products."""
        t = x @ self.columns
        slopes, heights = self.xp.empty(t.shape), self.xp.empty(t.shape)
        groups = (self.weights, self.smallest, self.rise, self.bend)
        self._lines(len(t), self.K, *self.phi, self.at_zero, *groups, t, slopes, heights)
        return heights.sum(axis=1), slopes @ self.W
