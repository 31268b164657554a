"""Greedy: add the best element while that improves, or remove the best, or both in turn.

Asking for every marginal in every round wastes most of the answers. For S ⊆ T and j outside T,

    v(j|T) = f(j|T) - g(j|T) >= f(j|V∖j) - g(j|S),

by submodularity of f and of g, so an element whose old g(j|S) leaves this bound above the best fresh marginal need not
be asked again. Where f or g is not known to be submodular, all marginals are asked afresh.

What is promised where f = 0 and g is increasing and submodular with g(∅) = 0, against the best value OPT:

- |S| <= k: g(S) >= (1 - 1/e) OPT (Nemhauser, Wolsey and Fisher 1978);
- Partition: g(S) >= ½ OPT (Fisher, Nemhauser and Wolsey 1978);
- Knapsack: the better of greedy by gain and greedy by gain for cost, g(S) >= ½ (1 - 1/e) OPT (Leskovec and others
  2007); continued from all feasible sets of three elements (``seeds=3``), g(S) >= (1 - 1/e) OPT (Sviridenko 2004).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dsprog.approximate.repair import cheapest_set, repaired
from dsprog.approximate.restarts import check_choice, check_restarts, local
from dsprog.approximate.starts import Frame, frame_of
from dsprog.core.algebra import Difference
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks, as_count
from dsprog.run.incumbents import Incumbents
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

SEEDED = 2048  # starts of partial enumeration at a time
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
    """Add the best element to every set while that improves, and without asking while a set does not keep the rows.

    Backward, sets and functions are complements, and feasible sets are offered as such.
    """
    masks = masks.copy()
    values = objective.values(masks)
    additions = LazyAdditions(objective, len(masks))
    moving = np.arange(len(masks))
    while len(moving) and objective.n and run.stop_reason() is None:
        allowed = frame.additions(masks[moving])
        forced = ~frame.satisfied(masks[moving])
        if forced.any():  # towards the rows that are not kept yet, as long as something leads there
            helpful = allowed & frame.helpful(masks[moving])
            toward = forced & helpful.any(axis=1)
            allowed[toward] = helpful[toward]
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
        all of it. An initial set, where given, replaces the first start. Where elements have different costs in a row,
        such as that of a knapsack, one run more takes the gain for the cost.
    seeds : int
        Partial enumeration: runs from all feasible sets of up to so many elements; n³/6 of them where it is 3.

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
    seeds: int = 0

    def __post_init__(self) -> None:
        check_choice(self.direction, "direction", tuple(REASONS))
        check_restarts(self.restarts)
        if as_count(self.seeds, "seeds") and self.direction != "forward":
            raise ValueError(f"seeds must be 0 unless direction is 'forward', got {self.seeds}")

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """All restarts as one batch."""
        frame = frame_of(problem)
        if frame.empty:
            return Verdict("infeasible")
        masks = starting_ends(frame.within if self.direction == "backward" else frame.include, run, self.restarts)
        noise = run.rng.uniform(0.5, 1.0, masks.shape)
        noise[0] = 1.0
        if frame.costs is not None:
            masks = np.concatenate([masks, masks[:1]])
            noise = np.concatenate([noise, by_cost(frame)[None]])
        offer_feasible(problem, run, masks)
        stopped = self._followed(problem, run, frame, masks, noise) or self._from_seeds(problem, run, frame)
        if run.mask is None:  # also where no time is left: a set without a good value is better than none
            offer_repaired(problem, run, masks)
        if stopped is not None:
            return Verdict(stopped)
        if run.mask is None:
            raise ValueError("no feasible set was met on the way: pass one as initial, or use LocalSearch")
        return local(problem, REASONS[self.direction])

    def _followed(self, problem: Problem, run: Run, frame: Frame, masks: Masks, noise: Floats) -> str | None:
        """Grow and shrink a batch until it rests; why the run is to stop, if it is."""
        objective = problem.objective
        mirror, mirrored = frame.complement(), Difference(objective.complement())
        while True:
            before = masks
            if self.direction != "backward":
                masks = grow(objective, frame, masks, noise, problem.slack, run, backward=False)
            if self.direction != "forward":
                masks = ~grow(mirrored, mirror, ~masks, noise, problem.slack, run, backward=True)
            stopped = run.stop_reason()
            if stopped is not None or self.direction != "bidirectional" or np.array_equal(masks, before):
                return stopped

    def _from_seeds(self, problem: Problem, run: Run, frame: Frame) -> str | None:
        """The same from all sets of some elements that the rows allow, some at a time, by gain and by gain for cost."""
        order = np.flatnonzero(frame.within & ~frame.include)
        kinds = [np.ones(problem.n)] + ([] if frame.costs is None else [by_cost(frame)])
        chosen = itertools.chain.from_iterable(itertools.combinations(order, size + 1) for size in range(self.seeds))
        while some := list(itertools.islice(chosen, SEEDED)):
            masks = np.repeat(frame.include[None], len(some), axis=0)
            for mask, elements in zip(masks, some):
                mask[list(elements)] = True
            masks = masks[frame.extensible(masks)]
            offer_feasible(problem, run, masks)
            for noise in kinds:
                stopped = self._followed(problem, run, frame, masks, np.repeat(noise[None], len(masks), axis=0))
                if stopped is not None:
                    return stopped
        return None


def by_cost(frame: Frame) -> Floats:
    """Factors that turn gains into gains for costs; the cheapest element's counts in full."""
    assert frame.costs is not None
    return np.asarray(frame.costs.min() / frame.costs)


def offer_repaired(problem: Problem, run: Run, masks: Masks) -> None:
    """Offer what repair makes of some sets, flips that cost little first, or else what a programme finds."""
    marginals = problem.objective.marginals(masks)
    found = repaired(problem.rows, masks, np.where(masks, -marginals, marginals))
    if len(found) == 0 and run.seconds_left > 0:
        found = cheapest_set(problem.rows, marginals[0], run.seconds_left)
    run.offer(found, problem.objective.values(found), "repair")


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


def offer_greedy_sets(problem: Problem, run: Run, direction: str = "forward") -> None:
    """Offer what :class:`Greedy` finds from one end of the frame, if it finds anything, in a trial of the run."""
    trial = run.trial()
    trial.best = Incumbents()  # from the end of the frame, not from what the run has
    try:
        Greedy(direction).solve(problem, trial)
    except ValueError:
        return
    run.offer(*trial.best_sets(), "greedy")
