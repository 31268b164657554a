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

from dsprog.core.validation import Floats, Masks
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.run import Monitor, Verdict

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


class Search:
    """A method and its open nodes: one step after the other, each leaving a valid bound."""

    def __init__(self, method: Method, monitor: Monitor, checkpoint: Checkpoint | None = None) -> None:
        self.method, self.monitor, self.checkpoint = method, monitor, checkpoint
        self.frontier, self.closed = Frontier(), math.inf
        saved = checkpoint.load() if checkpoint is not None else None
        if saved is None:
            root = method.root()
            bundles = [] if root is None else [root]
        else:
            self.closed, bundles = saved.closed, saved.bundles
            monitor.resume(saved.masks, saved.values, saved.nodes, saved.seconds)
            method.restore(saved.state)
        for bundle in bundles:
            self.frontier.push(bundle)

    @property
    def lower(self) -> float:
        """What is proved so far: no set outside the incumbent is below this."""
        return min(self.closed, self.frontier.lower, self.monitor.value) if self.method.valid else -math.inf

    @property
    def ended(self) -> bool:
        """Whether no node is open."""
        return not self.frontier.heap

    def step(self) -> None:
        """Expand the first bundle, or close all if its bound reaches the cutoff."""
        lower, _, bundle = self.frontier.heap[0]  # it stays open until its expansion is complete
        if lower >= self.monitor.cutoff:
            self.closed = min(self.closed, lower)
            self.frontier.heap.clear()  # the least bound of all
            return
        expansion = self.method.expand(bundle, self.monitor.cutoff)
        # An interruption between these lines may leave a node open twice, never lose one.
        self.monitor.offer(expansion.masks, expansion.values, expansion.source)
        self.closed = min(self.closed, expansion.closed)
        self.frontier.replace_first(expansion.bundles)
        self.monitor.nodes += expansion.nodes
        self.monitor.cuts = expansion.cuts
        self.monitor.progress(self.monitor.nodes, self.frontier.size, expansion.source)

    def run(self) -> str | None:
        """Step until no node is open, the turn is over, or the monitor says stop, and then why."""
        while True:
            self.monitor.raise_bound(self.lower)
            reason = None if self.ended else self.monitor.stop_reason()
            if self.ended or reason is not None or self.monitor.turn_is_over:
                return reason
            self.step()
            self.save()

    def save(self, force: bool = False) -> None:
        """Keep a checkpoint, if there is one and it is time."""
        if self.checkpoint is not None and (force or self.checkpoint.due()):
            bundles = [bundle for _, _, bundle in sorted(self.frontier.heap, key=lambda entry: -entry[1])]
            self.checkpoint.save(bundles, self.method.state(), self.monitor, self.closed)

    def verdict(self, reason: str | None) -> Verdict:
        """How the search ended: for a reason of the monitor, or because no node is open."""
        proved = "infeasible" if self.monitor.mask is None else "optimal"
        status = reason or (proved if self.method.valid else "finished")
        return Verdict(status, self.method.proof(), self.method.reason)


def branch_and_bound(method: Method, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
    """Run a method until no node is open or the monitor says stop."""
    search = Search(method, monitor, checkpoint)
    try:
        return search.verdict(search.run())
    finally:
        search.save(force=True)


def concatenate(bundles: list[Bundle]) -> Bundle:
    """Bundles of the same keys as one."""
    return {key: np.concatenate([bundle[key] for bundle in bundles]) for key in bundles[0]}


def take(bundle: Bundle, rows: Any) -> Bundle:
    """Some nodes of a bundle, by index or by mask."""
    return {key: array[rows] for key, array in bundle.items()}
