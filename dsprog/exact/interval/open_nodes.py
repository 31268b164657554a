"""The open nodes of a unit of work, and on which machine they wait.

A unit goes depth first: what is split next lies on top of a *stack* of parts, which is where the search computes. On a
device there is not room for everything, so that parts that have not been begun are *waiting* on the host as they came,
and the oldest parts of a stack that has grown too large are *spilled* there. Nothing is lost on the way: at any moment
the bundles of waiting, spilled and stack together are the open nodes of the unit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import least
from dsprog.run.driver import Bundle, concatenate, take

KEPT = ("lower", "I", "U", "x")  # what a node is made of; most of the rest is computed again


class OpenNodes:
    """What is open of a bundle: ``prepare`` adds what bounds keep with nodes that arrive on the machine.

    ``travels`` names what goes along with nodes that leave it.
    """

    def __init__(
        self,
        machine: Machine,
        bundle: Bundle,
        at_once: int,
        prepare: Callable[[Bundle], None],
        travels: tuple[str, ...] = (),
    ) -> None:
        self.machine, self.prepare, self.kept = machine, prepare, (*KEPT, *travels)
        self._stack: list[Bundle] = []
        self._spilled: list[Bundle] = []
        self._waiting = self._slices(bundle, at_once)

    def __bool__(self) -> bool:
        return bool(self._stack or self._waiting)

    def pop(self, size: int) -> Bundle:
        """The newest nodes, ``size`` of them if there are so many on the machine."""
        if not self._stack:
            self._stack.append(sent(self.machine, self._waiting.pop()))
            self.prepare(self._stack[0])
        parts, taken = [], 0
        while self._stack and taken < size:
            part = self._stack.pop()
            if taken + len(part["lower"]) > size:
                cut = len(part["lower"]) - (size - taken)
                self._stack.append(take(part, slice(0, cut)))
                part = take(part, slice(cut, None))
            parts.append(part)
            taken += len(part["lower"])
        return concatenate(parts)

    def push(self, nodes: Bundle) -> None:
        """Nodes to be looked at next; the oldest give way if there is no room."""
        if len(nodes["lower"]) == 0:
            return
        self._stack.append(nodes)
        most = self.machine.most_open(nodes["I"].shape[1])
        while len(self._stack) > 1 and sum(len(part["lower"]) for part in self._stack) > most:
            self._spilled += self._kept([self._stack.pop(0)])

    def bundles(self) -> list[Bundle]:
        """All of them, on the host."""
        return self._spilled + self._waiting + self._kept(self._stack)

    def summary(self, closed: float) -> tuple[int, float]:
        """How many there are, and the least bound of these and of what was closed."""
        bounds = [part["lower"] for part in (*self._spilled, *self._waiting, *self._stack)]
        return sum(map(len, bounds)), min(closed, *map(least, bounds), np.inf)

    def _slices(self, bundle: Bundle, at_once: int) -> list[Bundle]:
        """A bundle in parts that there is room for at once, the last to be taken first."""
        size = len(bundle["lower"]) if self.machine is HOST else at_once
        return [take(bundle, slice(k, k + size)) for k in range(0, len(bundle["lower"]), max(1, size))]

    def _kept(self, parts: list[Bundle]) -> list[Bundle]:
        """Nodes as bundles of the host; those of a device as one, since it wants many nodes at once."""
        here = [{key: self.machine.fetch(part[key]) for key in self.kept} for part in parts]
        return here if self.machine is HOST or not here else [concatenate(here)]


def sent(machine: Machine, bundle: Bundle) -> Bundle:
    """A bundle of the host on a machine."""
    return {key: machine.send(array) for key, array in bundle.items()}
