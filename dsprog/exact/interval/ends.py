"""f and g at both ends of each interval: values and marginals, evaluated when asked for where an end moved."""

from __future__ import annotations

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Masks
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import free
from dsprog.run.driver import Bundle


class Ends:
    """Keeps ``f_I``, ``f_U`` (B,) and ``df_I``, ``df_U`` (B, n) with the nodes, and the same for g.

    ``df_I[b, j]`` is f(j|I) and ``df_U[b, j]`` is f(j|U∖j), for free elements j. f_I is always up to date; the rest is
    brought up to date by ``refresh``, so that nodes which are closed before never pay for it.
    """

    def __init__(self, f: SetFunction, g: SetFunction, machine: Machine = HOST) -> None:
        self.functions = {"f": machine.function(f), "g": machine.function(g)}
        self.machine = machine

    def prepare(self, nodes: Bundle) -> None:
        """Evaluate f at I; all else is stale."""
        shape = nodes["I"].shape
        for end in "IU":
            nodes[f"stale_{end}"] = self.machine.xp.ones(shape[0], dtype=bool)
            for name in self.functions:
                nodes[f"{name}_{end}"] = self.machine.xp.empty(shape[0])
                nodes[f"d{name}_{end}"] = self.machine.xp.empty(shape)
        nodes["f_I"] = self.functions["f"].values(nodes["I"])

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """Remember where an end moved, and evaluate f at I there."""
        grown = include.any(axis=1)
        nodes["stale_I"] |= grown
        nodes["stale_U"] |= exclude.any(axis=1)
        if grown.any():
            nodes["f_I"][grown] = self.functions["f"].values(nodes["I"][grown])

    def refresh(self, nodes: Bundle) -> None:
        """Evaluate again where an end moved."""
        for end in "IU":
            rows = np.flatnonzero(nodes[f"stale_{end}"])
            if len(rows):
                self._evaluate(nodes, rows, end)
                nodes[f"stale_{end}"][:] = False

    def _evaluate(self, nodes: Bundle, rows: np.ndarray, end: str) -> None:
        sets, wanted = nodes[end][rows], free(nodes)[rows]
        for name, function in self.functions.items():
            nodes[f"{name}_{end}"][rows] = function.values(sets)
            nodes[f"d{name}_{end}"][rows] = function.marginals(sets, wanted)
