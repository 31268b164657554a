"""Functions given by a Python callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks, as_claim, as_count, as_flag, elements


class FromCallable(SetFunction):
    """f(S) computed by a Python callable.

    Parameters
    ----------
    fn : callable
        Takes a frozenset of elements and returns a number; with ``vectorized=True`` it takes a (B, n) boolean array
        and returns B numbers.
    n : int
    submodular : bool, optional
        The user's word. Unknown by default: solvers then sample the callable, refuse it if they find a violation, and
        do not certify what they find.
    vectorized : bool

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.FromCallable(lambda S: len(S) ** 0.5, n=9, submodular=True)
    >>> f(range(9))
    3.0
    """

    CACHE_SIZE = 1 << 20

    def __init__(
        self, fn: Callable[[Any], Any], n: int, submodular: bool | None = None, vectorized: bool = False
    ) -> None:
        if not callable(fn):
            raise TypeError(f"fn must be callable, got {type(fn).__name__}")
        self.fn, self.n, self.vectorized = fn, as_count(n, "n"), as_flag(vectorized, "vectorized")
        self.submodular = as_claim(submodular, "submodular")
        self.knows = Knowledge(submodular=self.submodular)
        self._cache: dict[bytes, float] = {}

    @property
    def rests_on_claim(self) -> bool:
        """It does."""
        return True

    def _values(self, masks: Masks) -> Floats:
        if self.vectorized:
            return self._call_vectorized(masks)
        keys = [row.tobytes() for row in np.packbits(masks, axis=1)] if self.n else [b""] * len(masks)
        if len(self._cache) > self.CACHE_SIZE:
            self._cache.clear()
        values = np.empty(len(masks))
        for b, key in enumerate(keys):
            if key not in self._cache:
                self._cache[key] = self._call(masks[b])
            values[b] = self._cache[key]
        return values

    def _call(self, mask: Masks) -> float:
        S = elements(mask)
        try:
            value = self.fn(frozenset(S))
        except Exception as error:
            raise RuntimeError(f"fn raised {type(error).__name__} at S = {S}: {error}") from error
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"fn must return a number, got {value!r} at S = {S}") from None
        if not np.isfinite(number):
            raise ValueError(f"fn must return a finite number, got {number} at S = {S}")
        return number

    def _call_vectorized(self, masks: Masks) -> Floats:
        try:
            values = self.fn(masks)
        except Exception as error:
            raise RuntimeError(f"fn raised {type(error).__name__} on {len(masks)} sets: {error}") from error
        try:
            array = np.asarray(values, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"fn must return an array of {len(masks)} numbers, got {values!r}") from None
        if array.shape != (len(masks),):
            raise ValueError(f"fn must return an array of shape ({len(masks)},), got {array.shape}")
        if not np.isfinite(array).all():
            S = elements(masks[np.flatnonzero(~np.isfinite(array))[0]])
            raise ValueError(f"fn must return finite numbers, got {array[~np.isfinite(array)][0]} at S = {S}")
        return array
