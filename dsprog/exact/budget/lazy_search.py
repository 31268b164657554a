"""Limits on |S| for functions whose gains are not compiled: few marginals are asked for, in batches.

A node is a set I with a list of candidates C, |S| of I ∪ C still to be chosen. For S with I ⊆ S ⊆ I ∪ C and any
J ⊆ I, with U all that may ever be chosen,

    v(S) >= v(I) - Σ_{j∈S∖I} u_j,        u_j = g(j | J) - f(j | U∖j),

since marginals of g fall from J on, and those of f fall up to U. So an old gain is as valid as a new one, only larger.
With r places left a better set needs an element whose u_j is at least the r-th part of what is missing, and only such
gains are asked for again (Minoux). Children add one candidate each in falling order of u, and keep those after it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dsprog.approximate.first_sets import offer_exchanges
from dsprog.approximate.greedy import offer_greedy_sets
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.budget.budget_rows import Budget
from dsprog.run.driver import Bundle, Expansion, Method, concatenate, take
from dsprog.run.run import Run

TOGETHER = 8  # nodes whose gains are asked for at once
SOURCE = "lazy search"


class LazySearch(Method):
    """The search for one problem with limits on |S|."""

    def __init__(self, problem: Problem, run: Run, budget: Budget) -> None:
        super().__init__(problem, run)
        self.budget, self.margin = budget, 4.0 * problem.slack
        self.rounding = 2.0 * self.margin

    @cached_property
    def floors(self) -> Floats:
        """f(j | U∖j) for the free elements j."""
        everything = self.budget.include | self.budget.free
        floors: Floats = self.problem.objective.f.marginals(everything[None], self.budget.free[None])[0]
        return floors

    @property
    def cutoff(self) -> float:
        """A bound from here on closes a node; rounding counts as nothing, unless several sets are listed."""
        return self.run.cutoff if self.run.lists else min(self.run.cutoff, self.run.value - self.margin)

    # -- the driver's questions -------------------------------------------------------------------------------------

    def root(self) -> Bundle | None:
        """What the budget includes, with all gains there."""
        budget, objective = self.budget, self.problem.objective
        if budget.least > budget.most:
            return None
        mask, free = budget.include[None], budget.free[None]
        value = objective.values(mask)
        upper = np.where(free, objective.g.marginals(mask, free) - self.floors, 0.0)
        self.run.offer(mask[self.problem.feasible(mask)], value[self.problem.feasible(mask)], SOURCE)
        bound = value - self._best_sums(np.where(free, upper, -np.inf), 0)
        return {
            "lower": np.maximum(bound, self._least_value()),
            "I": mask,
            "candidates": free,
            "upper": upper,
            "value": value,
        }

    def start(self) -> None:
        """Greedy and exchanges."""
        if self.budget.least <= self.budget.most:
            offer_greedy_sets(self.problem, self.run)
            offer_exchanges(self.problem, self.run)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Look at some nodes at a time, until told to stop."""
        del cutoff
        children: list[Bundle] = []
        nodes, count = 0, len(bundle["lower"])
        while nodes < count:
            rows = take(bundle, slice(nodes, nodes + TOGETHER))
            nodes += len(rows["lower"])
            rows = take(rows, rows["lower"] < self.cutoff)
            if len(rows["lower"]):
                children += self._children(self._refreshed(rows))
            rest = take(bundle, slice(nodes, None))
            open_nodes = [*children, *([rest] if nodes < count else [])]
            if self.run.pause(nodes, SOURCE, lambda open_nodes=open_nodes: self._frontier(open_nodes)):  # type: ignore[misc]
                children = open_nodes
                break
        nothing = np.zeros((0, self.problem.n), dtype=bool)
        return Expansion(children, nodes, nothing, np.zeros(0), self.cutoff, SOURCE)

    def proof(self) -> str:
        """What closed the nodes."""
        return "depth-first search with gains, asked for where they may matter"

    def _least_value(self) -> float:
        """A bound from all that may be chosen: v(S) >= f(I) + Σ_{j∈S∖I} f(j | U∖j) - g(U) where g increases."""
        objective, budget = self.problem.objective, self.budget
        if objective.g.knows.increasing is not True:
            return -np.inf
        costs = self._best_sums(np.where(budget.free, -self.floors, -np.inf)[None], 0)[0]
        f, g = objective.f.values(budget.include[None])[0], objective.g.values((budget.include | budget.free)[None])[0]
        return float(f - costs - g)

    # -- mathematics ------------------------------------------------------------------------------------------------

    def _frontier(self, bundles: list[Bundle]) -> tuple[int, float]:
        lower = np.concatenate([np.zeros(0), *(bundle["lower"] for bundle in bundles)])
        return len(lower), float(min(lower.min(initial=np.inf), self.cutoff))

    def _places(self, masks: Masks) -> Ints:
        """How many more elements each set may have."""
        places: Ints = self.budget.most + int(self.budget.include.sum()) - masks.sum(axis=1)
        return places

    def _best_sums(self, upper: Floats, taken: int) -> Floats:
        """The most that the rest of the budget adds, for rows with so many taken; -inf stands for no candidate."""
        most, least = self.budget.most - taken, max(0, self.budget.least - taken)
        if most <= 0:
            return np.zeros(len(upper))
        best = -np.sort(-upper, axis=1)[:, :most]
        best[:, least:] = np.maximum(best[:, least:], 0.0)
        sums: Floats = best.sum(axis=1)
        return sums if least <= upper.shape[1] else np.full(len(upper), -np.inf)

    def _refreshed(self, rows: Bundle) -> Bundle:
        """The rows with new gains where an old one is large enough for a better set."""
        missing = rows["value"] - self.cutoff  # a better set gains more than this
        level = np.where(missing > 0, missing / np.maximum(self._places(rows["I"]), 1), -np.inf)
        if self.budget.least:  # elements that must be chosen may lose
            level = np.where(missing > 0, level, -np.inf)
        among = rows["candidates"] & (rows["upper"] >= level[:, None])
        fresh = self.problem.objective.g.marginals(rows["I"], among) - self.floors
        return {**rows, "upper": np.where(among, np.minimum(fresh, rows["upper"]), rows["upper"])}

    def _children(self, rows: Bundle) -> list[Bundle]:
        """One bundle for each row: its children that may have a better set; sets are offered."""
        made = []
        for b in range(len(rows["lower"])):
            candidates = np.flatnonzero(rows["candidates"][b])
            order = candidates[np.argsort(-rows["upper"][b, candidates], kind="stable")]
            kept = self._kept(rows, b, order)
            if len(kept):
                made.append((b, order, kept))
        if not made:
            return []
        masks = np.concatenate([self._grown(rows["I"][b], order[kept]) for b, order, kept in made])
        parents = np.repeat([b for b, _, _ in made], [len(kept) for _, _, kept in made])
        values = self._values(rows, parents, masks)
        feasible = self.problem.feasible(masks) & (values < self.run.cutoff)
        if feasible.any():
            self.run.offer(masks[feasible], self.problem.objective.values(masks[feasible]), SOURCE)
        bundles, first = [], 0
        for b, order, kept in made:
            here = slice(first, first + len(kept))
            bundles.append(self._bundle(rows, b, order, kept, masks[here], values[here]))
            first += len(kept)
        open_nodes = concatenate(bundles)
        open_nodes = take(open_nodes, open_nodes["lower"] < self.cutoff)
        return [open_nodes] if len(open_nodes["lower"]) else []

    def _kept(self, rows: Bundle, b: int, order: Ints) -> Ints:
        """Places in the order whose children may have a better set: those before the first whose bound is too high."""
        taken = int(rows["I"][b].sum() - self.budget.include.sum())
        upper, most, least = rows["upper"][b, order], self.budget.most - taken, max(0, self.budget.least - taken)
        if most <= 0 or len(order) < max(1, least):
            return np.zeros(0, dtype=np.int64)
        sums = np.concatenate([[0.0], np.cumsum(np.maximum(upper, 0.0))])
        first = np.arange(len(order) - max(0, least - 1))
        # the first one is chosen, whatever it gains, and others that gain, or must be chosen
        gained = upper[first] + sums[np.minimum(first + most, len(order))] - sums[first + 1]
        must = np.concatenate([[0.0], np.cumsum(np.minimum(upper, 0.0))])
        gained += must[np.maximum(first + least, first + 1)] - must[first + 1]
        return first[rows["value"][b] - gained < self.cutoff]

    def _grown(self, mask: Masks, added: Ints) -> Masks:
        """I ∪ j for each j."""
        masks = np.repeat(mask[None], len(added), axis=0)
        masks[np.arange(len(added)), added] = True
        return masks

    def _values(self, rows: Bundle, parents: Ints, masks: Masks) -> Floats:
        """v(I ∪ j) from the gains of g, which are known, and those of f, which are exact where f is modular."""
        objective = self.problem.objective
        added = masks & ~rows["I"][parents]
        values = rows["value"][parents] - (rows["upper"][parents] * added).sum(axis=1)
        if objective.f.knows.modular:
            return values
        among = np.zeros_like(rows["I"])
        np.logical_or.at(among, parents, added)
        above = objective.f.marginals(rows["I"], among) - self.floors
        grown: Floats = values + (np.where(added, above[parents], 0.0)).sum(axis=1)
        return grown

    def _bundle(self, rows: Bundle, b: int, order: Ints, kept: Ints, masks: Masks, values: Floats) -> Bundle:
        """The children of a row: candidates after each, and the bound from their gains."""
        candidates = np.zeros_like(masks)
        for c, p in enumerate(kept):
            candidates[c, order[p + 1 :]] = True
        taken = int(masks[0].sum() - self.budget.include.sum())
        upper = np.repeat(rows["upper"][b][None], len(kept), axis=0)
        lower = values - self._best_sums(np.where(candidates, upper, -np.inf), taken)
        if taken >= self.budget.most:
            lower = np.full(len(kept), np.inf)
        lower = np.where(candidates.any(axis=1), lower, np.inf)  # only the set itself, which was offered
        return {"lower": lower, "I": masks, "candidates": candidates, "upper": upper, "value": values}
