"""Log determinants on a device, by batched linear algebra.

For a set S let M[S] be M with the rows and columns outside S replaced by those of the identity: det M[S] = det M_S, and
its inverse holds M_S⁻¹.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.device.batched import Array, Batched

LEAST = 1e-300  # of a pivot, as on the host
ENTRIES = 1 << 27  # of one temporary array of matrices


class DeterminantOnDevice(Batched):
    """scale · log det M_S + shift · |S|, with its extension scale · log det(I + B diag(x) B') + slope · Σ x."""

    def __init__(self, machine: Any, M: np.ndarray, B: np.ndarray, scale: float, shift: float, slope: float) -> None:
        self.n, self.xp = len(M), machine.xp
        self.scale, self.shift, self.slope = scale, shift, slope
        self.M, self.B = machine.send(M), machine.send(B)
        self.rows = max(1, ENTRIES // max(1, self.n**2))

    def _in_chunks(self, compute: Any, *arrays: Array) -> Array:
        parts = [compute(*(a[k : k + self.rows] for a in arrays)) for k in range(0, len(arrays[0]), self.rows)]
        return self.xp.concatenate(parts) if parts else compute(*arrays)

    def _framed(self, inside: Array) -> Array:
        """M[S] for every set, ``inside`` its indicator as numbers."""
        both = inside[:, :, None] * inside[:, None, :]
        return both * self.M + (1.0 - inside)[:, :, None] * self.xp.eye(self.n)

    def values(self, masks: Array) -> Array:
        """By the pivots of Cholesky's factorisation."""
        orders = self.xp.where(masks, self.xp.arange(self.n, dtype=np.int32), np.int32(-1))
        return self.chains(orders, self.xp.zeros(masks.shape, dtype=bool)).sum(axis=1)

    def marginals(self, masks: Array, among: Array) -> Array:
        """Outsiders: log of their Schur complement. Members: -log of their entry on the diagonal of M_S⁻¹."""
        return self.scale * self._in_chunks(self._log_marginals, masks) + self.shift

    def _log_marginals(self, masks: Array) -> Array:
        inside = masks.astype(float)
        framed = self._framed(inside)
        inverse = self.xp.linalg.inv(framed)
        diagonal = self.xp.diagonal(inverse, axis1=1, axis2=2)
        reach = self.M * inside[:, None, :]  # (B, j, i): M_ji for i in S
        weights = reach @ inverse
        # what is left of M_jj by weights w: M_jj - 2 w·m + w'M_S w, so that an error of the inverse enters squared
        schur = self.xp.diagonal(self.M) - (weights * (2.0 * reach - weights @ framed)).sum(axis=2)
        logs = self.xp.log(self.xp.maximum(self.xp.where(masks, diagonal, schur), LEAST))
        return self.xp.where(masks, -logs, logs)

    def chains(self, orders: Array, start: Array) -> Array:
        """Log of the pivots of Cholesky's factorisation along each order, the start first."""
        logs = self._in_chunks(self._log_pivots, orders, start)
        return self.xp.where(orders >= 0, self.scale * logs + self.shift, 0.0)

    def _log_pivots(self, orders: Array, start: Array) -> Array:
        """The start and then the order in n places; those without an element have rows of the identity."""
        xp, (count, m) = self.xp, orders.shape
        places = xp.concatenate([xp.where(start, xp.arange(self.n), -1), orders], axis=1)
        ranked = xp.argsort(places < 0, axis=1, kind="stable")[:, : self.n]  # of n + m places at most n have an element
        chosen = xp.take_along_axis(places, ranked, axis=1)
        there, named = (chosen >= 0).astype(float), xp.maximum(chosen, 0)
        matrices = self.M[named[:, :, None], named[:, None, :]]
        both = there[:, :, None] * there[:, None, :]
        factors = xp.linalg.cholesky(both * matrices + (1.0 - there)[:, :, None] * xp.eye(self.n))
        pivots = xp.maximum(xp.diagonal(factors, axis1=1, axis2=2) ** 2, LEAST)
        logs = xp.zeros((count, self.n + m))
        xp.put_along_axis(logs, ranked, xp.log(pivots), axis=1)
        return logs[:, self.n :]

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """d/dx_j log det(I + B diag(x) B') = b_j' (I + B diag(x) B')⁻¹ b_j."""
        found = self._in_chunks(self._line, x)
        slopes = self.scale * found[:, 1:] + self.slope
        constants = self.scale * found[:, 0] + self.slope * x.sum(axis=1) - (slopes * x).sum(axis=1)
        return constants, slopes

    def _line(self, x: Array) -> Array:
        """log det and its slopes, side by side."""
        xp = self.xp
        inner = xp.eye(len(self.B)) + (self.B * x[:, None, :]) @ self.B.T
        logs = xp.linalg.slogdet(inner)[1]
        solved = xp.linalg.inv(inner) @ self.B
        return xp.concatenate([logs[:, None], (solved * self.B).sum(axis=1)], axis=1)
