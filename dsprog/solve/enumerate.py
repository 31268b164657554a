"""The K best sets, or all within a distance of the best."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from dsprog.core.constraints import Constraint
from dsprog.core.labels import Labels
from dsprog.core.oracle import Tally, count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_count, as_number, elements
from dsprog.pictures.html import table
from dsprog.run.limits import Limits
from dsprog.run.result import WorkerShare, relative_gap
from dsprog.run.run import Callback, Run
from dsprog.run.solver import Solver
from dsprog.run.workers.crew import crew_of
from dsprog.solve.minimize import check_solver_object, opened
from dsprog.solve.pipeline import Asked, Walked, begun, prepared, walk


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
    solver: str = ""
    presolve: str = ""
    lower_bound: float = -math.inf
    names: Labels | None = field(default=None, repr=False)
    workers: tuple[WorkerShare, ...] = ()

    @property
    def gap(self) -> float:
        """How far the last set listed may lie above what is proved, relative to its value; 0 where certified."""
        return 0.0 if self.certified else relative_gap(self.values[0] if self.values else math.inf, self.lower_bound)

    @property
    def labels(self) -> tuple[tuple[Hashable, ...], ...]:
        """The names of the elements in each set; their numbers if they have no names."""
        return self.sets if self.names is None else tuple(tuple(self.names[j] for j in S) for S in self.sets)

    def _lines(self) -> list[tuple[str, str, str]]:
        """Rank, value and set of each."""
        pairs = zip(self.values, self.labels)
        return [(str(k), f"{value:.10g}", f"{{{', '.join(map(str, S))}}}") for k, (value, S) in enumerate(pairs, 1)]

    def _ending(self) -> str:
        """Bound, gap and what is proved, in a sentence."""
        gap = "" if math.isinf(self.gap) else f" (gap {self.gap:.2g})"
        return f"{self.status}. {self.message} Lower bound of all: {self.lower_bound:.10g}{gap}."

    def __str__(self) -> str:
        lines = [f"{rank:>4}  {value:>16}  {S}" for rank, value, S in [("rank", "value", "set"), *self._lines()]]
        return "\n".join([*lines, self._ending()])

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        return table("Best sets", ("rank", "value", "set"), self._lines()) + f"<p>{escape(self._ending())}</p>"

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], float]]:
        return iter(zip(self.sets, self.values))

    def __len__(self) -> int:
        return len(self.sets)


def enumerate_best(
    objective: SetFunction | Problem,
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
    reduce: bool | None = None,
    workers: Any = 1,
) -> BestSets:
    """The k feasible sets of least value, exactly.

    Ties: the values are those of the k best sets, up to rounding. Where several sets tie for the last places, which
    of them are listed is not determined by the objective, but the same call lists the same ones.

    Parameters
    ----------
    objective : SetFunction or Problem
    k : int
        How many sets.
    within : float, optional
        Only sets whose value is at most this much above the best.
    solver : Solver, optional
        One that lists: BranchAndBound, QuadraticBranchAndBound, PerspectiveBranchAndBound or BruteForce.
    constraints, time_limit, node_limit, seed, verbose, callback, checkpoint, reduce, workers
        As in :func:`dsprog.minimize`; of presolve only those steps are taken that lose no set, ``presolve`` says which
        were left out.

    Examples
    --------
    >>> import dsprog as ds
    >>> best = ds.enumerate_best(ds.Modular([1.0, -2.0, 0.5]), k=3)
    >>> list(best)
    [((1,), -2.0), ((1, 2), -1.5), ((0, 1), -1.0)]
    """
    distance = math.inf if within is None else as_number(within, "within")
    if distance < 0:
        raise ValueError(f"within must be at least 0, got {within}")
    problem = prepared(objective, constraints)
    check_solver_object(solver, checkpoint)
    if solver is not None and not solver.lists:
        raise TypeError(f"solver must be one that lists the best sets, such as BranchAndBound(), got {solver!r}")
    keeps = max(2, as_count(k, "k", least=1))  # one set is listed as the first of two
    limits, crew = Limits(time_limit, node_limit), crew_of(workers, problem)
    with count_oracle_calls() as tally:
        section = opened(checkpoint, problem, solver, {"k": str(keeps), "within": str(within)})
        run = begun(problem, limits, seed, verbose, callback, section, keeps, distance, crew)
        walked = walk(problem, run, Asked(solver, reduce=reduce))
        return build_best_sets(problem, run, walked, k, tally)


def build_best_sets(problem: Problem, run: Run, walked: Walked, k: int, tally: Tally) -> BestSets:
    """The first k of what the run kept, their values recomputed, and what is proved."""
    masks, values = run.best_sets()
    listed = (values <= run.value + run.within + problem.slack) if len(values) else values.astype(bool)
    masks, values = masks[listed][:k], problem.objective.values(masks[listed][:k])
    verdict, certified = walked.verdict, walked.verdict.status == "optimal"
    message = (
        "Proved: no other feasible set is better than these." if certified else "Not proved: the search did not end."
    )
    if verdict.reason:
        message = f"Not proved: {verdict.reason}."
    return BestSets(
        sets=tuple(elements(mask) for mask in masks),
        values=tuple(values.tolist()),
        status=verdict.status,
        certified=certified,
        message=message,
        nodes=run.nodes,
        seconds=run.total_seconds,
        oracle_calls=tally.calls,
        solver=", ".join(run.solvers),
        presolve=walked.presolve,
        lower_bound=min(run.lower_bound, *values.tolist()) if len(values) else run.lower_bound,
        names=problem.labels,
        workers=() if run.crew is None else run.crew.shares(),
    )
