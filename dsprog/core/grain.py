"""The grain of data: numbers that are all whole multiples of one, so that sums of them are too."""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats

GRAINS = (1.0, 0.1, 0.01, 0.001)  # data are often whole numbers or have a few digits
PROBED = 1000  # entries that are looked at first
MOST_GRAINS = 1e6  # of an entry: beyond, sums lose too much


def grain_of(*arrays: Floats) -> float:
    """A number q such that all entries are whole multiples of q, up to rounding; 0 if none is seen.

    >>> grain_of(np.array([0.5, 1.2]), np.array([3.0])), grain_of(np.array([0.12345]))
    (0.1, 0.0)
    """
    first = [array.reshape(-1)[:PROBED] for array in arrays]
    for q in GRAINS:
        if all(is_multiple(array, q) for array in (*first, *arrays)):
            return q
    return 0.0


def is_multiple(numbers: Floats, q: float) -> bool:
    """Whether all numbers are whole multiples of q, up to the rounding of decimals."""
    counts = numbers / q
    near = np.abs(counts - np.round(counts)) <= 1e-15 * np.abs(counts)
    return bool(near.all() and (np.abs(counts) <= MOST_GRAINS).all())
