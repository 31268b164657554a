"""Open nodes in the memory of a machine, as rows of arrays that grow: the least bounds are taken first.

A node keeps its row for as long as it is open, so that nothing is moved when others come and go; a row that is not in
use has an infinite bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.validation import Floats
from dsprog.device.machine import Machine
from dsprog.run.driver import Bundle, take

GROWTH = 2  # rows are made for this many times as many nodes when there is no room


class NodePool:
    """The open nodes of a unit of work; ``arrays`` are changed in place by those who look at nodes."""

    def __init__(self, machine: Machine, bundle: Bundle) -> None:
        self.machine = machine
        self.arrays = {key: machine.send(np.ascontiguousarray(array)) for key, array in bundle.items()}
        self.open = self.rows = len(bundle["lower"])  # nodes, and rows that nodes have had
        self.spare: Any = machine.xp.arange(0)  # rows whose nodes are closed

    @property
    def lower(self) -> float:
        """The least bound."""
        return float(self.arrays["lower"][: self.rows].min()) if self.open else np.inf

    def best(self, most: int) -> Any:
        """Rows of the nodes with the least bounds, at most so many."""
        lower = self.arrays["lower"][: self.rows]
        if self.open < self.rows or most < self.open:
            most = min(most, self.open)
            return np.argpartition(lower, most - 1)[:most]
        return self.machine.xp.arange(self.rows)

    def nearest(self, most: int) -> Any:
        """Rows of the nodes with the largest bounds, which are done soonest, where there is no room for more nodes."""
        alive, most = self.alive, min(most, self.open)
        return alive[np.argpartition(-self.arrays["lower"][alive], most - 1)[:most]]

    @property
    def alive(self) -> Any:
        """Rows of the open nodes."""
        return np.flatnonzero(self.arrays["lower"][: self.rows] < np.inf)

    def close(self, rows: Any) -> None:
        """Nodes that are done."""
        self.arrays["lower"][rows] = np.inf
        self.spare = np.concatenate([self.spare, rows])
        self.open -= len(rows)

    def copied(self, rows: Any) -> Any:
        """Rows of new nodes that are as these are."""
        count = len(rows)
        reused, self.spare = self.spare[:count], self.spare[count:]
        fresh = self.machine.xp.arange(self.rows, self.rows + count - len(reused))
        self._make_room(self.rows + len(fresh))
        self.rows += len(fresh)
        self.open += count
        new = np.concatenate([reused, fresh])
        for array in self.arrays.values():
            array[new] = array[rows]
        return new

    def _make_room(self, rows: int) -> None:
        if rows <= len(self.arrays["lower"]):
            return
        for key, array in self.arrays.items():
            larger = self.machine.xp.zeros((GROWTH * rows, *array.shape[1:]), dtype=array.dtype)
            larger[: self.rows] = array[: self.rows]
            self.arrays[key] = larger

    def prune(self, cutoff: float) -> int:
        """Close the nodes whose bounds have reached the cutoff; how many there were."""
        lower = self.arrays["lower"][: self.rows]
        reached = np.flatnonzero((lower >= cutoff) & (lower < np.inf))
        self.close(reached)
        return len(reached)

    def bundle(self) -> Bundle:
        """All of them, on the host."""
        return self._fetched(self.alive)

    def single(self, rows: Any) -> list[Bundle]:
        """Some of them, on the host, each alone."""
        nodes = self._fetched(rows) if len(rows) else {}
        return [take(nodes, slice(k, k + 1)) for k in range(len(rows))]

    def _fetched(self, rows: Any) -> Bundle:
        return {key: self.machine.fetch(array) for key, array in take(self.arrays, rows).items()}

    def bounds(self) -> Bundle:
        """Their bounds alone, for when nobody goes on with them."""
        lower = self.machine.fetch(self.arrays["lower"][: self.rows])
        return {"lower": lower[lower < np.inf]}

    def raise_to(self, rows: Any, bounds: Floats) -> None:
        """Better bounds; what is not a number says nothing."""
        self.arrays["lower"][rows] = np.fmax(self.arrays["lower"][rows], bounds)
