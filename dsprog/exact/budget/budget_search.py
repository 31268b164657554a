"""Branch and bound under a budget: rows of a bundle are subtrees, and one compiled search walks through them.

A row of a bundle is a set and its candidates: the interval from the one to both. The search keeps its stack while it
may go on; an interrupted one gives back what is left of each level as rows, with their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from dsprog.approximate.first_sets import offer_exchanges
from dsprog.approximate.greedy import offer_greedy_sets
from dsprog.core.gain_model import IN, OUT, TABLE, Clients, GainModel
from dsprog.core.grain import grain_of
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.budget.budget_rows import Budget
from dsprog.exact.budget.by_client import ByClient, by_client_of, prices_of
from dsprog.exact.budget.client_kernels import Gains, least_gains_kernel
from dsprog.exact.budget.exchange_walk import exchange_kernel
from dsprog.exact.budget.search_stack import CHOSEN, DEPTH, FOUND, NODES, PLACE, REST, SIZE, TARGET, Found, Stack
from dsprog.exact.budget.search_stack import WORK as LOOPS
from dsprog.exact.budget.tasks import BOUND_BY_GAINS, BOUND_BY_STEPS, LOAD_PATH, SEARCH, budget_kernel
from dsprog.exact.budget.threshold_bound import DIRECTION, LENGTH, ORDER, STEP, THRESHOLD, Desk
from dsprog.run.driver import Bundle, Expansion, Method, concatenate, take
from dsprog.run.run import Run

WORK = 20_000_000  # steps of loops between two looks at the clock
ROOT_STEPS, ROW_STEPS = 500, 40  # of thresholds, for the whole problem and for what an interruption left
PRICED_STEPS = 100  # of prices for the whole problem: nodes go on with them, and small problems need no more
CHUNK = 20  # of those steps after which candidates are trimmed
SHORTEST = 1e-3  # thresholds are left alone when their steps are this short
GRAINS_KEPT, LEAST_GRAIN = 0.99, 1000.0  # of a grain, and of rounding: what is closed by a grain must be far from both
LATE, WALK, WALK_STEPS = 4, 20_000_000, 300  # looks at the clock, steps of loops, and exchanges: a walk if it lasts
SOURCE = "depth-first search"


class BudgetSearch(Method):
    """The search for one problem with a budget."""

    def __init__(self, problem: Problem, run: Run, budget: Budget) -> None:
        super().__init__(problem, run)
        self.budget = budget

    @cached_property
    def model(self) -> GainModel:
        """The objective, as clients; what the budget decides is settled."""
        model = GainModel(self.problem.n)
        elements = np.where(self.budget.free, np.arange(self.problem.n), OUT)
        elements[self.budget.include] = IN
        model.enter(self.problem.objective, elements, -1.0)
        return model

    @cached_property
    def clients(self) -> Clients:
        """The model, compiled."""
        return self.model.compiled()

    @cached_property
    def margin(self) -> float:
        """Sums here are made in another order than those of values, and gains that are kept up to date lose a little.

        An element with d clients is touched at most d times by each element chosen, and each time loses half a unit in
        the last place of its first gain at most.
        """
        lost, clients = 0.0, self.clients
        if len(self.by_client.heads):
            often = float(self.budget.most * np.diff(clients.indptr[:2], axis=1).sum(axis=0).max(initial=0))
            gains = self.by_client.largest_gains(clients, self.problem.n) + np.abs(self.model.modular)
            lost = np.finfo(float).eps * often * float(np.sort(gains)[::-1][: self.budget.most].sum())
        return 4.0 * self.problem.slack + lost

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """What the margin leaves open counts as proved."""
        return 2.0 * self.margin

    @cached_property
    def by_client(self) -> ByClient:
        """Rewards by client, where they are sparse."""
        return by_client_of(self.clients, self.problem.n)

    @cached_property
    def entries(self) -> int:
        """How many prices there are."""
        return prices_of(self.clients, self.problem.n)

    @cached_property
    def priced(self) -> bool:
        """Whether there are costs."""
        return bool(self.clients.offsets[6] > self.clients.offsets[3])

    @cached_property
    def least_step(self) -> float:
        """By what a better set is better at least: rounding, or nearly the grain where values are multiples of one.

        Values are then constant + whole multiples of the grain q, so that a value above v is at least v + q.
        """
        if self.clients.offsets[2] > self.clients.offsets[1] or self.clients.curves.any():
            return self.margin
        step = GRAINS_KEPT * grain_of(self.model.modular, self.clients.data, self.clients.first)
        return step if step > LEAST_GRAIN * self.margin else self.margin

    @cached_property
    def stack(self) -> Stack:
        """Arrays for every level."""
        n, levels, clients = self.problem.n, self.budget.most + 2, self.clients
        return Stack(
            np.zeros((levels, 7), dtype=np.int64), np.zeros((levels, 4)),
            np.zeros((levels, len(self.budget.caps)), dtype=np.int64), np.empty((levels, n), dtype=np.int64),
            np.empty((levels, n)), np.empty((levels, n)), np.empty((levels, len(clients.first))),
            np.empty((levels, clients.offsets[3])), np.empty((levels, n if len(self.by_client.heads) else 0)),
            np.empty((levels, self.entries)),
        )  # fmt: skip

    @cached_property
    def desk(self) -> Desk:
        """Arrays to work with."""
        n = self.problem.n
        lists, counts = np.zeros((4, n), dtype=np.int64), np.zeros(len(self.budget.caps), dtype=np.int64)
        longest = int(np.diff(self.by_client.heads).max(initial=0)) + 1 if self.entries else 0
        prices = np.zeros((11, max(n, self.entries, longest) if self.entries else 0))
        walk = np.zeros((4, longest), dtype=np.int64)
        return Desk(np.zeros((6, self.clients.offsets[3])), np.zeros((4, n)), lists, counts, prices, walk)

    @cached_property
    def measured(self) -> Floats:
        """What thresholds did so far, by places left: see ``with_thresholds``."""
        return np.zeros((6, self.budget.most + 2))

    # -- the driver's questions -------------------------------------------------------------------------------------

    def root(self) -> Bundle | None:
        """All sets of the budget."""
        budget = self.budget
        if budget.least > budget.most:
            return None
        nothing = np.zeros(0, dtype=np.int64)
        bound = Subtree(self, nothing, budget.free, self.ceiling()).bound()
        return None if bound == -math.inf else rows_of([nothing], [budget.free], [bound], budget.most)

    def start(self) -> None:
        """Greedy and exchanges."""
        if self.budget.least > self.budget.most:
            return
        offer_greedy_sets(self.problem, self.run)
        offer_exchanges(self.problem, self.run)

    def look_further(self) -> None:
        """A walk of exchanges, with arrays of its own."""
        BudgetSearch(self.problem, self.run, self.budget).walk()

    def walk(self) -> None:
        """Exchanges that may make a set worse for a while, as many as are cheap, where only |S| is limited."""
        budget, run = self.budget, self.run
        if run.mask is None or budget.knapsack or len(budget.caps):
            return
        members = np.flatnonzero(run.mask & budget.free)
        nothing, size = np.zeros(0, dtype=np.int64), len(members)
        work = (len(self.clients.data) + self.problem.n) * size * (1 + size / self.problem.n)
        steps = int(min(WALK_STEPS, WALK // (1 + work)))
        if not 0 < size < budget.free.sum() or steps == 0:
            return
        tree = Subtree(self, nothing, budget.free, math.inf)
        tree.found.members[0, : size + 1] = size, *members
        exchange_kernel(tree.gains, self.stack, self.desk, tree.found, steps)
        self.offer([tree.found.members[0, 1 : size + 1].copy()], "exchange")

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
        return "depth-first search with gains" + (" and thresholds" if self.clients.offsets[3] else "")

    # -- what a subtree asks ----------------------------------------------------------------------------------------

    def room(self, path: Ints) -> Budget:
        """What the budget leaves after a path."""
        budget, taken = self.budget, len(path)
        capacity = budget.capacity - float(budget.weights[path].sum()) if budget.knapsack else 0.0
        return budget._replace(least=max(0, budget.least - taken), most=budget.most - taken, capacity=capacity)

    def gains(self, path: Ints, candidates: Masks) -> Gains:
        """The objective above a path: f(j | U∖j) for U the path and its candidates bounds what costs grow by."""
        floors = np.zeros(self.problem.n)
        if self.priced:
            inside = np.zeros(self.problem.n, dtype=bool)
            inside[path] = True
            least_gains_kernel(self.clients, inside, candidates, floors)
        return Gains(self.model.modular, floors, self.clients, self.priced, *self.by_client)

    def ceiling(self) -> float:
        """All rewards: where these increase, no set has more than all elements together have."""
        clients, free = self.clients, self.budget.free
        if (clients.curves[0, clients.offsets[2] : clients.offsets[3]] == TABLE).any() or self.priced:
            return math.inf
        everything = free | self.budget.include
        modular = self.model.modular[free]
        at_all = -float(self.problem.objective.values(everything[None, :])[0]) - float(modular.sum())
        return at_all + float(np.maximum(modular, 0.0).sum()) if self.budget.least == 0 else math.inf

    @property
    def target(self) -> float:
        """What a set must be above: the cutoff of the run, and the grain beyond the best value."""
        if self.run.lists:
            return -self.run.cutoff
        return max(-self.run.cutoff, -self.run.value + self.least_step)

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
        self.method, self.path = method, chosen[chosen >= 0]
        self.gains, self.room = method.gains(self.path, candidates), method.room(self.path)
        self.tally, self.nodes = np.zeros(4, dtype=np.int64), 0
        run, keeps = method.run, method.run.best.keeps
        self.found = Found(np.zeros((keeps, method.budget.most + 2), dtype=np.int64), np.zeros(keeps))
        self.goal = np.array(
            [method.target, method.least_step, run.limits.gap, run.within, -run.value, 1.0, 0.0, math.inf, 0.0]
        )
        stack, free = method.stack, np.flatnonzero(candidates)
        stack.marks[0], stack.numbers[0] = (-1, -1, len(free), 0, -1, -1, -1), (method.model.constant, 0.0, 0.0, bound)
        stack.elements[0, : len(free)], stack.upper[0, : len(free)] = free, math.inf
        blocks = method.budget.blocks[self.path]
        stack.used[0] = np.bincount(blocks[blocks >= 0], minlength=stack.used.shape[1])
        method.desk.lists[ORDER, : len(self.path)] = self.path
        self.do(LOAD_PATH, len(self.path))

    def do(self, task: int, amount: int = 0) -> float:
        """One task of the kernel."""
        method = self.method
        found: float = budget_kernel(
            self.gains, self.room, method.stack, method.desk, method.measured, self.found, self.goal, self.tally, task,
            amount,
        )  # fmt: skip
        return found

    def bound(self) -> float:
        """From the gains alone, and what is known already."""
        return min(self.do(BOUND_BY_GAINS), float(self.method.stack.numbers[0, REST]))

    def run_on(self, nodes: int, others: int, lower: float) -> Bundle | None:
        """Search; what is left if the run says stop. Before it ``nodes`` were looked at, and other rows are open."""
        run, rest = self.method.run, self.method.stack.numbers[:, REST]

        def frontier() -> tuple[int, float]:
            depth = max(0, int(self.tally[DEPTH]))
            return others + depth + 1, min(lower, -float(rest[: depth + 1].max()))

        paused, walked = self._lower_thresholds(lambda: run.pause(nodes, SOURCE, frontier)), len(self.path) > 0
        while not paused:
            ended = self.do(SEARCH, WORK)
            self.offer_found(SOURCE)
            self.nodes = int(self.tally[NODES])
            if ended:
                return None
            paused = run.pause(nodes + self.nodes, SOURCE, frontier)
            if not paused and not walked and self.tally[LOOPS] > LATE * WORK:
                self.method.look_further()
                self.goal[TARGET], walked = max(self.goal[TARGET], self.method.target), True
        return self._rest()

    def _lower_thresholds(self, pause: Callable[[], bool]) -> bool:
        """Thresholds for the whole subtree, where they may be worth many steps; whether the run says stop."""
        stack, desk, goal = self.method.stack, self.method.desk, self.goal
        clients = stack.thresholds.shape[1]
        if clients == 0 or math.isinf(goal[TARGET]) or self.room.most < 2:
            return False
        self.do(BOUND_BY_GAINS)
        desk.clients[THRESHOLD], desk.clients[DIRECTION] = stack.thresholds[0], 0.0
        goal[LENGTH : STEP + 1] = 1.0, 0.0, math.inf, 0.0
        whole = PRICED_STEPS if self.method.entries else ROOT_STEPS
        left = ROW_STEPS if len(self.path) else whole
        while left > 0 and goal[LENGTH] > SHORTEST and stack.numbers[0, REST] > goal[TARGET] and stack.marks[0, SIZE]:
            steps = min(left, CHUNK, 1 + WORK // (1 + int(stack.marks[0, SIZE]) * clients))
            self.do(BOUND_BY_STEPS, steps)
            left -= steps
            if pause():
                return True
        return False

    def offer_found(self, source: str) -> None:
        """Give new sets to the run, and take its cutoff."""
        count, members = int(self.tally[FOUND]), self.found.members
        if count:
            sets = [np.append(self.path, members[k, 1 : 1 + members[k, 0]]) for k in range(count)]
            self.method.offer(sets, source)
            self.tally[FOUND] = 0
            self.goal[TARGET] = max(self.goal[TARGET], self.method.target)

    def _rest(self) -> Bundle:
        """What is left of every level of the stack."""
        stack, paths, candidates, bounds = self.method.stack, [], [], []
        for d in range(int(self.tally[DEPTH]) + 1):
            place, size = stack.marks[d, PLACE], stack.marks[d, SIZE]
            if place + 1 < size or place < 0:
                mask = np.zeros(self.method.problem.n, dtype=bool)
                mask[stack.elements[d, place + 1 : size]] = True
                paths.append(np.append(self.path, stack.marks[1 : d + 1, CHOSEN]))
                candidates.append(mask)
                bounds.append(float(stack.numbers[d, REST]))
        return rows_of(paths, candidates, bounds, self.method.budget.most)
