"""Evaluate every set: the referee for all other solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.checkpoint import Checkpoint
from dsprog.monitor import Monitor, Verdict
from dsprog.problem import Problem
from dsprog.solvers.solver import Solver

LARGEST = 25


@dataclass(frozen=True)
class BruteForce(Solver):
    """All 2**n sets in batches; n up to 25.

    Needs no knowledge of the functions, so its result is always certified once it is through; before that it has no
    bound.

    Parameters
    ----------
    batch : int
        Sets evaluated at once.

    Examples
    --------
    >>> import dsprog as ds
    >>> result = ds.minimize(ds.Modular([1.0, -2.0]) - ds.CardinalityConcave(2), ds.BruteForce())
    >>> result.S, result.value, result.certified
    ((1,), -3.0, True)
    """

    batch: int = 1 << 14

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Enumerate in the order of binary counting; of tied sets the first wins."""
        n = problem.n
        if n > LARGEST:
            raise ValueError(f"BruteForce enumerates up to n = {LARGEST}, got n = {n}: use another solver")
        bits = np.arange(n)
        for first in range(0, 1 << n, self.batch):
            reason = monitor.stop_reason()
            if reason is not None:
                return Verdict(reason)
            numbers = np.arange(first, min(first + self.batch, 1 << n))
            masks = (numbers[:, None] >> bits) & 1 == 1
            masks = masks[problem.feasible(masks)] if problem.constraints else masks
            monitor.offer(masks, problem.objective.values(masks), "enumeration")
            monitor.progress(int(numbers[-1]) + 1, (1 << n) - int(numbers[-1]) - 1, "enumeration")
        monitor.raise_bound(monitor.value)
        if monitor.mask is None:
            return Verdict("infeasible")
        return Verdict("optimal", f"all {1 << n:,} sets were evaluated")
