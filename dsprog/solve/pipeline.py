"""The way of every run: check → normalise → presolve → choose for each part → solve → lift.

The result is made by the door that was called: :func:`dsprog.minimize` or :func:`dsprog.enumerate_best`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass

from dsprog.core.constraints import Constraint
from dsprog.core.problem import Problem, as_problem
from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import refuse_refuted
from dsprog.core.validation import as_count, as_flag, as_mask, as_seed
from dsprog.exact.brute_force import BruteForce
from dsprog.presolve.chain import Presolved, presolve
from dsprog.presolve.normalise import normalised
from dsprog.presolve.step import Wishes
from dsprog.run.blas import one_blas_thread
from dsprog.run.checkpoint import Section
from dsprog.run.clock import compilation_announced
from dsprog.run.limits import Limits
from dsprog.run.log import log_for
from dsprog.run.needs import check_needs
from dsprog.run.result import Verdict
from dsprog.run.run import Callback, Run
from dsprog.run.signals import sigterm_interrupts
from dsprog.run.solver import Solver
from dsprog.run.workers.crew import Crew
from dsprog.solve.choose import LOOK_AT_ALL, Choice, choose
from dsprog.solve.parts import Parts


@dataclass(frozen=True)
class Asked:
    """What the user asked for besides limits: a solver, a set to start from, smaller problems."""

    solver: Solver | None = None
    initial: Iterable[int] | None = None
    reduce: bool | None = None


def begun(
    problem: Problem,
    limits: Limits,
    seed: int | None,
    verbose: int,
    callback: Callback | None,
    checkpoint: Section | None,
    keeps: int = 1,
    within: float = math.inf,
    crew: Crew | None = None,
) -> Run:
    """The run of a call, its arguments checked."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one event, got {callback!r}")
    log = log_for(as_count(int(verbose) if verbose is True or verbose is False else verbose, "verbose"))
    return Run(
        problem,
        limits,
        seed=as_seed(seed),
        log=log,
        callback=callback,
        keeps=keeps,
        within=within,
        checkpoint=checkpoint,
        crew=crew,
    )


@dataclass(frozen=True)
class Walked:
    """How a run ended, and what presolve did."""

    verdict: Verdict
    presolve: str = ""


def prepared(objective: SetFunction | Problem, constraints: Iterable[Constraint]) -> Problem:
    """Check what the user gave, and write it in one way."""
    return normalised(as_problem(objective, constraints))


def walk(problem: Problem, run: Run, asked: Asked) -> Walked:
    """From a prepared problem to a verdict; the run holds sets and bounds. An interruption is one way to end."""
    announced = compilation_announced(run.say if run.logs else None)
    crew = nullcontext() if run.crew is None else run.crew
    with closing(run), one_blas_thread(), announced, sigterm_interrupts(run.checkpoint is not None), crew:
        walked = guarded(problem, run, asked)
        run.finish(walked.verdict.status)
    return walked


def guarded(problem: Problem, run: Run, asked: Asked) -> Walked:
    """The walk itself; Ctrl-C ends it like a limit."""
    try:
        refuse_refuted_sides(problem)
        offer_initial(problem, run, asked.initial)
        run.say(header(problem))
        smaller = presolved(problem, run, asked)
        run.say(f"presolve: {smaller.sentence()}")
        verdict = Parts(smaller, run, lambda part: chosen(part, run, asked.solver)).solve()
        return Walked(verdict, smaller.sentence())
    except KeyboardInterrupt:
        return Walked(Verdict("interrupted"))


def refuse_refuted_sides(problem: Problem) -> None:
    """A callable that was declared submodular and is not would make every certificate a lie: sample it first."""
    for name, side in (("f", problem.objective.f), ("g", problem.objective.g)):
        if side.knows.submodular is True:
            refuse_refuted(side, name)


def offer_initial(problem: Problem, run: Run, initial: Iterable[int] | None) -> None:
    """Enter the user's set as the first incumbent."""
    if initial is None:
        return
    mask = as_mask(initial, problem.n, "initial")[None, :]
    if not problem.feasible(mask)[0]:
        raise ValueError("initial must satisfy the constraints, and it does not")
    run.offer(mask, problem.objective.values(mask), "initial")


def header(problem: Problem) -> str:
    """The first line of the log."""
    kinds = ", ".join(repr(constraint) for constraint in problem.constraints) or "no constraints"
    terms = len(problem.objective.terms)
    return f"minimise f - g: {problem.n} elements, {terms} term{'s' * (terms != 1)}, {kinds}"


def presolved(problem: Problem, run: Run, asked: Asked) -> Presolved:
    """The smaller problem, if the user or the solver wants one and it is worth while."""
    wanted = None if asked.reduce is None else as_flag(asked.reduce, "reduce")
    if wanted is None:
        wanted = asked.solver is None or asked.solver.presolved
    if not wanted:
        return Presolved(problem, without="not asked for")
    if asked.solver is None and asked.reduce is None and isinstance(choose(problem, run).solver, BruteForce):
        return Presolved(problem, without=LOOK_AT_ALL)
    found = presolve(problem, Wishes(run.lists, run.limits.gap, lambda: run.seconds_left))
    if found.worthwhile:
        return found
    return Presolved(problem, without=found.without or "too little found to be worth while")


def chosen(problem: Problem, run: Run, solver: Solver | None) -> Choice:
    """The user's solver, if the problem has what it needs, or the one that the rules name."""
    if solver is None:
        return choose(problem, run)
    check_needs(type(solver).__name__, solver.needs(), problem)
    return Choice(solver, "named by the user")
