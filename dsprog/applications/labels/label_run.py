"""One run of :func:`dsprog.applications.minimize_labels`: sweeps and fusion moves in turns, then the exact end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dsprog.applications.labels.dual import Dual
from dsprog.applications.labels.label_problem import LabelProblem
from dsprog.applications.labels.proposals import FAMILIES
from dsprog.applications.labels.search import BestLabelling, LabelSearch, sweep_and_prune
from dsprog.core.validation import Ints
from dsprog.run.clock import Clock
from dsprog.run.limits import Limits
from dsprog.run.signals import interruptions_noted

SWEEPS = 16  # a round
STALLED = 0.01  # of the gap: a round that closes less, and improves nothing, is the last


class LabelRun:
    """What is known at each moment: the best labelling, the bound, and what they took."""

    def __init__(self, problem: LabelProblem, limits: Limits, x: Ints, moves: Sequence[str], seed: int | None) -> None:
        self.problem, self.limits, self.families = problem, limits, moves
        self.clock, self.rng = Clock(), np.random.default_rng(seed)
        self.interrupted = False  # set by a signal
        self.best, self.lower = BestLabelling.of(problem, x), -math.inf
        self.dual = Dual(problem, np.ones(problem.unary.shape, dtype=bool))
        self.search = LabelSearch(self.over)
        self.rounds = self.moves = 0

    def over(self) -> bool:
        """Whether the limit is reached, or somebody pressed Ctrl-C."""
        limit = self.limits.time_limit
        return self.interrupted or (limit is not None and self.clock.seconds >= limit)

    @property
    def cutoff(self) -> float:
        """A bound that the gap asked for accepts."""
        return self.best.energy - self.limits.gap * abs(self.best.energy) if self.limits.gap else math.inf

    @property
    def done(self) -> bool:
        """Whether the bound is good enough."""
        return self.lower >= self.best.goal(self.cutoff)

    def go(self) -> None:
        """Until the bound is good enough, or the limit."""
        try:
            with interruptions_noted(self):
                self.raise_bound(self.dual.bound().lower)
                self.alternate()
                if not (self.done or self.over()):
                    self.raise_bound(self.search.settle(self.dual, self.best, self.cutoff))
        except KeyboardInterrupt:
            self.interrupted = True

    def raise_bound(self, lower: float) -> None:
        """Keep a bound on the labels left: removed ones have labellings from the goal on only."""
        proved = min(lower, self.best.goal(self.cutoff))
        self.lower = float(max(self.lower, self.problem.steps.rounded(proved)))

    def alternate(self) -> None:
        """Rounds of sweeps, whose labellings are fused, and of moves while labellings improve."""
        improved = True
        while not (self.done or self.over()):
            self.rounds += 1
            energy, before = self.best.energy, self.lower
            bound, proposal = sweep_and_prune(self.dual, self.best, self.cutoff, SWEEPS, self.over)
            self.raise_bound(bound.lower)
            if self.done:
                return
            self.fuse(proposal)
            if improved:
                self.move()
            improved = self.best.energy < energy
            if not improved and self.lower - before < STALLED * (self.best.energy - self.lower):
                return

    def move(self) -> None:
        """One proposal after the other, of each family."""
        for name in self.families:
            for proposal in FAMILIES[name](self.problem, lambda: self.best.x, self.rng):
                if self.over():
                    return
                self.fuse(proposal)

    def fuse(self, proposal: Ints) -> None:
        """Fuse with a proposal; where its label was removed, a site keeps its own."""
        still = self.dual.allowed[np.arange(self.problem.n), proposal]
        self.moves += self.best.fuse(np.where(still, proposal, self.best.x))
