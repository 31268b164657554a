"""The driver of every branch-and-bound run: it pops, prunes, logs, checkpoints and stops. It knows no mathematics.

A *bundle* is a batch of open nodes as plain arrays, one row a node, with the key ``"lower"`` for their bounds. A
method turns one bundle into others; the driver keeps them, least bound first. Since a bundle is pure data, it can be
written to disk, sent elsewhere, or expanded again if an expansion was lost.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dsprog.checkpoint import Checkpoint
from dsprog.monitor import Monitor, Verdict
from dsprog.validation import Floats, Masks

Bundle = dict[str, np.ndarray]


@dataclass(frozen=True)
class Expansion:
    """What became of a bundle.

    Attributes
    ----------
    bundles : list of Bundle
        Nodes that are still open.
    nodes : int
        How many nodes were looked at.
    masks, values
        Feasible sets met on the way, and their values.
    closed : float
        The least bound among the nodes that were closed by their bound.
    source : str
        For the log: what found the sets.
    cuts : int, optional
        For the log: cutting planes so far, if the method has any.
    """

    bundles: list[Bundle]
    nodes: int
    masks: Masks
    values: Floats
    closed: float = math.inf
    source: str = ""
    cuts: int | None = None


class Method(ABC):
    """What a branch-and-bound algorithm brings to the driver.

    ``valid`` says whether its bounds are proved by what the functions know; if not, ``reason`` says why and no bound
    is reported.
    """

    valid: bool = True
    reason: str = ""

    @abstractmethod
    def root(self) -> Bundle | None:
        """The first bundle, or None if there is nothing to search."""

    @abstractmethod
    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Look at the nodes of a bundle; a node whose bound is at least ``cutoff`` may be closed."""

    @abstractmethod
    def proof(self) -> str:
        """How the bound was proved, in words."""

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must keep besides the open nodes."""
        return {}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take back what :meth:`state` gave."""
        del state


@dataclass
class Frontier:
    """Open bundles, least bound first; of equal bounds the newest, so that the search dives."""

    heap: list[tuple[float, int, Bundle]] = field(default_factory=list)
    serial: int = 0
    size: int = 0  # open nodes

    def push(self, bundle: Bundle) -> None:
        """Add a bundle with at least one node."""
        self.serial += 1
        self.size += len(bundle["lower"])
        heapq.heappush(self.heap, (float(bundle["lower"].min()), -self.serial, bundle))

    def replace_first(self, children: list[Bundle]) -> None:
        """Put the first bundle's children in its place; an interruption leaves the heap as it was or as it will be."""
        changed = Frontier(self.heap.copy(), self.serial, self.size)
        _, _, first = heapq.heappop(changed.heap)
        changed.size -= len(first["lower"])
        for child in children:
            if len(child["lower"]):
                changed.push(child)
        self.heap, self.serial, self.size = changed.heap, changed.serial, changed.size

    @property
    def lower(self) -> float:
        """The least bound of all open nodes."""
        return self.heap[0][0] if self.heap else math.inf


def branch_and_bound(method: Method, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
    """Run a method until no node is open or the monitor says stop."""
    frontier, closed = Frontier(), math.inf
    saved = checkpoint.load() if checkpoint is not None else None
    if saved is not None:
        closed = saved.closed
        monitor.resume(saved.masks, saved.values, saved.nodes, saved.seconds)
        method.restore(saved.state)
        for bundle in saved.bundles:
            frontier.push(bundle)
    else:
        root = method.root()
        if root is not None:
            frontier.push(root)

    def save(force: bool) -> None:
        if checkpoint is not None and (force or checkpoint.due()):
            bundles = [bundle for _, _, bundle in sorted(frontier.heap, key=lambda entry: -entry[1])]
            checkpoint.save(bundles, method.state(), monitor, closed)

    def report() -> None:
        if method.valid:
            monitor.raise_bound(min(closed, frontier.lower, monitor.value))

    try:
        while frontier.heap:
            report()
            reason = monitor.stop_reason()
            if reason is not None:
                return Verdict(reason, method.proof(), method.reason)
            lower, _, bundle = frontier.heap[0]  # it stays open until its expansion is complete
            if lower >= monitor.cutoff:
                closed = min(closed, lower)
                frontier.heap.clear()  # the least bound of all
                break
            expansion = method.expand(bundle, monitor.cutoff)
            # An interruption between these lines may leave a node open twice, never lose one.
            monitor.offer(expansion.masks, expansion.values, expansion.source)
            closed = min(closed, expansion.closed)
            frontier.replace_first(expansion.bundles)
            monitor.nodes += expansion.nodes
            monitor.cuts = expansion.cuts
            monitor.progress(monitor.nodes, frontier.size, expansion.source)
            save(force=False)
    finally:
        save(force=True)
    report()
    if monitor.mask is None:
        return Verdict("infeasible" if method.valid else "finished", method.proof(), method.reason)
    return Verdict("optimal" if method.valid else "finished", method.proof(), method.reason)


def concatenate(bundles: list[Bundle]) -> Bundle:
    """Bundles of the same keys as one."""
    return {key: np.concatenate([bundle[key] for bundle in bundles]) for key in bundles[0]}


def take(bundle: Bundle, rows: Any) -> Bundle:
    """Some nodes of a bundle, by index or by mask."""
    return {key: array[rows] for key, array in bundle.items()}
