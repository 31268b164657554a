"""Greedy: add the best element while that improves, or remove the best, or both in turn.

Asking for every marginal in every round wastes most of the answers. For S ⊆ T and j outside T,

    v(j|T) = f(j|T) - g(j|T) >= f(j|V∖j) - g(j|S),

by submodularity of f and of g, so an element whose old g(j|S) leaves this bound above the best fresh marginal need not
be asked again. Where f or g is not known to be submodular, all marginals are asked afresh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.approximate.restarts import check_choice, check_restarts, local
from dsprog.approximate.starts import Frame, frame_of
from dsprog.core.algebra import Difference
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

ASK = 8  # elements of each set that are asked for before all are
REASONS = {
    "forward": "no single addition improves",
    "backward": "no single removal improves",
    "bidirectional": "no single addition and no single removal improves",
}


class LazyAdditions:
    """The best element to add to each of a batch of growing sets."""

    def __init__(self, objective: Difference, batch: int) -> None:
        self.objective, self.lazy = objective, objective.is_certifiable
        if self.lazy:
            empty, full = np.zeros((1, objective.n), dtype=bool), np.ones((1, objective.n), dtype=bool)
            self.least_f = objective.f.marginals(full)[0]
            self.old_g = np.repeat(objective.g.marginals(empty), batch, axis=0)

    def best(self, rows: Ints, masks: Masks, allowed: Masks, noise: Floats, ceiling: Floats) -> tuple[Ints, Floats]:
        """An element for each set that minimises noise_j v(j|S) over the allowed j, and this number.

        The number is exact if it lies below ``ceiling`` and is at least ``ceiling`` otherwise.
        """
        scores = np.full(masks.shape, np.inf)
        open_rows = np.arange(len(rows))
        if self.lazy:
            bounds = np.where(allowed, noise * (self.least_f - self.old_g[rows]), np.inf)
            self._ask_some(rows, masks, bounds, scores, noise)
            waiting = np.where(np.isinf(scores), bounds, np.inf).min(axis=1, initial=np.inf)
            open_rows = np.flatnonzero(waiting < np.minimum(scores.min(axis=1, initial=np.inf), ceiling))
        self._ask_all(rows, masks, open_rows, scores, noise)
        scores[~allowed] = np.inf
        chosen = scores.argmin(axis=1)
        return chosen, scores[np.arange(len(rows)), chosen]

    def _ask_some(self, rows: Ints, masks: Masks, bounds: Floats, scores: Floats, noise: Floats) -> None:
        """Fill in the scores of the ASK elements of least bound."""
        elements = np.argsort(bounds, axis=1)[:, :ASK]
        b = np.repeat(np.arange(len(rows)), elements.shape[1])
        j = elements.ravel()
        grown = masks[b]
        grown[np.arange(len(b)), j] = True
        both = np.concatenate([masks, grown])
        (f_here, f_grown), (g_here, g_grown) = (
            np.split(side.values(both), [len(masks)]) for side in (self.objective.f, self.objective.g)
        )
        g_marginals = g_grown - g_here[b]
        self.old_g[rows[b], j] = g_marginals
        scores[b, j] = noise[b, j] * (f_grown - f_here[b] - g_marginals)

    def _ask_all(self, rows: Ints, masks: Masks, where: Ints, scores: Floats, noise: Floats) -> None:
        """Fill in all scores of some sets."""
        if self.lazy:
            g_marginals = self.objective.g.marginals(masks[where])
            self.old_g[rows[where]] = g_marginals
            marginals = self.objective.f.marginals(masks[where]) - g_marginals
        else:
            marginals = self.objective.marginals(masks[where])
        scores[where] = noise[where] * marginals


def grow(
    objective: Difference, frame: Frame, masks: Masks, noise: Floats, slack: float, run: Run, backward: bool
) -> Masks:
    """Add the best element to every set while that improves, and without asking while a set is too small.

    Backward, sets and functions are complements, and feasible sets are offered as such.
    """
    masks = masks.copy()
    values = objective.values(masks)
    additions = LazyAdditions(objective, len(masks))
    moving = np.arange(len(masks))
    while len(moving) and objective.n and run.stop_reason() is None:
        allowed = frame.additions(masks[moving])
        forced = masks[moving].sum(axis=1) < frame.smallest
        ceiling = np.where(forced, np.inf, -slack)
        chosen, scores = additions.best(moving, masks[moving], allowed, noise[moving], ceiling)
        run.progress(run.nodes + len(moving), 0, "greedy")
        adding = scores < ceiling
        moving, chosen = moving[adding], chosen[adding]
        masks[moving, chosen] = True
        values[moving] = objective.values(masks[moving])
        ready = moving[frame.satisfied(masks[moving])]
        run.offer(~masks[ready] if backward else masks[ready], values[ready], "greedy")
    return masks


@dataclass(frozen=True)
class Greedy(Solver):
    """Grow a set from the least feasible one, shrink one from the largest, or do both in turn.

    Parameters
    ----------
    direction : {"forward", "backward", "bidirectional"}
        "bidirectional" grows, then shrinks, and so on until neither improves.
    restarts : int
        The first run is the plain one; in every other, each element's gain counts for a random part between a half and
        all of it. An initial set, where given, replaces the first start.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.Modular([0.3, 0.3, 0.3]) - ds.Coverage([[1, 0, 1], [0, 1, 1]])
    >>> result = ds.minimize(objective, ds.Greedy())
    >>> result.S, result.message
    ((2,), 'A local optimum, with no bound: no single addition improves; use the default solver for a proof.')
    """

    direction: str = "forward"
    restarts: int = 1

    def __post_init__(self) -> None:
        check_choice(self.direction, "direction", tuple(REASONS))
        check_restarts(self.restarts)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All restarts as one batch."""
        frame, objective = frame_of(problem), problem.objective
        if frame.empty:
            return Verdict("infeasible")
        mirror, mirrored = frame.complement(), Difference(objective.complement())
        masks = starting_ends(frame.within if self.direction == "backward" else frame.include, run, self.restarts)
        noise = run.rng.uniform(0.5, 1.0, masks.shape)
        noise[0] = 1.0
        offer_feasible(problem, run, masks)
        while True:
            before = masks
            if self.direction != "backward":
                masks = grow(objective, frame, masks, noise, problem.slack, run, backward=False)
            if self.direction != "forward":
                masks = ~grow(mirrored, mirror, ~masks, noise, problem.slack, run, backward=True)
            stopped = run.stop_reason()
            if stopped is not None:
                return Verdict(stopped)
            if self.direction != "bidirectional" or np.array_equal(masks, before):
                break
        if run.mask is None:
            raise ValueError("no feasible set was met on the way: pass one as initial, or use LocalSearch")
        return local(problem, REASONS[self.direction])


def starting_ends(end: Masks, run: Run, restarts: int) -> Masks:
    """One end of the frame for every restart; the incumbent instead of the first."""
    masks = np.tile(end, (restarts, 1))
    if run.mask is not None:
        masks[0] = run.mask
    return masks


def offer_feasible(problem: Problem, run: Run, masks: Masks) -> None:
    """Offer those of some sets that satisfy the constraints."""
    feasible = masks[problem.feasible(masks)]
    run.offer(feasible, problem.objective.values(feasible), "greedy")
