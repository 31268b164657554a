"""Evaluate every set: the referee for all other solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.modular_bound import ModularBound
from dsprog.run.needs import Need, at_most
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

LARGEST = 25


@dataclass(frozen=True)
class BruteForce(Solver):
    """All 2**n sets in batches; n up to 25.

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
        return (at_most(LARGEST),)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Enumerate in the order of binary counting; of tied sets the first wins."""
        n = problem.n
        if problem.objective.is_certifiable:
            run.raise_bound(root_bound(problem))
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
        run.raise_bound(run.value)
        if run.mask is None:
            return Verdict("infeasible")
        return Verdict("optimal", f"all {1 << n:,} sets were evaluated")


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
