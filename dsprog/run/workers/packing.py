"""Nodes as they travel and wait: bits for sets, short integers for labels, float32 for what only guides.

A packed bundle is a bundle again, one row a node, so that it can be split and counted without being opened; the names
of its arrays say how they were packed. Bounds are never shortened. A node of interval branch and bound on n elements
has 8 + 2 ⌈n/8⌉ + 4n bytes: its bound, I and U as bits, and x; 264 at n = 60, where it has 608 in memory.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dsprog.run.driver import Bundle

BITS, SHORT, SINGLE = "bits", "short", "single"


def packed(bundle: Bundle, guides: Collection[str] = ()) -> Bundle:
    """A bundle ready to travel; ``guides`` names the arrays of floats that no bound rests on.

    >>> node = {"lower": np.array([1.0]), "I": np.zeros((1, 60), dtype=bool), "x": np.full((1, 60), 0.5)}
    >>> small = packed(node, ["x"])
    >>> sorted(small), sum(array.nbytes for array in small.values())
    (['bits:60:I', 'lower', 'single:x'], 256)
    >>> unpacked(small)["x"].dtype, unpacked(small)["I"].shape
    (dtype('float64'), (1, 60))
    """
    made: Bundle = {}
    for name, array in bundle.items():
        if array.dtype == bool and array.ndim == 2:
            made[f"{BITS}:{array.shape[1]}:{name}"] = np.packbits(array, axis=1)
        elif array.dtype.kind == "i" and array.size:
            made[f"{SHORT}:{array.dtype.str}:{name}"] = array.astype(shortest(array))
        elif name in guides:
            made[f"{SINGLE}:{name}"] = array.astype(np.float32)
        else:
            made[name] = array
    return made


def unpacked(bundle: Bundle) -> Bundle:
    """The inverse, up to the rounding of guides."""
    made: Bundle = {}
    for label, array in bundle.items():
        kind, *rest = label.split(":")
        if kind == BITS:
            made[rest[1]] = np.unpackbits(array, axis=1, count=int(rest[0])).astype(bool)
        elif kind == SHORT:
            made[rest[1]] = array.astype(np.dtype(rest[0]))
        elif kind == SINGLE and rest:
            made[rest[0]] = array.astype(np.float64)
        else:
            made[label] = array
    return made


def shortest(array: np.ndarray) -> np.dtype:
    """The shortest type of integers that holds an array."""
    low, high = int(array.min()), int(array.max())
    fitting = (np.dtype(f"i{size}") for size in (1, 2, 4) if -(1 << 8 * size - 1) <= low and high < 1 << 8 * size - 1)
    return next(fitting, np.dtype("i8"))
