"""Branch and bound under a budget: rows of a bundle are subtrees, and one compiled search walks through them.

A row of a bundle is a set and its candidates: the interval from the one to both. The search keeps its stack while it
may go on; an interrupted one gives back what is left of each level as rows, with their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from dsprog.core.gain_model import IN, OUT, Clients, GainModel
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.budget.budget_rows import Budget
from dsprog.exact.budget.client_kernels import least_gains_kernel
from dsprog.exact.budget.depth_first import (
    DEPTH,
    FOUND,
    NODES,
    TARGET,
    Found,
    Measured,
    Stack,
    gains_kernel,
    load_kernel,
    root_kernel,
    search_kernel,
)
from dsprog.exact.budget.greedy_exchange import exchange_kernel, greedy_kernel, new_state
from dsprog.exact.budget.threshold_bound import Ascent, Gains, Room
from dsprog.run.driver import Bundle, Expansion, Method, concatenate, take
from dsprog.run.run import Run

WORK = 20_000_000  # numbers looked at between two looks at the clock
ROOT_STEPS, ROW_STEPS = 500, 40  # of thresholds, for the whole problem and for what an interruption left
CHUNK = 20  # of those steps after which candidates are trimmed
SOURCE = "depth-first search"
SHORTEST = 1e-3  # steps of thresholds are given up when they are this short


class BudgetSearch(Method):
    """The search for one problem with a budget."""

    def __init__(self, problem: Problem, run: Run, budget: Budget) -> None:
        super().__init__(problem, run)
        self.budget = budget
        self.margin = 4.0 * problem.slack  # sums here are made in another order than those of values
        self.rounding = 2.0 * self.margin

    @cached_property
    def model(self) -> GainModel:
        """The objective, as clients; what the budget decides is settled."""
        model = GainModel(self.problem.n)
        elements = np.where(self.budget.free, np.arange(self.problem.n), OUT)
        elements[self.budget.include] = IN
        model.enter(self.problem.objective, elements, -1.0)
        return model

    @cached_property
    def sides(self) -> tuple[Clients, Clients]:
        """Rewards and costs, compiled."""
        return self.model.rewards.compiled(), self.model.costs.compiled()

    @cached_property
    def priced(self) -> bool:
        """Whether there are costs."""
        return sum(map(len, self.sides[1][-3:])) > 0

    @cached_property
    def stack(self) -> Stack:
        """Arrays for every level."""
        n, levels = self.problem.n, self.budget.most + 2
        whole, number = np.int64, float
        (best, alive, sums), (cost_best, cost_alive, cost_sums) = (
            [len(first) for first in side[-3:]] for side in self.sides
        )
        sizes = (*((levels, width) for width in (best, alive, sums, cost_best, cost_alive, cost_sums, best)),)
        return Stack(
            *(np.zeros(levels, dtype=whole) for _ in range(3)), *(np.zeros(levels) for _ in range(4)),
            *(np.zeros(levels, dtype=whole) for _ in range(2)), np.zeros((levels, len(self.budget.caps)), dtype=whole),
            np.empty((levels, n), dtype=whole), np.empty((levels, n)), np.empty((levels, n)),
            *(np.empty(size, dtype=number) for size in sizes),
        )  # fmt: skip

    @cached_property
    def ascent(self) -> Ascent:
        """Arrays for thresholds and sorting."""
        n, clients = self.problem.n, len(self.sides[0].first_best)
        floats, ints = (lambda: np.zeros(n)), (lambda: np.zeros(n, dtype=np.int64))
        return Ascent(
            *(np.zeros(clients) for _ in range(4)), floats(), floats(), floats(), ints(), floats(), floats(),
            ints(), ints(), np.zeros(len(self.budget.caps), dtype=np.int64), np.zeros(n, dtype=bool),
        )  # fmt: skip

    @cached_property
    def pace(self) -> Floats:
        """Of thresholds: the length of steps, failures, and the least bound."""
        return np.zeros(3)

    @cached_property
    def measured(self) -> Measured:
        """What thresholds did so far."""
        places = self.budget.most + 2
        return Measured(np.zeros((2, places), dtype=np.int64), np.zeros((2, places)))

    # -- the driver's questions -------------------------------------------------------------------------------------

    def root(self) -> Bundle | None:
        """All sets of the budget."""
        budget = self.budget
        if budget.least > budget.most:
            return None
        nothing = np.zeros(0, dtype=np.int64)
        bound = Subtree(self, nothing, budget.free, math.inf).bound()
        return None if bound == -math.inf else rows_of([nothing], [budget.free], [bound], budget.most)

    def start(self) -> None:
        """Greedy and exchanges."""
        budget, (rewards, costs) = self.budget, self.sides
        gains = Gains(self.model.modular, np.zeros(self.problem.n), rewards, costs, self.priced)
        room, state = self.room(np.zeros(0, dtype=np.int64)), new_state(rewards, costs)
        found = []
        for by_weight in (False, True)[: 1 + budget.knapsack]:
            free, members = budget.free.copy(), np.zeros(budget.most + 1, dtype=np.int64)
            used = np.zeros(len(budget.caps), dtype=np.int64)
            count, value = greedy_kernel(gains, room, state, free, members, used, by_weight)
            if count < budget.least:
                continue
            count, value = exchange_kernel(
                gains, room, state, free, members, used, count, value, self.margin, 10 * WORK
            )
            found.append(members[:count])
        self.offer(found, "greedy and exchanges")

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search the rows from the last to the first, until told to stop; sets are offered as they are found."""
        left, nodes = len(bundle["lower"]), 0
        rest: Bundle | None = None
        while left > 0 and rest is None:
            left -= 1
            if bundle["lower"][left] < self.run.cutoff:
                others = float(np.min(bundle["lower"][:left], initial=math.inf))
                search = Subtree(self, bundle["chosen"][left], bundle["candidates"][left], -bundle["lower"][left])
                rest = search.run_on(nodes, left, others)
                nodes += search.nodes
        bundles = [] if rest is None else [concatenate([take(bundle, slice(left)), rest])]
        nothing = np.zeros((0, self.problem.n), dtype=bool)
        return Expansion(bundles, nodes, nothing, np.zeros(0), self.run.cutoff, SOURCE)

    def proof(self) -> str:
        """Which bounds closed the nodes."""
        return "depth-first search with gains" + (" and thresholds" if len(self.sides[0].first_best) else "")

    # -- helpers ----------------------------------------------------------------------------------------------------

    def room(self, path: Ints) -> Room:
        """What the budget leaves after a path."""
        budget, taken = self.budget, len(path)
        capacity = budget.capacity - float(budget.weights[path].sum()) if budget.knapsack else 0.0
        weights = budget.weights if budget.knapsack else np.zeros(self.problem.n)
        least, most = max(0, budget.least - taken), budget.most - taken
        return Room(least, most, budget.blocks, budget.caps, weights, capacity, budget.knapsack)

    def gains(self, path: Ints, candidates: Masks) -> Gains:
        """The objective above a path: f(j | U∖j) for U the path and its candidates bounds what costs grow by."""
        rewards, costs = self.sides
        floors = np.zeros(self.problem.n)
        if self.priced:
            inside = np.zeros(self.problem.n, dtype=bool)
            inside[path] = True
            least_gains_kernel(costs, inside, candidates, floors)
        return Gains(self.model.modular, floors, rewards, costs, self.priced)

    def offer(self, sets: list[Ints], source: str) -> None:
        """Give sets of free elements to the run."""
        masks = np.repeat(self.budget.include[None, :], len(sets), axis=0)
        for mask, members in zip(masks, sets):
            mask[members] = True
        masks = masks[self.problem.feasible(masks)]
        self.run.offer(masks, self.problem.objective.values(masks), source)


