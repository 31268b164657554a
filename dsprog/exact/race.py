"""A race: exact searches take turns, and the first that ends has proved the optimum for all.

Which of two exact solvers is faster is often not known beforehand. Here they share one thread and one incumbent: a set
that one finds closes nodes of the other, and the bound is the larger of the two. Turns double in length from round to
round, since a mixed-integer programme that is stopped at the end of a turn begins anew in the next; so two solvers
together take at most some eight times as long as the faster one alone. The turns of one whose gap is many times the
leader's stay as short as they are, so that a hopeless search costs little and one that began slowly can catch up. One
whose programme fails leaves the race to the others. With workers the racers run at once after the first round, each in
a process of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks, as_number
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.milp.programme import ProgrammeFailed
from dsprog.run.driver import Search
from dsprog.run.needs import Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver, Solver
from dsprog.run.workers.crew import Crew
from dsprog.run.workers.unit import UnitAnswer
from dsprog.run.workers.whole_solves import Task

FAR_BEHIND = 4.0  # times the leader's gap


@dataclass(frozen=True)
class Race(Solver):
    """Interval branch and bound against the compact model, in turns; ``proof`` says which one proved it.

    Turns are measured in seconds, so that the winner may differ from run to run; the optimum does not.

    Parameters
    ----------
    solvers : tuple of SearchSolver
        Who takes part: BranchAndBound, CompactModel, PerspectiveBranchAndBound, Prismatic.
    turn : float
        Seconds of a turn in the first round.

    Examples
    --------
    >>> import dsprog as ds
    >>> words = ds.Coverage([[1, 0, 1], [1, 1, 0], [0, 1, 0]])
    >>> result = ds.minimize(ds.ConcaveOf(words) - ds.Modular([0.9, 0.2, 0.8]), ds.Race())
    >>> result.S, result.certified
    ((0, 2), True)
    """

    solvers: tuple[SearchSolver, ...] = (BranchAndBound(), CompactModel())
    turn: float = 0.5

    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "solvers", tuple(self.solvers))
        if not self.solvers or not all(isinstance(solver, SearchSolver) for solver in self.solvers):
            raise TypeError(f"solvers must be searches such as BranchAndBound and CompactModel, got {self.solvers!r}")
        if not as_number(self.turn, "turn") > 0:
            raise ValueError(f"turn must be positive, got {self.turn}")

    def needs(self) -> tuple[Need, ...]:
        """What every racer needs."""
        return tuple(need for solver in self.solvers for need in solver.needs())

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Rounds of turns until one search ends or the run says stop."""
        racers, turns = Racers(problem, run, self.solvers), [self.turn] * len(self.solvers)
        crew, run.crew, run.link = run.crew, None, None  # the search of one racer is not shared
        try:
            while True:
                for k in racers.running.copy():
                    with run.turn(turns[k]):
                        verdict = racers.take_turn(k)
                    if verdict is not None:
                        return verdict
                if crew is not None and crew.can_take_tasks:
                    verdict = AtOnce(problem, run, tuple(self.solvers[k] for k in racers.running)).race(crew)
                    if verdict is not None:
                        return verdict
                for k in racers.leaders():
                    turns[k] *= 2
        finally:
            run.crew = run.link = crew


class Racers:
    """The searches of a race, each begun at its first turn."""

    def __init__(self, problem: Problem, run: Run, solvers: tuple[SearchSolver, ...]) -> None:
        self.problem, self.run, self.solvers = problem, run, solvers
        self.searches: dict[int, Search] = {}
        self.running = list(range(len(solvers)))

    def leaders(self) -> list[int]:
        """All whose gap is not many times the least one, after a round."""
        gaps = {k: self.run.value - search.lower for k, search in self.searches.items()}
        return [k for k, gap in gaps.items() if not gap > FAR_BEHIND * min(gaps.values())]

    def take_turn(self, k: int) -> Verdict | None:
        """Let one search run; its verdict if that ends the race."""
        try:
            reason = self._go_on(k)
        except ProgrammeFailed as error:
            self._drop(k, error)
            return None
        if reason is not None:
            return self._verdict(max(self.searches, key=lambda i: self.searches[i].lower), reason, "led")
        if self.searches[k].ended and (self.searches[k].method.valid or self._last_hope(k)):
            return self._verdict(k, None, "won")
        return None

    def _go_on(self, k: int) -> str | None:
        if k not in self.searches:
            self.searches[k] = Search(self.solvers[k].method(self.problem, self.run), self.run)
        return self.searches[k].go()

    def _drop(self, k: int, error: ProgrammeFailed) -> None:
        """A failed programme costs its racer, and the race only if no other is left."""
        if self.running == [k]:
            raise error
        self.running.remove(k)
        self.searches.pop(k, None)
        self.run.say(f"{type(self.solvers[k]).__name__} leaves the race: {error}")

    def _last_hope(self, k: int) -> bool:
        """Whether no other search could prove more than one without valid bounds has."""
        begun = len(self.searches) == len(self.running)
        return begun and not any(search.method.valid for search in self.searches.values())

    def _verdict(self, k: int, reason: str | None, how: str) -> Verdict:
        verdict = self.searches[k].verdict(reason)
        proof = f"race {how} by {type(self.solvers[k]).__name__}: {verdict.proof}"
        return Verdict(verdict.status, proof, verdict.reason, verdict.within)


class AtOnce:
    """The racers as tasks of a crew: each has all sets of the others, and the first proof ends it."""

    def __init__(self, problem: Problem, run: Run, solvers: tuple[SearchSolver, ...]) -> None:
        self.problem, self.run, self.solvers = problem, run, solvers
        self.ended: dict[int, Verdict] = {}
        self.lower = [-math.inf] * len(solvers)
        self.crew: Crew | None = None

    def race(self, crew: Crew) -> Verdict | None:
        """The verdict; None if there were no workers after all."""
        run, self.crew = self.run, crew
        tasks = [
            Task(self.problem, solver, run.seed, *run.best_sets(), gap=run.limits.gap, within=run.within)
            for solver in self.solvers
        ]
        reason = crew.do(run, tasks, self._hear, self._end)
        best = max(range(len(self.solvers)), key=lambda k: (self._has_proved(k), k in self.ended, self.lower[k]))
        if reason is not None:
            return self._said(best, Verdict(reason), "led")
        return self._said(best, self.ended[best], "won") if self.ended else None

    def _hear(self, k: int, masks: Masks, values: Floats, lower: float) -> None:
        if self.run.offer(masks, values, type(self.solvers[k]).__name__) and self.crew is not None:
            self.crew.executor.share(masks, values)
        self.lower[k] = max(self.lower[k], lower)
        self.run.raise_bound(min(lower, self.run.value))

    def _end(self, k: int, answer: UnitAnswer) -> bool:
        self._hear(k, answer.masks, answer.values, answer.closed)
        if answer.verdict is not None:
            self.ended[k] = answer.verdict
        return self._has_proved(k)

    def _has_proved(self, k: int) -> bool:
        return k in self.ended and self.ended[k].status in ("optimal", "gap", "infeasible")

    def _said(self, k: int, verdict: Verdict, how: str) -> Verdict:
        proof = f"race {how} by {type(self.solvers[k]).__name__}: {verdict.proof or 'stopped'}"
        return Verdict(verdict.status, proof, verdict.reason, verdict.within)
