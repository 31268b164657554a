"""Arguments that the doors of feature selection share: weights, sizes, rows to centre."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import as_count, as_matrix, as_number

LAMS = "fractions of lam_max(X, y)"  # what weights, and sizes, may be
SIZES = "[1, 2, 3]"


def as_weight(lam: object, name: str = "lam") -> float:
    """A weight of a penalty."""
    weight = as_number(lam, name)
    if weight < 0:
        raise ValueError(f"{name} must be at least 0, got {weight:g}")
    return weight


def as_size(k: int, features: int, name: str) -> int:
    """A number of features that there are."""
    size = as_count(k, name)
    if size > features:
        raise ValueError(f"{name} must be at most the number of features, {features}, got {size}")
    return size


def several(values: Any, name: str, example: str) -> list[Any]:
    """One number or several, as a list.

    >>> [several(sizes, "sizes", "[1, 2]") for sizes in (3, np.array(3), range(2))]
    [[3], [3], [0, 1]]
    """
    if isinstance(values, str):
        raise TypeError(f"{name} must be one number or several, such as {example}, got {values!r}")
    try:
        return list(values)
    except TypeError:  # one number, or an array without dimensions
        return np.atleast_1d(values).tolist()


def centred(X: ArrayLike, y: ArrayLike, fit_intercept: bool) -> tuple[ArrayLike, ArrayLike]:
    """Columns and target less their means if there is an intercept; a constant column becomes exactly zero."""
    if not fit_intercept:
        return X, y
    columns, target = as_matrix(X, "X", shape=(None, None)), as_matrix(y, "y", shape=(None,))
    varying = columns.min(axis=0) < columns.max(axis=0)
    return np.where(varying, columns - columns.mean(axis=0), 0.0), target - target.mean()
