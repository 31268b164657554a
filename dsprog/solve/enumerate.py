"""The K best sets, or all within a distance of the best."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dsprog.core.constraints import Constraint
from dsprog.core.problem import as_problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_count, as_number, elements
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.run.run import Callback, Limits, Monitor
from dsprog.run.solver import Solver
from dsprog.solve.minimize import run


@dataclass(frozen=True)
class BestSets:
    """The best sets in order of their values; iterate over (S, value) pairs.

    ``certified`` means that no other feasible set has a smaller value than the last one listed (or, if fewer than k
    are listed, that no other lies within the distance asked for).
    """

    sets: tuple[tuple[int, ...], ...]
    values: tuple[float, ...]
    status: str
    certified: bool
    message: str
    nodes: int
    seconds: float
    oracle_calls: int

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], float]]:
        return iter(zip(self.sets, self.values))

    def __len__(self) -> int:
        return len(self.sets)


def enumerate_best(
    objective: SetFunction,
    k: int = 10,
    within: float | None = None,
    *,
    solver: Solver | None = None,
    constraints: Iterable[Constraint] = (),
    time_limit: float | None = None,
    node_limit: int | None = None,
    seed: int | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> BestSets:
    """The k feasible sets of least value, exactly.

    Ties: the values are those of the k best sets, up to rounding. Where several sets tie for the last places, which
    of them are listed is not determined by the objective, but the same call lists the same ones.

    Parameters
    ----------
    objective : SetFunction
    k : int
        How many sets.
    within : float, optional
        Only sets whose value is at most this much above the best.
    solver : BranchAndBound or BruteForce, optional
    constraints, time_limit, node_limit, seed, verbose, callback, checkpoint
        As in :func:`dsprog.minimize`.

    Examples
    --------
    >>> import dsprog as ds
    >>> best = ds.enumerate_best(ds.Modular([1.0, -2.0, 0.5]), k=3)
    >>> list(best)
    [((1,), -2.0), ((1, 2), -1.5), ((0, 1), -1.0)]
    """
    chosen = BranchAndBound() if solver is None else solver
    if not isinstance(chosen, (BranchAndBound, BruteForce)):
        raise TypeError(f"solver must be BranchAndBound or BruteForce to list the best sets, got {chosen!r}")
    distance = math.inf if within is None else as_number(within, "within")
    if distance < 0:
        raise ValueError(f"within must be at least 0, got {within}")
    problem = as_problem(objective, constraints)
    keeps = max(2, as_count(k, "k", least=1))  # one set is listed as the first of two
    monitor = Monitor(problem, Limits(time_limit, node_limit), seed, verbose, callback, keeps, distance)
    verdict, calls = run(problem, chosen, monitor, checkpoint=checkpoint)
    masks, values = monitor.best_sets()
    listed = (values <= monitor.value + distance + problem.slack) if len(values) else values.astype(bool)
    masks, values = masks[listed][:k], problem.objective.values(masks[listed][:k])
    certified = verdict.status == "optimal"
    message = (
        "Proved: no other feasible set is better than these." if certified else "Not proved: the search did not end."
    )
    if verdict.reason:
        message = f"Not proved: {verdict.reason}."
    sets = tuple(elements(mask) for mask in masks)
    return BestSets(
        sets, tuple(values.tolist()), verdict.status, certified, message, monitor.nodes, monitor.seconds, calls
    )
