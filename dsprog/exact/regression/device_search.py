"""The search of penalised least squares on a device: thousands of nodes at once, each by a block of the card.

What is done at a node is what :class:`PerspectiveSearch` does there, but for three things: boxes of one node are
tightened by several teams at once, each from the boxes that it finds, so that runs differ a little in their nodes; the
penalty keeps the minorant of the first nodes; and sets are those of nodes that are complete. The kernel is
``device/kernels/perspective.cu``; all its numbers are doubles, and a diagonal is used only where a Cholesky
factorisation proves it (:mod:`dsprog.exact.regression.elimination`).

A search begins on the host, where few nodes are looked at sooner, and a node that is numerically too hard for the
kernel goes back there, alone: with others it would come here, and fail, again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dsprog.core.validation import Masks
from dsprog.device.machine import Machine, machine_named
from dsprog.device.sizes import per_lane
from dsprog.exact.regression.node_pool import NodePool
from dsprog.exact.regression.perspective_bound import ROUNDS
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.probed_branching import CANDIDATES
from dsprog.exact.regression.relaxation import PROBE_SWEEPS, STEPS, SWEEPS, Loss
from dsprog.run.driver import Bundle, Expansion, Method, concatenate, remade
from dsprog.run.signals import interruptions_noted

CLOSED, OPEN, COMPLETE, FAILED = range(4)  # what became of a node
KEPT = ("I", "U", "d", "D", "S", "w", "lo", "hi", "lower", "boxed")  # of a node, in the order of the kernel
VECTORS = 16  # of a block's shared memory
TEAMS = 16  # that share the descents of a node
BLOCKS_EACH = 8  # nodes for each block of the card at once
ROUNDED = 16  # nodes of a batch whose points are rounded to sets


@dataclass(frozen=True)
class Looked:
    """What the kernel says of nodes: status, the feature to branch on, bounds of both children, and the bound of I."""

    status: Any
    feature: Any
    inside: Any
    outside: Any
    own: Any


class NodeKernel:
    """The kernel for one loss on one machine."""

    def __init__(self, machine: Machine, loss: Loss, at_empty: float) -> None:
        self.machine, self.n = machine, len(loss.b)
        self.blocks = machine.blocks
        n, xp = self.n, machine.xp
        packed = max(n * (n + 1) // 2, 2 * len(STEPS) * n)
        self.shared = 8 * (n * (n | 1) + packed + VECTORS * n + 2 * CANDIDATES + 2) + 4 * (n + CANDIDATES + 5)
        sizes = {"HISTORY": ROUNDS + 1, "PER_LANE": per_lane(machine, n), "TEAMS": TEAMS, "CANDIDATES": CANDIDATES}
        sizes |= {"TRIALS": len(STEPS), "SWEEPS": SWEEPS, "PROBE_SWEEPS": PROBE_SWEEPS}
        self.launch = machine.kernel("perspective", "process", shared=self.shared, **sizes)
        self.loss = machine.send(np.ascontiguousarray(loss.G)), machine.send(loss.b)
        self.numbers = loss.constant + at_empty, float(loss.shift), loss.floor * loss.least_eigenvalue
        self.histories = xp.empty(self.blocks * TEAMS * 2 * (ROUNDS + 1) * n)

    def __call__(self, nodes: Bundle, rows: Any, cutoff: float) -> Looked:
        """Bound some nodes, in place."""
        xp, count = self.machine.xp, len(rows)
        status, feature = (xp.full(count, FAILED, dtype=np.int32) for _ in range(2))  # unless somebody looks at them
        looked = Looked(status, feature, *(xp.zeros(count) for _ in range(3)))
        given = (count, self.n, *self.loss, *self.numbers, float(cutoff), rows.astype(np.int32))
        outcome = (
            looked.status,
            looked.feature,
            looked.inside,
            looked.outside,
            looked.own,
            xp.zeros(1, dtype=np.int32),
        )
        teams, lanes = min(self.blocks, count), TEAMS * self.machine.lanes
        kept = (nodes[key] for key in KEPT)
        self.launch(teams, *given, *kept, self.histories, *outcome, shared=self.shared, lanes=lanes)
        return looked


class DeviceSearch(PerspectiveSearch):
    """The same tree with its nodes on a device."""

    @cached_property
    def machine(self) -> Machine:
        """The machine that the user named."""
        return machine_named(self.options.device)

    @cached_property
    def look_at(self) -> NodeKernel:
        """The kernel for the loss."""
        assert isinstance(self.below, Loss)
        return NodeKernel(self.machine, self.below, self.at_empty)

    def root(self) -> Bundle | None:
        """All sets; a device that is not there, or too small, is named before anything long."""
        with self.machine.running():
            _ = self.look_at
        return super().root()

    def recipe(self) -> partial[Method]:
        """From the options."""
        return partial(remade, DeviceSearch, self.options)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search best first below some nodes: on the host until there are enough of them, then on the device."""
        if len(bundle["lower"]) < self.machine.few_nodes:
            expansion = super().expand(bundle, cutoff)
            bundles = [concatenate(expansion.bundles)] if expansion.bundles else []
            return Expansion(bundles, expansion.nodes, expansion.masks, expansion.values, cutoff, "search")
        with self.machine.running(), interruptions_noted(self.run):
            return self._expand_there(bundle, cutoff)

    def enough(self, open_nodes: int) -> bool:
        """Whether a search on the host has nodes enough for the device."""
        return open_nodes >= self.machine.few_nodes

    def _expand_there(self, bundle: Bundle, cutoff: float) -> Expansion:
        pool, nodes, returned = NodePool(self.machine, bundle), 0, list[Bundle]()
        masks, values = np.zeros((0, self.n), dtype=bool), np.zeros(0)

        def frontier() -> tuple[int, float]:
            bounds = (float(node["lower"][0]) for node in returned)
            return pool.open + len(returned), min(cutoff, pool.lower, *bounds)

        while pool.open and pool.lower < cutoff and not self.run.pause(nodes, "search", frontier):
            most, full = BLOCKS_EACH * self.look_at.blocks, pool.open > self.machine.most_open(self.n)
            rows = pool.nearest(most) if full else pool.best(most)
            looked = self.look_at(pool.arrays, rows, cutoff)
            nodes += len(rows)
            returned += pool.single(rows[np.flatnonzero(looked.status == FAILED)])
            masks = self._sets_there(pool, rows, looked, cutoff)
            values = self.problem.objective.values(masks)
            self._branch_there(pool, rows, looked, cutoff)
            if values.min(initial=np.inf) < cutoff:
                break
        left = [] if not pool.open else [pool.bounds() if self._ends_here else pool.bundle()]
        return Expansion(left + returned, nodes, masks, values, cutoff, "search")

    @property
    def _ends_here(self) -> bool:
        """Whether the run is over and nobody keeps its nodes: a million of them take seconds to fetch."""
        run = self.run
        return run.stop_reason() is not None and run.checkpoint is None and run.link is None

    def _sets_there(self, pool: NodePool, rows: Any, looked: Looked, cutoff: float) -> Masks:
        """Sets to try: I where the minorant does not rule it out, and the points of some nodes, rounded."""
        complete = rows[np.flatnonzero((looked.own < cutoff) & (looked.own > -np.inf))]
        some = {key: self.machine.fetch(pool.arrays[key][rows[:ROUNDED]]) for key in ("I", "U", "w", "d", "D")}
        taken = (some["w"] != 0) & (np.abs(some["w"]) >= 0.5 * np.sqrt(np.maximum(some["d"], 0.0) / some["D"]))
        return self._new([*self.machine.fetch(pool.arrays["I"][complete]), *(some["I"] | (some["U"] & taken))])

    def _branch_there(self, pool: NodePool, rows: Any, looked: Looked, cutoff: float) -> None:
        """Put two children in the place of each node that is open, and close what is done."""
        pool.close(rows[np.flatnonzero(looked.status != OPEN)])
        split = np.flatnonzero(looked.status == OPEN)
        parents, j = rows[split], looked.feature[split]
        without = pool.copied(parents)
        pool.arrays["I"][parents, j] = True
        pool.arrays["U"][without, j] = False
        for children, bounds in ((parents, looked.inside), (without, looked.outside)):
            pool.raise_to(children, np.minimum(bounds[split], cutoff))
            pool.arrays["depth"][children] += 1
        pool.prune(cutoff)
