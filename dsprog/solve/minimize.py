"""The one door to all solvers."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from dsprog.core.constraints import Constraint
from dsprog.core.problem import Problem, as_problem
from dsprog.core.set_function import SetFunction, count_oracle_calls
from dsprog.core.submodularity import refuse_refuted
from dsprog.core.validation import as_mask, elements
from dsprog.presolve.parts import solve_reduced
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.result import STATUSES, Result
from dsprog.run.run import Callback, Limits, Monitor, Verdict
from dsprog.run.solver import Solver
from dsprog.solve.choose import default_solver


def minimize(
    objective: SetFunction,
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
) -> Result:
    """Minimise a difference of submodular functions.

    Parameters
    ----------
    objective : SetFunction
        Such as ``f - g``. A function that is not written as a difference is split by its own structure.
    solver : Solver, optional
        By default the one that knows most about the problem, see :func:`dsprog.solve.choose.default_solver`; the
        result says which, and how it proved its bound.
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
        1 prints a live log to standard error.
    callback : callable, optional
        Called with an :class:`Event` at every improvement and about once a second; a true answer stops the run.
    checkpoint : path, optional
        A file to save the run to, every few seconds and whenever it stops. If the file is there already, the run
        continues from it; one that belongs to another instance is refused.
    reduce : bool, optional
        Whether elements that can be decided beforehand are taken out, and separable parts solved one by one; see
        :mod:`dsprog.presolve.reduce`. By default the solvers that ``minimize`` chooses by itself do so, while
        ``Prismatic``, ``BruteForce`` and ``Scip`` get the problem as it is. Runs with a checkpoint do without.

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
    problem = as_problem(objective, constraints)
    monitor = Monitor(problem, Limits(time_limit, node_limit, gap), seed, verbose, callback)
    chosen = default_solver(problem, checkpoint is not None) if solver is None else solver
    verdict, calls = run(problem, chosen, monitor, initial, checkpoint, reduce)
    return build_result(problem, monitor, verdict, type(chosen).__name__, calls)


def run(
    problem: Problem,
    solver: Solver,
    monitor: Monitor,
    initial: Iterable[int] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    reduce: bool | None = None,
) -> tuple[Verdict, int]:
    """Run a solver under a monitor; an interruption is one way to end. Returns the oracle calls too."""
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver object such as BruteForce(), got {solver!r}")
    if checkpoint is not None and not solver.keeps_checkpoints:
        raise ValueError(f"checkpoint must be left out: {type(solver).__name__} keeps none")
    if reduce and (solver.reduces is None or checkpoint is not None):
        why = f"{type(solver).__name__} is not given parts" if solver.reduces is None else "checkpoints keep no parts"
        raise ValueError(f"reduce must be left out: {why}")
    wanted = solver.reduces if reduce is None else reduce
    saves = None if checkpoint is None else Checkpoint(checkpoint, problem, repr((solver, monitor.keeps)))
    with count_oracle_calls() as tally:
        try:
            refuse_refuted_sides(problem)
            offer_initial(problem, monitor, initial)
            if wanted and saves is None and monitor.keeps == 1:
                verdict = solve_reduced(problem, solver, monitor)
            else:
                verdict = solver.solve(problem, monitor, saves)
        except KeyboardInterrupt:
            verdict = Verdict("interrupted")
    monitor.finish(verdict.status)
    return verdict, tally.calls


def refuse_refuted_sides(problem: Problem) -> None:
    """A callable that was declared submodular and is not would make every certificate a lie: sample it first."""
    for name, side in (("f", problem.objective.f), ("g", problem.objective.g)):
        if side.knows.submodular is True:
            refuse_refuted(side, name)


def offer_initial(problem: Problem, monitor: Monitor, initial: Iterable[int] | None) -> None:
    """Enter the user's set as the first incumbent."""
    if initial is None:
        return
    mask = as_mask(initial, problem.n, "initial")[None, :]
    if not problem.feasible(mask)[0]:
        raise ValueError("initial must satisfy the constraints, and it does not")
    monitor.offer(mask, problem.objective.values(mask), "initial")


def build_result(problem: Problem, monitor: Monitor, verdict: Verdict, solver: str, oracle_calls: int) -> Result:
    """Recompute the value from the functions, and say what is proved."""
    S: tuple[int, ...] = ()
    value, lower = np.inf, monitor.lower_bound
    if monitor.mask is not None:
        S = elements(monitor.mask)
        value = float(problem.objective._values(monitor.mask[None, :])[0])
        lower = min(lower, value)
    return Result(
        S=S,
        value=value,
        lower_bound=lower,
        status=verdict.status,
        certified=verdict.status in ("optimal", "gap"),
        message=STATUSES[verdict.status].format(reason=verdict.reason),
        solver=solver,
        proof=verdict.proof,
        nodes=monitor.nodes,
        seconds=monitor.seconds,
        oracle_calls=oracle_calls,
        trace=tuple(monitor.trace),
    )
