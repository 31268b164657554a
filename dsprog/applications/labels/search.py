"""The exact end of any problem: bound, prune, fall apart, branch on the labels of a site, and so on.

A node is a problem with the labels that are allowed. Sweeps raise its bound, and labels whose rise reaches the goal are
removed. A site with one label left is a constant to its neighbours, so the others may fall into parts that do not know
each other: their minima add up, and each is a problem of its own with a gap of its own, much smaller than the whole.
A narrow part is eliminated, and in any other one a site takes one of its labels after the other.

With a *goal* no better labelling than which is looked for, a node proves

    E(x) >= min(goal, bound over the labels left)      for all labellings allowed at first,

since what was removed costs at least the goal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsprog.applications.labels.dual import Dual, LabelBound
from dsprog.applications.labels.fusion import fuse
from dsprog.applications.labels.label_problem import LabelProblem, free_sites
from dsprog.applications.labels.narrow import eliminate, narrow_order
from dsprog.core.validation import Ints

SWEEPS = 4  # between two bounds
STALLED = 0.05  # of the gap: sweeps that close less end the ascent of a node
DEEPEST = 200  # branchings on the way to a node; one deeper is left open


@dataclass
class BestLabelling:
    """The best labelling of a problem so far."""

    problem: LabelProblem
    x: Ints
    energy: float

    @staticmethod
    def of(problem: LabelProblem, x: Ints) -> BestLabelling:
        """A first one."""
        return BestLabelling(problem, x, problem.energy(x))

    def goal(self, cutoff: float = math.inf) -> float:
        """A bound that proves the labelling, or reaches ``cutoff``."""
        return min(cutoff, self.problem.target(self.energy))

    def offer(self, x: Ints) -> None:
        """Keep a labelling if it is better."""
        energy = self.problem.energy(x)
        if energy < self.energy:
            self.x, self.energy = x, energy

    def fuse(self, y: Ints) -> bool:
        """Keep the best mixture with a proposal; whether that is better."""
        before = self.energy
        self.x, self.energy = fuse(self.problem, self.x, self.energy, y)
        return self.energy < before


class LabelSearch:
    """A depth-first search; ``stop`` says when it is over, ``nodes`` how far it came."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self.stop, self.nodes = stop, 0

    def settle(self, dual: Dual, best: BestLabelling, cutoff: float = math.inf, depth: int = 0) -> float:
        """Improve ``best``, and return a bound on all labellings that ``dual`` allows.

        It ends early at a bound of ``cutoff``, and when the search is over. Messages and labels of ``dual`` change.
        """
        self.nodes += 1
        bound = ascend(dual, best, cutoff, self.stop)
        goal = best.goal(cutoff)
        if bound.lower >= goal or depth >= DEEPEST or self.stop():
            return dual.problem.steps.rounded(min(goal, bound.lower))
        free = free_sites(dual.allowed)
        parts = components(dual.problem, free)
        if len(parts) == 1 and len(free) == dual.problem.n:
            lower = self.decide(dual, bound, best, cutoff, depth)
        else:
            lower = self.split(dual, parts, bound, best, goal, depth)
        return dual.problem.steps.rounded(min(lower, best.goal(cutoff)))

    def split(
        self, dual: Dual, parts: list[Ints], bound: LabelBound, best: BestLabelling, goal: float, depth: int
    ) -> float:
        """Settle the parts one by one: E = what is fixed + Σ of their energies."""
        problem = dual.problem
        x = np.where(dual.allowed[np.arange(problem.n), best.x], best.x, bound.rises.argmin(axis=1))
        pieces = [piece_of(dual, sites, x) for sites in parts]
        fixed = problem.energy(x) - math.fsum(own.energy for _, own in pieces) - problem.slack
        lowers = [piece.bound().lower for piece, _ in pieces]
        for k, (piece, own) in enumerate(pieces):
            others = fixed + math.fsum(lowers) - lowers[k]
            lowers[k] = max(lowers[k], self.settle(piece, own, goal - others, depth + 1))
            x[parts[k]] = own.x
        best.offer(x)
        return max(bound.lower, fixed + math.fsum(lowers) - problem.slack)

    def decide(self, dual: Dual, bound: LabelBound, best: BestLabelling, cutoff: float, depth: int) -> float:
        """Eliminate a narrow problem; otherwise try the labels of a site."""
        order = narrow_order(dual.problem, dual.allowed)
        if order is not None:
            x, lower = eliminate(dual.problem, dual.allowed, order)
            best.offer(x)
            return lower
        site = branching_site(dual.problem)
        lower = math.inf
        for a in np.argsort(bound.rises[site], kind="stable")[: dual.allowed[site].sum()]:
            at_least = bound.lower + bound.rises[site, a]
            if at_least < best.goal(cutoff) and not self.stop():
                child = Dual(dual.problem, dual.allowed.copy(), dual.messages.copy())
                child.allowed[site] = False
                child.allowed[site, a] = True
                at_least = max(at_least, self.settle(child, best, cutoff, depth + 1))
            lower = min(lower, at_least)
        return lower


def ascend(dual: Dual, best: BestLabelling, cutoff: float, stop: Callable[[], bool]) -> LabelBound:
    """Sweep and prune until the goal is reached, the ascent has stalled, or the search is over."""
    bound, _ = sweep_and_prune(dual, best, cutoff, 0, stop)
    while bound.lower < (goal := best.goal(cutoff)) and not stop():
        before = bound.lower
        bound, _ = sweep_and_prune(dual, best, cutoff, SWEEPS, stop)
        if bound.lower - before < STALLED * (goal - bound.lower):
            break
    return bound


def sweep_and_prune(
    dual: Dual, best: BestLabelling, cutoff: float, sweeps: int, stop: Callable[[], bool]
) -> tuple[LabelBound, Ints]:
    """Some sweeps; the bound before labels were removed, infinite if none is left, and the last labelling."""
    labels = best.x
    for k in range(sweeps):
        if stop():
            break
        labels = dual.sweep(forward=k % 2 == 0)
        best.offer(labels)
    bound = dual.bound()
    if dual.prune(bound, best.goal(cutoff)) and dual.is_empty:
        bound = dual.bound()
    return bound, labels


def piece_of(dual: Dual, sites: Ints, x: Ints) -> tuple[Dual, BestLabelling]:
    """The part of some sites, all others labelled as in ``x``, with a first labelling."""
    problem, edges = dual.problem.part(sites, x)
    return Dual(problem, dual.allowed[sites], dual.messages[edges]), BestLabelling.of(problem, x[sites])


def components(problem: LabelProblem, free: Ints) -> list[Ints]:
    """The free sites, those together that edges join, small parts first."""
    import scipy.sparse as sparse

    inside = np.zeros(problem.n, dtype=bool)
    inside[free] = True
    kept = inside[problem.first] & inside[problem.second]
    ends = problem.first[kept], problem.second[kept]
    graph = sparse.coo_array((np.ones(len(ends[0])), ends), shape=(problem.n, problem.n))
    part = sparse.csgraph.connected_components(graph, directed=False)[1][free]
    groups = np.split(free[np.argsort(part, kind="stable")], np.cumsum(np.bincount(part))[:-1]) if len(free) else []
    return sorted(groups, key=len)


def branching_site(problem: LabelProblem) -> int:
    """The site that edges bind most: those around it are freed, and what is left is sooner narrow."""
    strength = np.abs(problem.weights) * np.ptp(problem.tables, axis=(1, 2))[problem.which]
    ends = np.concatenate([problem.first, problem.second])
    return int(np.bincount(ends, np.concatenate([strength, strength]), problem.n).argmax())
