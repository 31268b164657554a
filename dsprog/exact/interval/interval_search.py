"""The search of interval branch and bound.

A node is an interval [I, U], the sets between I and U. Batches of nodes are bounded at once, elements are fixed where
the bounds allow, and what is left is split on one element: depth first inside a unit of work, least bound first
between units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dsprog.approximate.first_sets import offer_first_sets
from dsprog.core.problem import Problem
from dsprog.core.submodularity import refuse_refuted
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.device.machine import HOST, Machine, machine_named
from dsprog.exact.interval.applicable_bounds import KINDS, Material, check_named, fitting, rests_on_submodularity
from dsprog.exact.interval.bound import Bound, free, least
from dsprog.exact.interval.leaves import enumerated
from dsprog.exact.interval.node_kernels import NodeKernels, kernels_on
from dsprog.exact.interval.open_nodes import OpenNodes, sent
from dsprog.run.driver import Bundle, Expansion, Method, concatenate, remade, take
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.interval.branch_and_bound import BranchAndBound

LONG = 0.1  # seconds of a batch under a time limit, beyond which batches get smaller
SOON = 4  # a unit ends once a quarter of the list may have changed, which lowers the cutoff
MOST_AT_ONCE = 4  # elements that a node is split on


class IntervalSearch(Method):
    """The mathematics of a run: how nodes are bounded, fixed and split."""

    mixes: ClassVar[bool] = True
    guides: ClassVar[tuple[str, ...]] = ("x",)  # where the steps of the dual bound begin

    def __init__(self, problem: Problem, run: Run, options: BranchAndBound) -> None:
        super().__init__(problem, run)
        self.options, self.objective, self.n = options, problem.objective, problem.n
        self.integral = self.objective.knows.integral is True
        self._bound_of: dict[str, Bound] = {}
        self._batch = 0  # until it is known where the nodes are

    # -- where the nodes are ----------------------------------------------------------------------------------------

    @cached_property
    def machine(self) -> Machine:
        """The machine that the user named."""
        return machine_named(self.options.device)

    @cached_property
    def material(self) -> Material:
        """What bounds are made of."""
        options, keep_all = self.options, self.run.lists
        return Material(self.problem, options.extensions, options.steps, keep_all, self.machine)

    @cached_property
    def kernels(self) -> NodeKernels:
        """Compiled steps on that machine."""
        return kernels_on(self.machine, self.problem.rows)

    @cached_property
    def values(self) -> Callable[[Masks], Floats]:
        """Values of the objective there."""
        return self.machine.function(self.objective).values

    @property
    def largest_batch(self) -> int:
        """Nodes bounded at once."""
        return self.options.batch or self.machine.batch

    # -- which bounds -----------------------------------------------------------------------------------------------

    @cached_property
    def symmetric(self) -> bool:
        """Whether S and V∖S have the same value and are feasible together, so that one of the two is enough."""
        rows = self.problem.rows
        with np.errstate(invalid="ignore"):  # a row without limits
            mirrored = bool((rows.lo + rows.hi == rows.A.sum(axis=1)).all())
        return self.objective.knows.symmetric is True and mirrored and not self.run.lists

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The least and the largest size that a row on all elements allows."""
        rows = self.problem.rows
        counting = (rows.A == 1.0).all(axis=1)
        low, high = rows.relaxed
        least, most = low[counting].max(initial=-np.inf), high[counting].min(initial=np.inf)
        return float(np.ceil(least - 1e-6)), float(np.floor(most + 1e-6))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The bounds to use: those that the user named, or the best ones at the root of those that fit."""
        named = self.options.bounds
        if named is not None:
            check_named(named, self.problem)
            return named
        with self.machine.running():
            choices = fitting(self.problem, self.material.majorant, self.machine)
            return max(choices, key=self._root_bound) if len(choices) > 1 else choices[0]

    @cached_property
    def bounds(self) -> list[Bound]:
        """The bounds themselves, in their order."""
        return self._made(self.names)

    def _made(self, names: tuple[str, ...]) -> list[Bound]:
        for name in names:
            if name not in self._bound_of:
                self._bound_of[name] = KINDS[name].make(self.material)
        return [self._bound_of[name] for name in names]

    @cached_property
    def uses_ends(self) -> bool:
        """Whether a bound needs f and g at both ends."""
        return any(bound.uses_ends for bound in self.bounds)

    @cached_property
    def leader(self) -> Bound:
        """The bound that says where to branch."""
        return next((bound for bound in self.bounds if bound.guides), self.bounds[0])

    @property
    def valid(self) -> bool:  # type: ignore[override]
        """Whether the bounds are proved by what the functions know."""
        return self.objective.is_certifiable or not rests_on_submodularity(self.names)

    @property
    def reason(self) -> str:  # type: ignore[override]
        """Why not."""
        unknown = "f" if self.objective.f.knows.submodular is not True else "g"
        said = f"{unknown} is not known to be submodular (declare it, or decompose the objective)"
        return "" if self.valid else said

    def _root_bound(self, names: tuple[str, ...]) -> float:
        """What some bounds prove of all sets."""
        with self.machine.running():
            bounds, nodes = self._made(names), sent(self.machine, self._everything())
            self._prepare(nodes, bounds)
            for bound in bounds:
                nodes = bound.tighten(nodes, np.inf).nodes
            return least(nodes["lower"])

    # -- the method -------------------------------------------------------------------------------------------------

    def root(self) -> Bundle:
        """All sets, bounded; functions that a sample shows not to be submodular are refused."""
        with self.machine.running():
            _ = self.values  # a term without code for the device is refused before anything long
        if not self.valid:
            for name, side in (("f", self.objective.f), ("g", self.objective.g)):
                refuse_refuted(side, name)
        if self.valid:  # the node itself begins without a bound: steps of the dual bound are as long as the gap
            self.run.raise_bound(self._root_bound(self.names))
        return self._everything()

    def _everything(self) -> Bundle:
        I = np.zeros((1, self.n), dtype=bool)
        return {"lower": np.array([-np.inf]), "I": I, "U": ~I, "x": np.full((1, self.n), 0.5)}

    def start(self) -> None:
        """Local optima."""
        starts = self.options.starts
        offer_first_sets(self.problem, self.run, self.machine.starts if starts is None else starts)

    def proof(self) -> str:
        """Which bounds closed the intervals."""
        return f"interval branch and bound with {' and '.join(self.names)} bounds"

    def recipe(self) -> partial[Method]:
        """From the options, with the bounds that were best at the root: a worker does not try them there again."""
        return partial(remade, IntervalSearch, replace(self.options, bounds=self.names))

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search depth first from a bundle, until the unit is done or a better set asks for a new cutoff."""
        with self.machine.running():
            return self._expand(bundle, cutoff)

    def _expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        travels = tuple(key for bound in self.bounds for key in bound.travels)
        open_nodes = OpenNodes(self.machine, bundle, self.largest_batch, self._prepared, travels)
        nodes, closed, unit = 0, np.inf, self.options.unit or self.machine.unit
        found: list[tuple[Masks, Floats]] = []
        new: set[bytes] = set()  # sets that the run has not in its list yet

        def frontier() -> tuple[int, float]:
            return open_nodes.summary(closed)

        while open_nodes and nodes < unit:
            if self.run.pause(nodes, "search", frontier):
                break
            began, batch = self.run.seconds, open_nodes.pop(self._batch_size())
            untouched = dict(batch)
            try:
                children, reached, masks, values = self._process(batch, cutoff)
            except KeyboardInterrupt:  # what the unit has proved so far is reported before the run ends
                open_nodes.push(untouched)
                self.run.interrupted = True
                break
            nodes += len(untouched["lower"])
            self._adapt_batch(self.run.seconds - began)
            closed = min(closed, reached)
            open_nodes.push(children)
            better = values < cutoff
            if better.any():
                found.append(self._fetched(masks[better], values[better]))
                new |= {mask.tobytes() for mask in found[-1][0] if not self.run.best.holds(mask)}
                if len(new) * SOON >= self.run.best.keeps:
                    break
        masks = np.concatenate([np.zeros((0, self.n), dtype=bool), *(m for m, _ in found)])
        values = np.concatenate([np.zeros(0), *(v for _, v in found)])
        return Expansion(open_nodes.bundles(), nodes, masks, values, closed, "search")

    def _fetched(self, masks: Masks, values: Floats) -> tuple[Masks, Floats]:
        """Sets and their values on the host; where they come from a device, the values are computed again."""
        if self.machine is HOST:
            return masks, values
        here = self.machine.fetch(masks)
        return here, self.objective.values(here)

    def _prepared(self, nodes: Bundle) -> None:
        self._prepare(nodes, self.bounds)

    def _prepare(self, nodes: Bundle, bounds: list[Bound]) -> None:
        """Add what the bounds keep with their nodes."""
        if any(bound.uses_ends for bound in bounds):
            self.material.ends.prepare(nodes)
        for bound in bounds:
            bound.prepare(nodes)

    def _adapt_batch(self, seconds: float) -> None:
        """Under a time limit, and among workers, batches are such that one listens often, whatever f and g cost."""
        if math.isfinite(self.run.seconds_left) or self.run.link is not None:
            half, double = max(1, self._batch // 2), min(self.largest_batch, 2 * self._batch)
            self._batch = half if seconds > LONG else double if seconds < 0.25 * LONG else self._batch

    def _batch_size(self) -> int:
        if self._batch == 0:
            unlimited = math.isinf(self.run.seconds_left)
            self._batch = self.largest_batch if unlimited else min(self.largest_batch, self.machine.first_batch)
        return self._batch

    def _process(self, nodes: Bundle, cutoff: float) -> tuple[Bundle, float, Masks, Floats]:
        """Bound, fix and split a batch; return the children, the least bound closed, and sets with their values."""
        nodes = self._propagate(nodes)
        closed = np.inf
        for bound in self.bounds:
            nodes, reached = self._tightened(nodes, bound, cutoff)
            closed = min(closed, reached)
        nodes = self._propagate(nodes)
        nodes, masks, values = self._finish(nodes)
        return self._split(nodes), closed, masks, values

    def _tightened(self, nodes: Bundle, bound: Bound, cutoff: float) -> tuple[Bundle, float]:
        """Nodes after a bound, tried again where it fixed elements, and the least bound closed."""
        settled, closed = [], np.inf
        for tries in count(1):
            tightened = bound.tighten(nodes, cutoff)
            nodes, closed = tightened.nodes, min(closed, tightened.closed)
            moved = self._move(nodes, tightened.include, tightened.exclude)
            if not (moved and bound.repeats) or tries >= self.machine.rounds:
                break
            again = (tightened.include | tightened.exclude).any(axis=1)
            settled.append(take(nodes, ~again))
            nodes = take(nodes, again)
        nodes, reached = self._round(concatenate([*settled, nodes]) if settled else nodes, cutoff)
        return nodes, min(closed, reached)

    def _propagate(self, nodes: Bundle) -> Bundle:
        if len(self.problem.rows) == 0:
            return nodes
        include, exclude, feasible = self.kernels.propagate(nodes)
        self._move(nodes, include, exclude)
        return take(nodes, feasible)

    def _move(self, nodes: Bundle, include: Masks, exclude: Masks) -> bool:
        """Fix elements and let everything that rests on I and U follow."""
        if not (include.any() or exclude.any()):
            return False
        nodes["I"], nodes["U"] = nodes["I"] | include, nodes["U"] & ~exclude
        if self.uses_ends:
            self.material.ends.moved(nodes, include, exclude)
        for bound in self.bounds:
            bound.moved(nodes, include, exclude)
        return True

    def _round(self, nodes: Bundle, cutoff: float) -> tuple[Bundle, float]:
        """Integral objectives have integral bounds."""
        if not self.integral or len(nodes["lower"]) == 0:
            return nodes, np.inf
        nodes["lower"] = np.ceil(nodes["lower"] - 1e-6)
        keep = nodes["lower"] < cutoff
        return take(nodes, keep), least(nodes["lower"][~keep])

    def _finish(self, nodes: Bundle) -> tuple[Bundle, Masks, Floats]:
        """Enumerate small nodes, and round the points of the others."""
        nodes, parts = enumerated(nodes, self.options.leaf, self.sizes, self.machine.xp)
        if self.uses_ends:  # the dual bound has moved x
            parts.append((nodes["x"] >= 0.5) & nodes["U"] | nodes["I"])
        masks = np.concatenate(parts)
        masks = masks[self.kernels.feasible(masks)] if len(self.problem.rows) else masks
        most = max(len(masks), 1) if self.machine is HOST else self.largest_batch
        found = [self.values(masks[k : k + most]) for k in range(0, max(1, len(masks)), most)]
        return nodes, masks, np.concatenate(found)

    def _split(self, nodes: Bundle) -> Bundle:
        """Two children for each node: with the element of the best score, and without it.

        Where a batch is far smaller than what the machine can bound in the same time, more elements are split on at
        once, and each node has a child for every way to have or omit them.
        """
        xp, parents = self.machine.xp, len(nodes["lower"])
        if parents == 0:
            return nodes
        scores = np.where(free(nodes), self.leader.scores(nodes), -np.inf)
        picks = self._best_scores(scores, self._elements_at_once(parents))
        ways = 1 << picks.shape[1]
        rows, codes = np.repeat(xp.arange(parents), ways), xp.tile(xp.arange(ways), parents)
        children = take(nodes, rows)
        include, exclude = np.zeros_like(children["I"]), np.zeros_like(children["I"])
        keep, every = xp.ones(len(rows), dtype=bool), xp.arange(len(rows))
        whole: Any = ~nodes["I"].any(axis=1) & nodes["U"].all(axis=1)
        for k in range(picks.shape[1]):
            j, omitted = picks[rows, k], (codes >> k) & 1 == 1
            splits = scores[rows, j] > -np.inf  # a node may have fewer free elements
            include[every, j] |= splits & ~omitted
            exclude[every, j] |= splits & omitted
            keep &= splits | ~omitted
            if self.symmetric and k == 0:  # of S and V∖S only the one with the first element that is split on
                keep &= ~(whole[rows] & omitted)
        if not keep.all():
            children, include, exclude = take(children, keep), include[keep], exclude[keep]
        self._move(children, include, exclude)
        return children

    def _elements_at_once(self, parents: int) -> int:
        """How many elements to split on, such that the machine has its fill of children."""
        spare = self.machine.fill // (2 * parents)
        return min(MOST_AT_ONCE, 1 + max(0, spare.bit_length() - 1))

    def _best_scores(self, scores: Floats, count: int) -> Ints:
        """The elements of the largest scores of each node, (B, count)."""
        if count == 1:
            return scores.argmax(axis=1)[:, None]
        return np.argsort(-scores, axis=1)[:, :count]
