"""Interval branch and bound: the exact solver that users run.

A node is an interval [I, U], the sets between I and U. Batches of nodes are bounded at once, elements are fixed where
the bounds allow, and what is left is split on one element: depth first inside a unit of work, least bound first
between units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.approximate.local_search import offer_local_optima
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.submodularity import refuse_refuted
from dsprog.core.validation import Floats, Masks
from dsprog.exact.interval.bound import Bound, free
from dsprog.exact.interval.dual_bound import DualBound
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.majorant import Majorant
from dsprog.exact.interval.modular_bound import ModularBound
from dsprog.exact.interval.monotone_bound import MonotoneBound, monotone_parts
from dsprog.exact.interval.pairs_bound import PairsBound, has_pairs
from dsprog.exact.interval.shared_curvature import share_curvature
from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound, is_penalised_regression
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.driver import Bundle, Expansion, Method, branch_and_bound, concatenate, take
from dsprog.run.run import Monitor, Verdict
from dsprog.run.solver import SearchSolver

KEPT = ("lower", "I", "U", "x")  # what a node is made of; the rest is computed again
BOUNDS = ("modular", "dual", "monotone", "pairs")


@dataclass(frozen=True)
class BranchAndBound(SearchSolver):
    """Interval branch and bound, the default of :func:`dsprog.minimize`.

    Parameters
    ----------
    bounds : tuple of {"modular", "dual", "monotone", "pairs"}, optional
        Which bounds to use. By default what the functions know decides: "modular" and "dual" where f and g are
        submodular, "monotone" where the objective is a sum of monotone terms and that bound is better at the root,
        with "pairs" where information with a class is rewarded and columns cost something; least squares with
        submodular terms is solved by :class:`PerspectiveBranchAndBound`.
    extensions : bool
        Whether the dual bound uses concave extensions of g.
    steps : int
        Subgradient steps of the dual bound at each node.
    batch : int
        Nodes bounded at once.
    leaf : int
        Free elements up to which a node is enumerated.
    unit : int
        Nodes in a unit of work.
    starts : int
        Local searches before the search.

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.generators import concave_difference
    >>> result = ds.minimize(concave_difference(20, seed=0), ds.BranchAndBound())
    >>> result.certified
    True
    """

    bounds: tuple[str, ...] | None = None
    extensions: bool = True
    steps: int = 4
    batch: int = 512
    leaf: int = 2
    unit: int = 50_000
    starts: int = 20

    keeps_checkpoints: ClassVar[bool] = True
    reduces: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        for name in self.bounds or ():
            if name not in BOUNDS:
                raise ValueError(f"bounds must be among {', '.join(BOUNDS)}, got {name!r}")

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Search intervals; least squares with a submodular penalty goes to its own search."""
        if self.bounds is None and is_penalised_regression(problem):
            return PerspectiveBranchAndBound().solve(problem, monitor, checkpoint)
        return branch_and_bound(self.method(problem, monitor), monitor, checkpoint)

    def method(self, problem: Problem, monitor: Monitor) -> IntervalSearch:
        """Bound the root, and start from local optima."""
        method = IntervalSearch(problem, self, keep_all=monitor.keeps > 1)
        method.monitor = monitor
        if method.valid:  # before anything that takes time, so that every limit leaves a bound
            monitor.raise_bound(method.root_bound)
        offer_local_optima(problem, monitor, self.starts)
        return method


