"""Functions of pairs on a device, with a dense matrix of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched


class FieldOnDevice(Batched):
    """constant + Σ_{i∈S} u_i + Σ_{i<j∈S} P_ij, P symmetric with zeros on the diagonal."""

    def __init__(self, machine: Any, u: np.ndarray, P: np.ndarray, constant: float) -> None:
        self.n, self.xp, self.constant = len(u), machine.xp, constant
        self.u, self.P = machine.send(u), machine.send(np.ascontiguousarray(P))
        self._chains = machine.kernel("quadratic", "quadratic_chains")

    def values(self, masks: Array) -> Array:
        """One product."""
        inside = masks.astype(float)
        return ((0.5 * (inside @ self.P) + self.u) * inside).sum(axis=1) + self.constant

    def marginals(self, masks: Array, among: Array) -> Array:
        """The field u + P S."""
        return masks.astype(float) @ self.P + self.u

    def chains(self, orders: Array, start: Array) -> Array:
        """One team an order."""
        out = self.xp.empty(orders.shape)
        self._chains(len(orders), self.n, orders.shape[1], self.u, self.P, orders, start, out, shared=8 * self.n)
        return out


class QuadraticOnDevice(FieldOnDevice):
    """A quadratic function with the tangents of its pairs' envelopes (:mod:`dsprog.functions.graph`)."""

    def __init__(self, machine: Any, u: np.ndarray, P: np.ndarray, constant: float) -> None:
        super().__init__(machine, u, P, constant)
        self._tangents = machine.kernel("quadratic", "quadratic_tangents")

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """Pair by pair."""
        constants, slopes = self.xp.empty(len(x)), self.xp.empty(x.shape)
        self._tangents(len(x), self.n, self.u, self.P, self.xp.ascontiguousarray(x), constants, slopes)
        return constants + self.constant, slopes
