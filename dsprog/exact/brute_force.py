"""Evaluate every set: the referee for all other solvers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count
from dsprog.exact.few_sets import FewSets, few_sets
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.modular_bound import ModularBound
from dsprog.run.needs import Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

LARGEST = 25
MOST = 1 << 20  # sets that are listed


@dataclass(frozen=True)
class BruteForce(Solver):
    """All 2**n sets in batches, n up to 25; or all that sizes and blocks leave, up to a million, for any n.

    Needs no knowledge of the functions, so its result is always certified once it is through. Before that its bound is
    the modular one of the interval of all sets, where f and g are known to be submodular.

    Parameters
    ----------
    batch : int
        Sets evaluated at once, at most.

    Examples
    --------
    >>> import dsprog as ds
    >>> result = ds.minimize(ds.Modular([1.0, -2.0]) - ds.CardinalityConcave(2), ds.BruteForce())
    >>> result.S, result.value, result.certified
    ((1,), -3.0, True)
    """

    lists: ClassVar[bool] = True

    batch: int = 1 << 14

    def __post_init__(self) -> None:
        as_count(self.batch, "batch", least=1)

    def needs(self) -> tuple[Need, ...]:
        """2**25 sets take minutes."""
        return (FEW,)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Enumerate in the order of binary counting, or by size; of tied sets the first wins."""
        n = problem.n
        if problem.objective.is_certifiable:
            run.raise_bound(root_bound(problem))
        few = problem.derived(few_sets)
        if few.count <= MOST and few.count < 1 << n:
            return self._listed(problem, run, few)
        bits, first, size = np.arange(n), 0, 1
        while first < 1 << n:
            reason = run.stop_reason()
            if reason is not None:
                return Verdict(reason)
            left = int(min((1 << n) - first, run.nodes_left))
            numbers = np.arange(first, min(first + min(size, left), 1 << n))
            first, size = int(numbers[-1]) + 1, min(2 * size, self.batch)  # small at first, so that a limit finds some
            masks = (numbers[:, None] >> bits) & 1 == 1
            masks = masks[problem.feasible(masks)] if problem.constraints else masks
            run.offer(masks, problem.objective.values(masks), "enumeration")
            run.progress(first, (1 << n) - first, "enumeration")
        return self._all_seen(run, 1 << n)

    def _listed(self, problem: Problem, run: Run, few: FewSets) -> Verdict:
        """The sets that sizes and blocks leave; the nodes of the run are counted."""
        seen, done = 0, min(few.count, run.nodes_left)

        def sizes() -> Iterator[int]:
            for power in itertools.count():
                yield int(min(1 << min(power, 62), self.batch, done - seen))

        for masks in few.batches(sizes()):
            seen += len(masks)
            masks = masks[problem.feasible(masks)]
            run.offer(masks, problem.objective.values(masks), "enumeration")
            run.progress(seen, few.count - seen, "enumeration")
            reason = run.stop_reason() if seen < few.count else None
            if reason is not None:
                return Verdict(reason)
        if seen < few.count:  # not one was allowed
            return Verdict(run.stop_reason() or "node_limit")
        return self._all_seen(run, few.count)

    def _all_seen(self, run: Run, count: int) -> Verdict:
        run.raise_bound(run.value)
        return Verdict("infeasible") if run.mask is None else Verdict("optimal", f"all {count:,} sets were evaluated")


def keeps_few(problem: Problem) -> bool:
    """Whether all sets can be looked at."""
    return problem.n <= LARGEST or problem.derived(few_sets).count <= MOST


FEW = Need(f"n <= {LARGEST} elements, or at most {MOST:,} sets", keeps_few, "use another solver")


def root_bound(problem: Problem) -> float:
    """The modular bound of the interval of all sets.

    It takes the values of ∅, V, the single elements and their complements, and no marginals: these are a kernel more
    to be compiled, which nothing else here needs.
    """
    ones = np.eye(problem.n, dtype=bool)
    nodes = {"lower": np.array([-np.inf]), "I": np.zeros((1, problem.n), dtype=bool)}
    nodes["U"] = ~nodes["I"]
    for name, side in (("f", problem.objective.f), ("g", problem.objective.g)):
        nodes[f"{name}_I"], nodes[f"{name}_U"] = side.values(nodes["I"]), side.values(nodes["U"])
        nodes[f"d{name}_I"] = (side.values(ones) - nodes[f"{name}_I"])[None]
        nodes[f"d{name}_U"] = (nodes[f"{name}_U"] - side.values(~ones))[None]
    nodes["stale_I"] = nodes["stale_U"] = np.array([False])
    ends = Ends(problem.objective.f, problem.objective.g)
    return float(ModularBound(ends, persistency=False).tighten(nodes, np.inf).nodes["lower"][0])
