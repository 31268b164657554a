"""A unit of work: what travels to a worker, what the worker does with it, and what comes back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dsprog.core.oracle import count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.driver import Bundle, Frontier, Method, concatenate
from dsprog.run.limits import Limits
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.workers.link import Link
from dsprog.run.workers.packing import packed, unpacked

WARM = 0.2  # seconds at most of the unit of one batch that a worker warms up with, and throws away
Recipe = Callable[[Problem, Run], Method]  # makes the method of a search again, in another process


@dataclass(frozen=True)
class Unit:
    """Bundles to expand for some seconds; ``left`` are those of the whole run, ``nodes`` how many may be spent."""

    bundles: list[Bundle]
    cutoff: float
    seconds: float
    left: float = math.inf
    nodes: float = math.inf


@dataclass(frozen=True)
class UnitAnswer:
    """What became of a unit: open nodes, the least bound closed, the best sets that this worker ever met, and costs."""

    bundles: list[Bundle]
    nodes: int
    closed: float
    masks: Masks
    values: Floats
    seconds: float = 0.0
    cpu: float = 0.0
    calls: int = 0  # of oracles
    cuts: int | None = None
    counts: dict[str, int] = field(default_factory=dict)  # as Method.counts has them
    verdict: Verdict | None = None  # of a whole solve


class Worktop(Protocol):
    """Where a worker does the units of one job."""

    def work(self, number: int, unit: Unit) -> UnitAnswer:
        """Do the unit of a lease."""


class Job(Protocol):
    """What a worker must have before its units come; it can be pickled."""

    def desk(self, link: Link) -> Worktop:
        """Where a worker does the units."""


@dataclass(frozen=True)
class SearchJob:
    """A search as a worker needs it, once: the problem, the recipe of its method, and what the run wants."""

    problem: Problem
    recipe: Recipe
    state: dict[str, np.ndarray]
    gap: float
    keeps: int
    within: float
    seed: int | None
    sample: Bundle | None = None  # a node to warm up with

    def desk(self, link: Link) -> SearchDesk:
        """Where a worker does the units of this search; kernels and models are loaded by then."""
        desk = SearchDesk(self, link)
        if self.sample is not None:
            desk.work(0, Unit([self.sample], math.inf, WARM, left=WARM, nodes=1))
        return desk


class SearchDesk:
    """A method and a run of its own, kept from unit to unit.

    A node is closed by the cutoff that came with the unit, by a newer one that the link heard of, or by the best sets
    of this very run. The first two belong to sets that the supervisor has, and the last go into every answer: nobody
    rests on a set that may get lost.
    """

    def __init__(self, job: SearchJob, link: Link) -> None:
        self.job, self.link = job, link
        self.run = Run(job.problem, Limits(gap=job.gap), seed=job.seed, keeps=job.keeps, within=job.within)
        self.run.link = link
        self.method = job.recipe(job.problem, self.run)
        if job.state:
            self.method.restore(job.state)

    def work(self, number: int, unit: Unit) -> UnitAnswer:
        """Expand the bundles of a unit, least bound first, until it is over or nothing is open."""
        began, cpu = time.perf_counter(), time.thread_time()
        nodes_before, counts = self.run.nodes, self.method.counts()
        self.link.begin(number, unit.seconds)
        self._limit(unit)
        with count_oracle_calls() as tally:
            frontier, closed, cuts = self._search(unit)
        masks, values = self.run.best_sets()
        return UnitAnswer(
            [packed(bundle, self.method.guides) for _, _, bundle in frontier.heap],
            self.run.nodes - nodes_before,
            closed,
            masks,
            values,
            time.perf_counter() - began,
            time.thread_time() - cpu,
            tally.calls,
            cuts,
            {name: count - counts.get(name, 0) for name, count in self.method.counts().items()},
        )

    def _limit(self, unit: Unit) -> None:
        seconds = None if math.isinf(unit.left) else self.run.seconds + unit.left
        nodes = None if math.isinf(unit.nodes) else self.run.nodes + int(unit.nodes)
        self.run.limits = Limits(seconds, nodes, self.job.gap)

    def _search(self, unit: Unit) -> tuple[Frontier, float, int | None]:
        run, link = self.run, self.link
        frontier, closed, cuts = Frontier(), math.inf, None
        for bundle in unit.bundles:
            frontier.push(unpacked(bundle))
        while frontier.heap:
            link.used = cutoff = min(unit.cutoff, link.cutoff(), run.cutoff)
            if frontier.lower >= cutoff:
                return Frontier(), min(closed, frontier.lower), cuts
            if self.method.mixes and len(frontier.heap) > 1:
                frontier = mixed(frontier)
            expansion = self.method.expand(frontier.heap[0][2], cutoff)
            closed, cuts = min(closed, expansion.closed), expansion.cuts
            run.nodes += expansion.nodes
            improved = run.offer(expansion.masks, expansion.values, expansion.source)
            frontier.replace_first(expansion.bundles)
            if improved or (run.lists and len(expansion.values)):
                link.report(*run.best_sets())
            if link.over() or run.nodes_left <= 0 or run.seconds_left <= 0:
                break
        return frontier, closed, cuts


def mixed(frontier: Frontier) -> Frontier:
    """All bundles as one, least bound last, where a search that goes deep begins: batches are full from the start.

    What only some of them carry is left behind.
    """
    bundles = [bundle for _, _, bundle in sorted(frontier.heap, key=lambda entry: entry[:2], reverse=True)]
    common = [key for key in bundles[0] if all(key in bundle for bundle in bundles)]
    whole = Frontier()
    whole.push(concatenate([{key: bundle[key] for key in common} for bundle in bundles]))
    return whole


def describe(error: BaseException) -> Any:
    """An exception as it can travel: itself if it can be pickled, else its words."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
