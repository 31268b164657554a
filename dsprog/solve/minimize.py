"""The one door to all solvers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from dsprog.core.constraints import Constraint
from dsprog.core.oracle import count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import elements
from dsprog.run.checkpoint import Checkpoint, Section
from dsprog.run.limits import Limits
from dsprog.run.result import STATUSES, Result, Verdict, relative_gap
from dsprog.run.run import Callback, Run
from dsprog.run.solver import Solver
from dsprog.run.workers.crew import crew_of
from dsprog.solve.pipeline import Asked, Walked, begun, prepared, walk

LAST_PLACES = 64 * float(np.finfo(float).eps)  # by which a value and a bound that meet may differ


def minimize(
    objective: SetFunction | Problem,
    solver: Solver | None = None,
    *,
    constraints: Iterable[Constraint] = (),
    time_limit: float | None = None,
    node_limit: int | None = None,
    gap: float = 0.0,
    initial: Iterable[int] | None = None,
    seed: int | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    reduce: bool | None = None,
    workers: Any = 1,
) -> Result:
    """Minimise a difference of submodular functions.

    Parameters
    ----------
    objective : SetFunction or Problem
        Such as ``f - g``. A function that is not written as a difference is split by its own structure.
    solver : Solver, optional
        By default the one that knows most about the problem, see :data:`dsprog.solve.choose.RULES`; the result says
        which, and how it proved its bound.
    constraints : iterable of Constraint
    time_limit : float, optional
        Seconds.
    node_limit : int, optional
        Sets, nodes or iterations, as the solver counts them.
    gap : float
        Relative gap to accept; 0 asks for a proof of optimality.
    initial : set, optional
        A set to start from.
    seed : int, optional
        For solvers that draw random numbers.
    verbose : int
        1 prints a live log to standard error, after what presolve did and who was chosen; 2 shows a bar instead. The
        lines go to the logger ``dsprog``, too, if its level is ``INFO`` or below.
    callback : callable, optional
        Called with an :class:`Event` at every improvement and about once a second; a true answer stops the run.
    checkpoint : path, optional
        A file to save the run to, every few seconds and whenever it stops. If the file is there already, the run
        continues from it; one that belongs to another instance is refused.
    reduce : bool, optional
        Whether elements that can be decided beforehand are taken out, and separable parts solved one by one; see
        :mod:`dsprog.presolve`. By default the solvers that ``minimize`` chooses by itself do so, while ``Prismatic``,
        ``BruteForce``, ``Scip`` and the approximate ones get the problem as it is.
    workers : int, "all" or executor
        Who shares the search: so many processes on this machine, as many as it has processors, or a
        :class:`concurrent.futures.Executor` or :class:`dask.distributed.Client` of yours. They join when the search
        has lasted a moment. With 1, the default, a run can be repeated bit for bit; with more, value, bound and
        certificate are the same within rounding.

    Returns
    -------
    Result

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.ConcaveOfModular([[4.0, 1.0, 0.0], [0.0, 1.0, 9.0]])
    >>> g = ds.Coverage([[1, 0, 1], [1, 1, 0], [0, 0, 1]], weights=[2.0, 1.0, 3.0])
    >>> result = ds.minimize(f - g)
    >>> result.S, result.value, result.certified
    ((2,), -2.0, True)
    """
    problem = prepared(objective, constraints)
    check_solver_object(solver, checkpoint)
    limits, crew = Limits(time_limit, node_limit, gap), crew_of(workers, problem)
    with count_oracle_calls() as tally:
        section = opened(checkpoint, problem, solver, {"gap": gap})
        run = begun(problem, limits, seed, verbose, callback, section, crew=crew)
        walked = walk(problem, run, Asked(solver, initial, reduce))
    return build_result(problem, run, walked, tally.calls)


def check_solver_object(solver: Solver | None, checkpoint: str | os.PathLike[str] | None) -> None:
    """Refuse what is no solver, and checkpoints where it keeps none."""
    if solver is not None and not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver object such as BruteForce(), got {solver!r}")
    if checkpoint is not None and solver is not None and not solver.resumes:
        raise ValueError(f"checkpoint must be left out: {type(solver).__name__} keeps none")


def opened(
    path: str | os.PathLike[str] | None, problem: Problem, solver: Solver | None, asked: dict[str, str | float]
) -> Section | None:
    """The checkpoint of a run, if it is to have one."""
    if path is None:
        return None
    who = "the default solver" if solver is None else repr(solver)
    return Checkpoint(path, problem, {"solver": who, **asked}).section()


def proved(run: Run, verdict: Verdict, value: float, lower: float) -> bool:
    """Whether the set is proved optimal, or as good as was asked for."""
    asked = run.limits.gap * (1.0 + 1e-12)  # a search that ends exactly there may round to a little more
    as_asked = relative_gap(value, lower) <= asked or value - lower <= verdict.within
    return run.mask is not None and (verdict.status == "optimal" or (verdict.status == "gap" and as_asked))


def sentence(verdict: Verdict, value: float, lower: float) -> str:
    """What happened, and no more than is proved: programmes leave what their tolerances may hide."""
    if verdict.status == "optimal" and value - lower > LAST_PLACES * max(abs(value), abs(lower)):
        return f"Proved optimal up to tolerances: no feasible set has a value smaller by more than {value - lower:.2g}."
    return STATUSES[verdict.status].format(reason=verdict.reason)


def build_result(problem: Problem, run: Run, walked: Walked, oracle_calls: int) -> Result:
    """Recompute the value from the functions, and say what is proved."""
    verdict = walked.verdict
    S: tuple[int, ...] = ()
    value, lower = np.inf, run.lower_bound
    if run.mask is not None:
        S = elements(run.mask)
        value = float(problem.objective.values(run.mask[None, :])[0])
        lower = min(lower, value)
    return Result(
        S=S,
        value=value,
        lower_bound=lower,
        status=verdict.status,
        certified=proved(run, verdict, value, lower),
        message=sentence(verdict, value, lower),
        solver=", ".join(run.solvers),
        proof=verdict.proof,
        presolve=walked.presolve,
        nodes=run.nodes,
        seconds=run.total_seconds,
        oracle_calls=oracle_calls,
        trace=tuple(run.trace),
        upper_bound=value,
        n=problem.n,
        names=problem.labels,
        workers=() if run.crew is None else run.crew.shares(),
    )
