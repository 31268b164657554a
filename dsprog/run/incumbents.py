"""The best sets that a run has met: one, or the K best."""

from __future__ import annotations

import math

import numpy as np

from dsprog.core.validation import Floats, Masks


class Incumbents:
    """The best set, and with ``keeps`` > 1 a pool of the best, each once; of equal values the first come stays."""

    def __init__(self, keeps: int = 1) -> None:
        self.keeps = keeps
        self.mask: Masks | None = None
        self.value = math.inf
        self._pool: dict[bytes, tuple[float, Masks]] = {}

    def take(self, masks: Masks, values: Floats) -> bool:
        """Enter feasible sets; whether the best of all became better."""
        if len(values) == 0:
            return False
        if self.keeps > 1:
            self._enter(masks, values)
        best = int(np.argmin(values))
        if not values[best] < self.value:
            return False
        self.mask, self.value = masks[best].copy(), float(values[best])
        return True

    def _enter(self, masks: Masks, values: Floats) -> None:
        for b in np.argsort(values, kind="stable"):
            full = len(self._pool) == self.keeps
            worst = max(self._pool, key=lambda key: self._pool[key][0]) if full else b""
            if full and values[b] >= self._pool[worst][0]:
                return
            key = masks[b].tobytes()
            if key not in self._pool:
                if full:
                    del self._pool[worst]
                self._pool[key] = (float(values[b]), masks[b].copy())

    def holds(self, mask: Masks) -> bool:
        """Whether a set is in the pool."""
        return mask.tobytes() in self._pool

    @property
    def last(self) -> float:
        """The value of the last place; infinite while places are free."""
        if self.keeps == 1:
            return self.value
        return max(value for value, _ in self._pool.values()) if len(self._pool) == self.keeps else math.inf

    def sets(self, n: int) -> tuple[Masks, Floats]:
        """All that is kept and the values, best first."""
        if self.mask is None:
            return np.zeros((0, n), dtype=bool), np.zeros(0)
        if self.keeps == 1:
            return self.mask[None, :], np.array([self.value])
        ranked = sorted(self._pool.values(), key=lambda entry: (entry[0], entry[1].tobytes()))
        return np.array([mask for _, mask in ranked]), np.array([value for value, _ in ranked])
