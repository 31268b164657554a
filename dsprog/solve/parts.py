"""Solve the parts that presolve left, one after the other or in workers, and let the run of the whole see it all.

Their bounds add up: lower = offset + Σ_k lower_k; a part that has none yet leaves the whole without one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.approximate.starts import feasible_sets
from dsprog.core.problem import Problem
from dsprog.core.validation import Masks
from dsprog.milp.programme import ProgrammeFailed
from dsprog.presolve.chain import Presolved
from dsprog.run.checkpoint import Saved
from dsprog.run.result import Event, Verdict
from dsprog.run.run import Run
from dsprog.run.workers.unit import UnitAnswer
from dsprog.solve.beside import part_task, pays, solve_beside, solve_with_restarts
from dsprog.solve.choose import Choice

ENDS_ALL = ("interrupted", "callback", "gap", "infeasible")  # parts after another limit are bounded at their root
FEW = 16  # parts up to which every improvement is seen at once
SECONDS_BETWEEN_OFFERS = 0.5

SOLVED = {"solved": np.array(True)}  # the state of a part that is done, in place of its method's


def was_solved(run: Run) -> bool:
    """Whether a checkpoint has a part as done; then its set and bound are taken over."""
    saved = run.checkpoint.load() if run.checkpoint is not None else None
    if saved is None or "solved" not in saved.state:
        return False
    run.resume(saved.masks, saved.values, saved.nodes, saved.seconds)
    run.raise_bound(saved.closed)
    return True


class Parts:
    """The parts of a problem, the smallest first; where nothing was taken out, the problem itself."""

    def __init__(self, presolved: Presolved, run: Run, chosen: Callable[[Problem], Choice]) -> None:
        self.presolved, self.run, self.chosen = presolved, run, chosen
        self.parts, self.nodes = presolved.parts, 0
        self.lower = np.full(len(self.parts), -np.inf)
        self.masks: list[Masks] = []
        self.done: dict[int, Verdict] = {}  # parts that workers solved
        self._next_offer = 0.0

    def solve(self) -> Verdict:
        """Each part to its end; those after a limit are bounded at their root only, so that the whole has a bound."""
        if not self.presolved.stages and self.parts:
            return self._solved_by(self.chosen(self.presolved.problem), self.presolved.problem, self.run)
        self._begin()
        verdict = Verdict("optimal", "nothing was left to search")
        began = self.run.seconds
        for k, part in enumerate(self.parts):
            if not self.done and self._can_go_beside(k) and pays(self.run, began):
                self._solve_beside(k)
            ended = self.done.get(k) or self._solve_part(k, part)
            self._offer(now=k + 1 == len(self.parts) or ended.status in ENDS_ALL)
            if verdict.status == "optimal":
                verdict = ended
            if ended.status in ENDS_ALL:
                break
        if not self.parts:
            self._enter(self.chosen(self.presolved.problem))
            if self.run.mask is None:
                return Verdict("infeasible")
            self.run.raise_bound(min(self.presolved.offset, self.run.value))
        if verdict.status == "optimal" and self._misses_a_limit():
            verdict = Verdict("finished", verdict.proof, "the best set of the parts misses a limit by rounding")
        proof = f"{self.presolved.sentence()}; {verdict.proof}"
        return Verdict(verdict.status, proof, verdict.reason, verdict.within)

    def _misses_a_limit(self) -> bool:
        """Whether the sets of the parts together are not feasible, as rounding in a row may have it."""
        return not self.presolved.problem.feasible(self.presolved.lift(self.masks)[None])[0]

    def _solved_by(self, choice: Choice, problem: Problem, run: Run) -> Verdict:
        """Hand a problem to its solver, with a line in the log."""
        self._enter(choice)
        try:
            return solve_with_restarts(choice.solver, problem, run)
        except ProgrammeFailed as error:  # costs a bound, never the run
            if choice.instead is None:
                return Verdict("finished", reason=str(error))
            return self._solved_by(Choice(choice.instead, f"instead, since {error}"), problem, run)

    def _enter(self, choice: Choice) -> None:
        name = type(choice.solver).__name__
        if name not in self.run.solvers:
            self.run.solvers.append(name)
            self.run.say(f"{name}: {choice.why}")

    def _begin(self) -> None:
        """A set of each part to begin with, from the best set so far or from a feasible one."""
        problem, run = self.presolved.problem, self.run
        run.raise_bound(self.presolved.lower)
        if run.mask is None and len(problem.rows):  # nothing chosen may not be feasible
            starts = feasible_sets(problem, None, np.random.default_rng(run.seed or 0), 1)
            run.offer(starts, problem.objective.values(starts), "start")
        nothing = np.zeros(problem.n, dtype=bool)
        self.masks = self.presolved.project(nothing if run.mask is None else run.mask)
        self._offer(now=True)

    def _solve_part(self, k: int, part: Problem) -> Verdict:
        def see(event: Event) -> bool:
            self._take(k, inner)
            self.run.progress(self.nodes + event.nodes, event.open, event.source)
            return self.run.stop_reason() == "callback"

        inner = self.run.part(part, str(k), see, self.nodes)
        if len(self.parts) == 1:
            inner.raise_bound(self.presolved.lower - self.presolved.offset)
        if part.feasible(self.masks[k][None])[0]:
            inner.offer(self.masks[k][None], part.objective.values(self.masks[k][None]), "start")
        try:
            choice = self.chosen(part)
            if was_solved(inner):
                self._enter(choice)
                return Verdict("optimal", "as the checkpoint has it")
            verdict = self._solved_by(choice, part, inner)
            if verdict.status == "optimal" and inner.checkpoint is not None:
                masks, values = inner.best_sets()
                done = Saved([], SOLVED, masks, values, inner.nodes, inner.total_seconds, inner.lower_bound)
                inner.checkpoint.save(done)
            return verdict
        finally:
            self._take(k, inner)
            self.nodes += inner.nodes
            self.run.progress(self.nodes, inner.open)

    def _can_go_beside(self, k: int) -> bool:
        """Whether the parts from one on are several, and neither lists nor checkpoints are wanted of them."""
        return k + 1 < len(self.parts) and self.run.checkpoint is None and not self.run.lists

    def _solve_beside(self, first: int) -> None:
        """The parts from one on, each in a worker for some seconds; what is not done by then is searched here."""
        parts = range(first, len(self.parts))
        choices = [self.chosen(self.parts[k]) for k in parts]
        tasks = [part_task(self.parts[k], c.solver, self.run, self.masks[k]) for k, c in zip(parts, choices)]

        def end(j: int, answer: UnitAnswer) -> None:
            inner = self.run.part(self.parts[parts[j]], str(parts[j]), lambda event: None)
            inner.offer(answer.masks, answer.values, "workers")
            inner.raise_bound(answer.closed)
            self._take(parts[j], inner)
            self.nodes += answer.nodes
            self._enter(choices[j])
            if answer.verdict is not None and answer.verdict.status == "optimal":
                self.done[parts[j]] = answer.verdict

        solve_beside(self.run, tasks, end)

    def _take(self, k: int, inner: Run) -> None:
        """Let the whole have the best set and the bound of a part."""
        if inner.mask is not None:
            for mask in inner.best_sets()[0][::-1]:  # the best one stays
                self.masks[k] = mask
                self._offer()
        self.lower[k] = max(self.lower[k], inner.lower_bound)
        if (self.lower > -np.inf).all():
            self.run.raise_bound(min(self.presolved.offset + float(self.lower.sum()), self.run.value))

    def _offer(self, now: bool = False) -> None:
        """Enter the sets of the parts together; not at every change where there are many parts."""
        if not now and len(self.parts) > FEW and self.run.seconds < self._next_offer:
            return
        self._next_offer = self.run.seconds + SECONDS_BETWEEN_OFFERS
        problem, mask = self.presolved.problem, self.presolved.lift(self.masks)[None]
        if problem.feasible(mask)[0]:
            self.run.offer(mask, problem.objective.values(mask), "parts")
