"""f and g at both ends of each interval: values and marginals, evaluated again only where an end moved."""

from __future__ import annotations

import numpy as np

from dsprog.bounds.bound import free
from dsprog.search import Bundle
from dsprog.set_function import SetFunction
from dsprog.validation import Masks


class Ends:
    """Keeps ``f_I``, ``f_U`` (B,) and ``df_I``, ``df_U`` (B, n) with the nodes, and the same for g.

    ``df_I[b, j]`` is f(j|I) and ``df_U[b, j]`` is f(j|U∖j), for free elements j.
    """

    def __init__(self, f: SetFunction, g: SetFunction) -> None:
        self.functions = {"f": f, "g": g}

    def prepare(self, nodes: Bundle) -> None:
        """Evaluate at both ends of every node."""
        shape, every = nodes["I"].shape, np.arange(len(nodes["lower"]))
        for name in self.functions:
            for end in "IU":
                nodes[f"{name}_{end}"] = np.empty(shape[0])
                nodes[f"d{name}_{end}"] = np.empty(shape)
        for end in "IU":
            self._evaluate(nodes, every, end)

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """Evaluate again where an end moved."""
        for end, change in (("I", include), ("U", exclude)):
            rows = np.flatnonzero(change.any(axis=1))
            if len(rows):
                self._evaluate(nodes, rows, end)

    def _evaluate(self, nodes: Bundle, rows: np.ndarray, end: str) -> None:
        sets, wanted = nodes[end][rows], free(nodes)[rows]
        for name, function in self.functions.items():
            nodes[f"{name}_{end}"][rows] = function.values(sets)
            nodes[f"d{name}_{end}"][rows] = function.marginals(sets, wanted)
