"""Concave functions of the number of elements.

h concave makes h(|S|) submodular: its increments fall with the size. Its concave extension interpolates h at |x|.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import GainModel
from dsprog.core.kernel import filled, kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import rounding
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_matrix
from dsprog.functions._scalar import Phi, as_scalar, evaluated


@kernel
def cardinality_chains_kernel(steps, orders, start, out):
    """Increments of h(|S|) along orders."""
    n = start.shape[1]
    inside = np.empty(n, dtype=np.bool_)
    for b in range(len(orders)):
        size = 0
        for j in range(len(inside)):
            inside[j] = start[b, j]
            size += inside[j]
        for i in range(orders.shape[1]):
            j = orders[b, i]
            if j < 0 or inside[j]:
                out[b, i] = 0.0
                continue
            inside[j] = True
            out[b, i] = steps[size]
            size += 1


class CardinalityConcave(SetFunction):
    """f(S) = h(|S|), h concave.

    Parameters
    ----------
    n : int
    concave : name, callable or array of n + 1 values
        h, as in :class:`ConcaveOfModular`, or its values at 0, 1, ..., n.
    parameter : float, optional
        Exponent of "power" or cap of "truncate".

    Examples
    --------
    >>> import dsprog as ds
    >>> ds.CardinalityConcave(4, "sqrt")([0, 1, 2, 3])
    2.0
    >>> ds.CardinalityConcave(2, [0.0, 5.0, 6.0])([1])
    5.0
    """

    has_concave_extension = True
    has_columns = True
    has_gains = True

    def __init__(self, n: int, concave: str | Phi | ArrayLike = "sqrt", parameter: float | None = None) -> None:
        self.n = as_count(n, "n")
        self.concave, self.parameter = concave, parameter
        if isinstance(concave, str):
            concave = as_scalar(concave, parameter, float(self.n)).phi(np.arange(self.n + 1.0))
        elif callable(concave):
            concave = evaluated(concave, np.arange(self.n + 1.0), "concave")
        else:
            self.concave = concave = as_matrix(concave, "concave", shape=(self.n + 1,))
        self._h: Floats = np.asarray(concave, dtype=float)
        steps = np.diff(self._h)
        if (np.diff(steps) > rounding(self._h)).any():
            size = int(np.diff(steps).argmax()) + 1
            raise ValueError(f"concave must have falling increments, but they rise after size {size}")
        self.knows = Knowledge(
            submodular=True,
            supermodular=bool(np.allclose(np.diff(steps), 0, atol=1e-15)) or None,
            increasing=bool((steps >= 0).all()),
            decreasing=bool((steps <= 0).all()),
            symmetric=bool((self._h == self._h[::-1]).all()) or None,
            integral=bool((self._h % 1 == 0).all()) or None,
        )

    def _values(self, masks: Masks) -> Floats:
        return self._h[masks.sum(axis=1)]

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        if self.n == 0:
            return np.zeros(masks.shape)
        return np.diff(self._h)[masks.sum(axis=1)[:, None] - masks]

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        if self.n == 0:
            return np.zeros(orders.shape)
        return filled(cardinality_chains_kernel, orders.shape, np.diff(self._h), orders, start)

    def _concave_extension(self, x: Floats) -> Floats:
        return self._interpolated(x.sum(axis=1))

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # The interpolation of h is concave, so the line through the piece that holds |x| lies above it.
        size = x.sum(axis=1)
        steps = np.diff(self._h) if self.n else np.zeros(1)
        slope = steps[np.clip(np.floor(size).astype(int), 0, max(self.n - 1, 0))]
        return self._concave_extension(x) - slope * size, np.repeat(slope[:, None], self.n, axis=1)

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """One curve, given at whole numbers."""
        model.steps(self._h, elements, weight)

    def on_device(self, machine: Any) -> Any:
        """By its values."""
        from dsprog.device.batched_cardinality import CardinalityOnDevice

        return CardinalityOnDevice(machine, self._h)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """From below a curve of |S|, linear between whole numbers."""
        if weight < 0:
            return None
        if self.n == 0:
            return Expression(constant=float(self._h[0]))
        return model.curve(self._interpolated, Expression(elements, np.ones(self.n)), 0.0, float(self.n), True)

    def _interpolated(self, t: Floats) -> Floats:
        return np.interp(t, np.arange(self.n + 1), self._h)
