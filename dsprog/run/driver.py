"""The driver of every branch-and-bound run: it pops, prunes, logs, checkpoints and stops. It knows no mathematics.

A *bundle* is a batch of open nodes as plain arrays, one row a node, with the key ``"lower"`` for their bounds. A
method turns one bundle into others; the driver keeps them, least bound first. Since a bundle is pure data, it can be
written to disk, sent elsewhere, or expanded again if an expansion was lost.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.checkpoint import Saved
from dsprog.run.result import Verdict
from dsprog.run.run import Run

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
    """What a branch-and-bound algorithm brings to the driver; making one computes nothing.

    ``valid`` says whether its bounds are proved by what the functions know; if not, ``reason`` says why and no bound
    is reported. ``rounding`` is what its bounds may lose without the proof being any weaker for it.
    """

    valid: bool = True
    reason: str = ""
    rounding: float = 0.0
    accepted: float = 0.0  # the distance between value and bound that an option of the solver allows
    mixes: ClassVar[bool] = False  # whether bundles can be put together: their nodes are expanded as one batch
    guides: ClassVar[tuple[str, ...]] = ()  # arrays of floats in its bundles that no bound rests on

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run

    @abstractmethod
    def root(self) -> Bundle | None:
        """The first bundle, bounded where that is quick, or None if there is nothing to search."""

    def start(self) -> None:
        """Offer first sets to the run; the root is bounded by then, so that every limit leaves a bound."""
        return

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

    def recipe(self) -> Callable[[Problem, Run], Method] | None:
        """How a worker makes this method again, in a form that can be pickled; None if it cannot be shared."""
        return None

    def counts(self) -> dict[str, int]:
        """What :meth:`proof` counts, so that workers can tell what they did."""
        return {}

    def credit(self, counts: dict[str, int]) -> None:
        """Add what a worker did."""
        del counts


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

    @property
    def second(self) -> float:
        """The least bound outside the first bundle."""
        return min((entry[0] for entry in self.heap[1:3]), default=math.inf)  # the children of a heap's top


class Search:
    """A method and its open nodes: one step after the other, each leaving a valid bound."""

    def __init__(self, method: Method, run: Run) -> None:
        self.method, self.run = method, run
        self.frontier, self.closed = Frontier(), math.inf
        self.began = run.seconds
        saved = run.checkpoint.load() if run.checkpoint is not None else None
        if saved is None:
            self._begin()
        else:
            self._resume(saved)

    def _begin(self) -> None:
        root = self.method.root()
        if root is not None:
            self.frontier.push(root)
        self.run.raise_bound(self.lower)
        self.method.start()

    def _resume(self, saved: Saved) -> None:
        self.closed = saved.closed
        self.run.resume(saved.masks, saved.values, saved.nodes, saved.seconds)
        self.method.restore(saved.state)
        for bundle in saved.bundles:
            self.frontier.push(bundle)

    @property
    def lower(self) -> float:
        """What is proved so far: no set outside the incumbent is below this."""
        return min(self.closed, self.frontier.lower, self.run.value) if self.method.valid else -math.inf

    @property
    def ended(self) -> bool:
        """Whether no node is open."""
        return not self.frontier.heap

    def step(self) -> None:
        """Expand the first bundle, or close all if its bound reaches the cutoff."""
        run = self.run
        lower, _, bundle = self.frontier.heap[0]  # it stays open until its expansion is complete
        if lower >= run.cutoff:
            self.closed = min(self.closed, lower)
            self.frontier.heap.clear()  # the least bound of all
            return
        others = min(self.closed, self.frontier.second) if self.method.valid else -math.inf
        run.elsewhere = (self.frontier.size - len(bundle["lower"]), others)
        expansion = self.method.expand(bundle, run.cutoff)
        # An interruption between these lines may leave a node open twice, never lose one.
        run.offer(expansion.masks, expansion.values, expansion.source)
        self.closed = min(self.closed, expansion.closed)
        self.frontier.replace_first(expansion.bundles)
        run.nodes += expansion.nodes
        run.cuts = expansion.cuts
        run.raise_bound(self.lower)
        run.progress(run.nodes, self.frontier.size, expansion.source)

    def go(self) -> str | None:
        """Step until no node is open, the turn is over, or the run says stop, and then why."""
        while True:
            self.run.raise_bound(self.lower)
            reason = None if self.ended else self.run.stop_reason()
            if self.ended or reason is not None or self.run.turn_is_over:
                return reason
            if self.run.crew is not None and self.run.crew.joins(self):
                return self.run.crew.go(self)
            self.step()
            self.save()

    def save(self, force: bool = False) -> None:
        """Keep a checkpoint, if there is one and it is time."""
        place, run = self.run.checkpoint, self.run
        if place is not None and (force or place.due()):
            bundles = [bundle for _, _, bundle in sorted(self.frontier.heap, key=lambda entry: -entry[1])]
            place.save(Saved(bundles, self.method.state(), *run.best_sets(), run.nodes, run.total_seconds, self.closed))

    def verdict(self, reason: str | None) -> Verdict:
        """How the search ended: for a reason of the run, or because no node is open."""
        return Verdict(reason or self._ending(), self.method.proof(), self.method.reason, self.method.accepted)

    def _ending(self) -> str:
        """The status without an open node: a search that closed nodes below the best value has only a gap to show."""
        if not self.method.valid:
            return "finished"
        if self.run.mask is None:
            return "infeasible"
        proved = self.run.value - self.run.lower_bound <= max(self.run.tolerance, self.method.rounding)
        return "optimal" if proved or self.run.lists else "gap"


def branch_and_bound(method: Method, run: Run) -> Verdict:
    """Run a method until no node is open or the run says stop."""
    search = Search(method, run)
    try:
        return search.verdict(search.go())
    finally:
        search.save(force=True)


def remade(kind: Callable[..., Method], options: Any, problem: Problem, run: Run) -> Method:
    """A method of a class and its options, for :meth:`Method.recipe`."""
    return kind(problem, run, options)


def concatenate(bundles: list[Bundle]) -> Bundle:
    """Bundles of the same keys as one."""
    return {key: np.concatenate([bundle[key] for bundle in bundles]) for key in bundles[0]}


def take(bundle: Bundle, rows: Any) -> Bundle:
    """Some nodes of a bundle, by index or by mask."""
    rows = np.flatnonzero(rows) if getattr(rows, "dtype", None) == np.bool_ else rows
    return {key: array[rows] for key, array in bundle.items()}