def rows_of(paths: list[Ints], candidates: list[Masks], bounds: list[float], width: int) -> Bundle:
    """Subtrees as a bundle: chosen elements (-1: none), candidates, bounds of a minimisation."""
    chosen = np.full((len(paths), width), -1)
    for row, path in zip(chosen, paths):
        row[: len(path)] = path
    return {"lower": -np.array(bounds), "chosen": chosen, "candidates": np.array(candidates)}


class Subtree:
    """The compiled search below one row of a bundle."""

    def __init__(self, method: BudgetSearch, chosen: Ints, candidates: Masks, bound: float) -> None:
        self.method, self.candidates = method, candidates
        self.path = chosen[chosen >= 0]
        self.gains, self.room = method.gains(self.path, candidates), method.room(self.path)
        self.tally, self.nodes = np.zeros(4, dtype=np.int64), 0
        run, keeps = method.run, method.run.best.keeps
        width = method.budget.most + 2
        self.found = Found(np.zeros((keeps, width), dtype=np.int64), np.zeros(keeps, dtype=np.int64), np.zeros(keeps))
        self.goal = np.array([-run.cutoff, method.margin, run.limits.gap, run.within, -run.value])
        stack, free = method.stack, np.flatnonzero(candidates)
        stack.value[0] = method.model.constant + load_kernel(self.gains, stack, self.path)
        stack.load[0], stack.place[0], stack.bounded[0], stack.begun[0] = 0.0, -1, -1, 0
        stack.size[0], stack.rest[0] = len(free), bound
        stack.elements[0, : len(free)], stack.upper[0, : len(free)] = free, math.inf
        blocks = method.budget.blocks[self.path]
        stack.used[0] = np.bincount(blocks[blocks >= 0], minlength=stack.used.shape[1])

    def bound(self) -> float:
        """From the gains alone."""
        return float(gains_kernel(self.gains, self.room, self.method.stack, self.method.ascent, self.tally))

    def run_on(self, nodes: int, others: int, lower: float) -> Bundle | None:
        """Search; what is left if the run says stop. Before it ``nodes`` were looked at, and other rows are open."""
        run, stack = self.method.run, self.method.stack

        def frontier() -> tuple[int, float]:
            depth = max(0, int(self.tally[DEPTH]))
            return others + depth + 1, min(lower, -float(stack.rest[: depth + 1].max()))

        paused = self._lower_thresholds(lambda: run.pause(nodes, SOURCE, frontier))
        while not paused:
            ended = search_kernel(
                self.gains, self.room, stack, self.method.ascent, self.method.pace, self.method.measured, self.found,
                self.goal, self.tally, WORK,
            )  # fmt: skip
            self._offer_found()
            self.nodes = int(self.tally[NODES])
            if ended:
                return None
            paused = run.pause(nodes + self.nodes, SOURCE, frontier)
        return self._rest()

    def _lower_thresholds(self, pause: Callable[[], bool]) -> bool:
        """Thresholds for the whole subtree, where they may be worth many steps; whether the run says stop."""
        method, stack = self.method, self.method.stack
        ascent, pace = method.ascent, method.pace
        if not len(ascent.thresholds) or math.isinf(self.goal[TARGET]) or self.room.most < 2:
            return False
        stack.rest[0] = min(stack.rest[0], self.bound())
        ascent.thresholds[:], ascent.direction[:] = stack.thresholds[0], 0.0
        pace[:] = 1.0, 0.0, math.inf
        left = ROW_STEPS if len(self.path) else ROOT_STEPS
        while left > 0 and pace[0] > SHORTEST and stack.rest[0] > self.goal[TARGET] and stack.size[0]:
            steps = min(left, CHUNK, 1 + WORK // (1 + int(stack.size[0]) * len(ascent.thresholds)))
            root_kernel(self.gains, self.room, stack, ascent, pace, self.goal, self.tally, steps)
            left -= steps
            if pause():
                return True
        return False

    def _offer_found(self) -> None:
        """Give new sets to the run, and take its cutoff."""
        count, run = int(self.tally[FOUND]), self.method.run
        if count:
            members, lengths = self.found.members, self.found.lengths
            sets = [np.append(self.path, members[k, : lengths[k]]) for k in range(count)]
            self.method.offer(sets, SOURCE)
            self.tally[FOUND] = 0
            self.goal[TARGET] = max(self.goal[TARGET], -run.cutoff)

    def _rest(self) -> Bundle:
        """What is left of every level of the stack."""
        stack, depth = self.method.stack, int(self.tally[DEPTH])
        paths, candidates, bounds = [], [], []
        for d in range(depth + 1):
            left = stack.elements[d, stack.place[d] + 1 : stack.size[d]]
            if len(left) == 0 and stack.place[d] >= 0:
                continue
            mask = np.zeros(self.method.problem.n, dtype=bool)
            mask[left] = True
            paths.append(np.append(self.path, stack.chosen[1 : d + 1]))
            candidates.append(mask)
            bounds.append(float(stack.rest[d]))
        return rows_of(paths, candidates, bounds, self.method.budget.most)