class IntervalSearch(Method):
    """The mathematics of a run: how nodes are bounded, fixed and split."""

    def __init__(self, problem: Problem, options: BranchAndBound, keep_all: bool = False) -> None:
        self.problem, self.options, self.keep_all = problem, options, keep_all
        self.objective, self.n = problem.objective, problem.n
        self.integral = self.objective.knows.integral is True
        rows = problem.rows
        symmetric_rows = bool(np.allclose(rows.lo + rows.hi, rows.A.sum(axis=1)))  # S is feasible exactly if V∖S is
        self.symmetric = self.objective.knows.symmetric is True and symmetric_rows and not keep_all
        self.monitor: Monitor | None = None  # asked once a batch, where the run can be seen
        self.f, self.g = share_curvature(self.objective.f, self.objective.g)
        self.ends = Ends(self.f, self.g)
        self.majorant = Majorant(self.g, options.extensions)
        rated = [(self._root_bound(bounds), bounds) for bounds in self._candidates()]
        self.root_bound, self.bounds = max(rated, key=lambda pair: pair[0])  # the first of equals

    # -- which bounds -----------------------------------------------------------------------------------------------

    def _candidates(self) -> list[list[Bound]]:
        """Sets of bounds that fit the objective; the best at the root is taken."""
        parts = monotone_parts(self.objective)
        names = self.options.bounds
        if names is not None:
            if {"monotone", "pairs"} & set(names) and parts is None:
                raise ValueError("bounds: monotone needs an objective whose terms are all known to be monotone")
            if "pairs" in names and (parts is None or not has_pairs(*parts)):
                raise ValueError(
                    "bounds: pairs needs an objective that rewards information with a class and charges columns"
                )
            self._judge(submodular=any(name not in ("monotone", "pairs") for name in names))
            return [[self._build(name) for name in names]]
        # Where tangents are all that it needs, the dual bound goes first: it closes half of all nodes, and only the
        # others need marginals at both ends.
        order = ("dual", "modular") if self.majorant.all_tangible else ("modular", "dual")
        submodular = [self._build(name) for name in order]
        if parts is None:
            self._judge(submodular=True)
            return [submodular]
        monotone = [self._build("monotone"), *([self._build("pairs")] if has_pairs(*parts) else [])]
        if not self.objective.is_certifiable:
            return [monotone]
        lost_by_splitting = any(term.function.split() is not None for term in self.objective.terms)
        return [submodular, monotone] if lost_by_splitting else [submodular]

    def _judge(self, submodular: bool) -> None:
        """Say whether the chosen bounds are proved, and refuse functions that a sample shows not to be submodular."""
        if not submodular or self.objective.is_certifiable:
            return
        for name, side in (("f", self.objective.f), ("g", self.objective.g)):
            refuse_refuted(side, name)
        unknown = "f" if self.objective.f.knows.submodular is not True else "g"
        self.valid = False
        self.reason = f"{unknown} is not known to be submodular (declare it, or decompose the objective)"

    def _build(self, name: str) -> Bound:
        if name == "modular":
            return ModularBound(self.ends, persistency=not self.keep_all and len(self.problem.rows) == 0)
        if name == "dual":
            return DualBound(self.f, self.majorant, self.problem.rows, self.options.steps)
        parts = monotone_parts(self.objective)
        assert parts is not None
        return PairsBound(*parts) if name == "pairs" else MonotoneBound(*parts)

    def _root_bound(self, bounds: list[Bound]) -> float:
        self.bounds = bounds
        nodes = self._prepared(self.root())
        for bound in bounds:
            nodes = bound.tighten(nodes, np.inf).nodes
        return float(nodes["lower"][0]) if len(nodes["lower"]) else np.inf

    @property
    def _needs_ends(self) -> bool:
        return any(bound.name in ("modular", "dual") for bound in self.bounds)

    @property
    def leader(self) -> Bound:
        """The bound that says where to branch: by curvature where there are marginals at both ends."""
        return next((bound for bound in self.bounds if bound.name == "modular"), self.bounds[0])

    # -- the method -------------------------------------------------------------------------------------------------

    def root(self) -> Bundle:
        """All sets."""
        I = np.zeros((1, self.n), dtype=bool)
        return {"lower": np.array([-np.inf]), "I": I, "U": ~I, "x": np.full((1, self.n), 0.5)}

    def proof(self) -> str:
        """Which bounds closed the intervals."""
        return f"interval branch and bound with {' and '.join(bound.name for bound in self.bounds)} bounds"

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search depth first from a bundle, until the unit is done or a better set asks for a new cutoff."""
        stack = [self._prepared(bundle)]
        nodes, closed = 0, np.inf
        found: list[tuple[Masks, Floats]] = []
        while stack and nodes < self.options.unit:
            if self._pauses(nodes, stack):
                break
            batch = self._pop(stack)
            untouched = dict(batch)
            try:
                children, reached, masks, values = self._process(batch, cutoff)
            except KeyboardInterrupt:  # what the unit has proved so far is reported before the run ends
                if self.monitor is None:
                    raise
                stack.append(untouched)
                self.monitor.interrupted = True
                break
            nodes += len(untouched["lower"])
            closed = min(closed, reached)
            if len(children["lower"]):
                stack.append(children)
            better = values < cutoff
            if better.any():
                found.append((masks[better], values[better]))
                if not self.keep_all:
                    break
        masks = np.concatenate([np.zeros((0, self.n), dtype=bool), *(m for m, _ in found)])
        values = np.concatenate([np.zeros(0), *(v for _, v in found)])
        left = [{key: part[key] for key in KEPT} for part in stack]
        return Expansion(left, nodes, masks, values, closed, "search")

    def _pauses(self, nodes: int, stack: list[Bundle]) -> bool:
        """Whether the monitor wants a unit to stop early."""
        open = sum(len(part["lower"]) for part in stack)
        return self.monitor is not None and self.monitor.pause(nodes, open, "search")

    def _prepared(self, bundle: Bundle) -> Bundle:
        nodes = dict(bundle)
        if self._needs_ends:
            self.ends.prepare(nodes)
        for bound in self.bounds:
            bound.prepare(nodes)
        return nodes

    def _pop(self, stack: list[Bundle]) -> Bundle:
        size, parts, taken = self.options.batch, [], 0
        while stack and taken < size:
            part = stack.pop()
            if taken + len(part["lower"]) > size:
                cut = len(part["lower"]) - (size - taken)
                stack.append(take(part, slice(0, cut)))
                part = take(part, slice(cut, None))
            parts.append(part)
            taken += len(part["lower"])
        return concatenate(parts)

    def _process(self, nodes: Bundle, cutoff: float) -> tuple[Bundle, float, Masks, Floats]:
        """Bound, fix and split a batch; return the children, the least bound closed, and sets with their values."""
        nodes = self._propagate(nodes)
        closed = np.inf
        for bound in self.bounds:
            settled = []
            while len(nodes["lower"]):
                tightened = bound.tighten(nodes, cutoff)
                nodes, closed = tightened.nodes, min(closed, tightened.closed)
                self._move(nodes, tightened.include, tightened.exclude)
                again = (tightened.include | tightened.exclude).any(axis=1) & (bound.name != "dual")
                settled.append(take(nodes, ~again))
                nodes = take(nodes, again)
            nodes, reached = self._round(concatenate([*settled, nodes]), cutoff)
            closed = min(closed, reached)
        nodes = self._propagate(nodes)
        nodes, masks, values = self._finish(nodes)
        return self._split(nodes), closed, masks, values

    def _propagate(self, nodes: Bundle) -> Bundle:
        if len(self.problem.rows) == 0:
            return nodes
        include, exclude, feasible = propagate(self.problem.rows, nodes)
        self._move(nodes, include, exclude)
        return take(nodes, feasible)

    def _move(self, nodes: Bundle, include: Masks, exclude: Masks) -> bool:
        """Fix elements and let everything that rests on I and U follow."""
        if not (include.any() or exclude.any()):
            return False
        nodes["I"], nodes["U"] = nodes["I"] | include, nodes["U"] & ~exclude
        if self._needs_ends:
            self.ends.moved(nodes, include, exclude)
        for bound in self.bounds:
            bound.moved(nodes, include, exclude)
        return True

    def _round(self, nodes: Bundle, cutoff: float) -> tuple[Bundle, float]:
        """Integral objectives have integral bounds."""
        if not self.integral or len(nodes["lower"]) == 0:
            return nodes, np.inf
        nodes["lower"] = np.ceil(nodes["lower"] - 1e-6)
        keep = nodes["lower"] < cutoff
        return take(nodes, keep), float(nodes["lower"][~keep].min(initial=np.inf))

    def _finish(self, nodes: Bundle) -> tuple[Bundle, Masks, Floats]:
        """Enumerate small nodes, and round the points of the others."""
        sizes = free(nodes).sum(axis=1)
        small = sizes <= self.options.leaf
        parts = [subsets(take(nodes, small & (sizes == size)), size) for size in range(self.options.leaf + 1)]
        if self._needs_ends:  # the dual bound has moved x
            parts.append((nodes["x"][~small] >= 0.5) & nodes["U"][~small] | nodes["I"][~small])
        masks = np.concatenate(parts)
        masks = masks[self.problem.feasible(masks)] if len(self.problem.rows) else masks
        return take(nodes, ~small), masks, self.objective.values(masks)

    def _split(self, nodes: Bundle) -> Bundle:
        """Two children for each node: with the element of the best score, and without it."""
        rows = np.arange(len(nodes["lower"]))
        children = take(nodes, np.repeat(rows, 2))
        if len(rows) == 0:
            return children
        scores = np.where(free(nodes), self.leader.scores(nodes), -np.inf)
        chosen = np.zeros(nodes["I"].shape, dtype=bool)
        chosen[rows, scores.argmax(axis=1)] = True
        include, exclude = np.zeros_like(children["I"]), np.zeros_like(children["I"])
        include[0::2], exclude[1::2] = chosen, chosen
        if self.symmetric:  # of S and V∖S only the one with the first element that is split on
            whole = ~children["I"].any(axis=1) & children["U"].all(axis=1)
            keep = ~(whole & exclude.any(axis=1))
            children, include, exclude = take(children, keep), include[keep], exclude[keep]
        self._move(children, include, exclude)
        return children


def subsets(nodes: Bundle, size: int) -> Masks:
    """All sets of intervals that have ``size`` free elements each."""
    codes = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1 == 1
    count = len(nodes["I"])
    masks = np.repeat(nodes["I"], len(codes), axis=0)
    if size and count:
        columns = np.nonzero(free(nodes))[1].reshape(count, size)
        rows = np.arange(count * len(codes))[:, None]
        masks[rows, np.repeat(columns, len(codes), axis=0)] = np.tile(codes, (count, 1))
    return masks
