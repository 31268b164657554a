"""Columns of numbers and words as codes, which mutual information is estimated from."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from dsprog.core.validation import Ints, as_codes


def quantile_codes(X: Any, bins: int) -> Ints:
    """Columns as codes: distinct values, or quantiles of numbers with more than ``bins`` of them.

    >>> quantile_codes(np.array([[0.5, "a"], [0.7, "b"], [0.9, "c"]], dtype=object), bins=2).tolist()
    [[0, 0], [1, 1], [1, 2]]
    """
    codes = np.empty(X.shape, dtype=np.int64)
    for j in range(X.shape[1]):
        codes[:, j] = as_codes(X[:, j], f"column {j} of X", shape=(None,))
        if codes[:, j].max() >= bins and has_numbers_only(X[:, j]):
            numbers = X[:, j].astype(float)
            edges = np.unique(np.quantile(numbers, np.arange(1, bins) / bins))
            codes[:, j] = np.searchsorted(edges, numbers, side="right")
    return codes


def has_numbers_only(column: np.ndarray) -> bool:
    """Whether all values are numbers, also where the array could hold other things."""
    if column.dtype == object:
        return all(isinstance(value, Real) for value in column)
    return bool(np.issubdtype(column.dtype, np.number))
