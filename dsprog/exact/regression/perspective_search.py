"""The search of penalised least squares: one node a row, its relaxation inherited from its parent."""

from __future__ import annotations

import heapq
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dsprog.approximate.first_sets import offer_exchanges
from dsprog.approximate.greedy import offer_greedy_sets
from dsprog.approximate.local_search import descend
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate, relax_rows
from dsprog.core.validation import Floats, Masks
from dsprog.exact.regression.budget import budget_of, only_budgets
from dsprog.exact.regression.few_features import bounding_loss, is_weak, most_features_of, sparse_eigenvalue_of
from dsprog.exact.regression.forward_swaps import offer_swapped
from dsprog.exact.regression.losses import AnyLoss, AnyRelaxation, loss_of
from dsprog.exact.regression.penalty_minorant import least_penalty, minorant, order_of
from dsprog.exact.regression.relaxation import Loss
from dsprog.exact.regression.root_node import root_bound, root_of
from dsprog.exact.regression.wide_loss import WideLoss
from dsprog.run.driver import Bundle, Expansion, Method, remade
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound

Node = dict[str, Any]  # a row of a bundle
ENOUGH = 0.005  # a step of the diagonal that closes less of the gap than this is the last
RENEW = 8  # levels of the tree between two minorants of the penalty
BOXED, RAISED = 250, 100  # free features up to which boxes, and the diagonal below the root, pay under a budget
MOST_BOXED = 400  # the same for boxes without a budget
BOX_AGAIN = 0.85  # boxes are tightened again when this part of the gap is left
LARGEST_STEP = 300  # free features beyond which a step of the diagonal takes too long
MANY_FREE, FEW_STEPS = 250, 3  # free features beyond which the root of a budget takes only few steps
MANY_SWAPPED, MOST_SWAPPED = 150, 50  # features beyond which first sets are those of swaps, if a price leaves so few
PREFIXES = 40  # features in the order of the relaxation that starting sets are made of


class PerspectiveSearch(Method):
    """One node a row: I, U, the point w and diagonal D of its relaxation, boxes and the minorant of the penalty."""

    def __init__(self, problem: Problem, run: Run, options: PerspectiveBranchAndBound) -> None:
        super().__init__(problem, run)
        self.options, self.n = options, problem.n
        self.seen: set[bytes] = set()

    @cached_property
    def loss(self) -> AnyLoss:
        """The loss and its penalty."""
        loss = self.problem.derived(loss_of)
        if loss is None:
            raise ValueError("the objective must be one LeastSquares or LogisticLoss and terms known to be submodular")
        return loss

    @cached_property
    def below(self) -> AnyLoss:
        """What is relaxed: the loss, or a definite one that is below it at all sets within the budget."""
        loss = self.loss
        if not isinstance(loss, Loss) or (loss.is_definite and not is_weak(loss)):
            return loss
        eigenvalue = self.problem.derived(sparse_eigenvalue_of) if self.budget < self.n else None
        if eigenvalue is None and not loss.is_definite:
            lists = "a list of sets needs a budget, since a price bounds the best one only; " if self.run.lists else ""
            raise ValueError(
                f"{lists}the columns of X are dependent, and so may be as many of them as the budget allows"
            )
        if eigenvalue is None:
            return loss
        return bounding_loss(loss, eigenvalue, self._root_bound, self._over)

    def _over(self) -> bool:
        """Whether a limit has come."""
        return self.run.stop_reason() is not None

    @cached_property
    def at_empty(self) -> float:
        """The penalty of ∅."""
        return self.loss.penalty([])

    @cached_property
    def budget(self) -> int:
        """The most features that a feasible set has, or one that is worth finding."""
        return budget_of(self.problem) if self.run.lists else self.problem.derived(most_features_of)

    @property
    def is_possible(self) -> bool:
        """Whether a row that counts features leaves any number of them: 0 at least."""
        return self.budget >= 0

    def root(self) -> Bundle | None:
        """All sets, with the largest multiple of the identity for D; none if a row leaves no set."""
        if not self.is_possible:
            return None
        bundle = self._root_of(self.below)
        self.run.raise_bound(least_penalty(self.at_empty, {key: value[0] for key, value in bundle.items()}))
        return bundle

    def _root_bound(self, loss: Loss) -> float:
        """The bound of all sets with another loss."""
        return root_bound(loss, self._first_minorant(loss), self.budget)

    def _root_of(self, loss: AnyLoss) -> Bundle:
        return root_of(loss, self._first_minorant(loss))

    def _first_minorant(self, loss: AnyLoss) -> Floats:
        """Tight along the order in which features promise most alone."""
        return minorant(self.loss.penalty, np.ones(self.n, dtype=bool), np.argsort(-np.abs(loss.b)))

    def proof(self) -> str:
        """How the bound was proved."""
        return "branch and bound with perspective bounds and coefficient boxes"

    def start(self) -> None:
        """Local optima near greedy sets and those that the relaxation suggests, improved by exchanges.

        Under a budget alone, or where few of many features are worth their price: forward selection and swaps, from ∅
        and from a set that is known.
        """
        if not self.is_possible:
            return
        loss, priced = self.loss, self.budget == self.n
        few = isinstance(loss, WideLoss) or not priced or self.n > MANY_SWAPPED
        if few and isinstance(loss, (Loss, WideLoss)) and only_budgets(self.problem):
            most = min(self.budget, MOST_SWAPPED) if priced else self.budget
            offer_swapped(self.problem, self.run, loss, most)
            if not priced or isinstance(loss, WideLoss) or self.run.mask is None or self.run.mask.sum() < most:
                return
        offer_greedy_sets(self.problem, self.run)
        self.run.offer(*self.starting_sets(self.run.mask), "relaxation")
        offer_exchanges(self.problem, self.run)

    def starting_sets(self, known: Masks | None = None) -> tuple[Masks, Floats]:
        """Local optima near the sets that the order of the root relaxation begins with, ∅, and a known set."""
        node = {key: value[0].copy() for key, value in self._root_of(self.below).items()}
        relaxation = self._tighten(node, np.inf, self.options.root_steps)
        masks = np.zeros((min(self.n, PREFIXES) + 1, self.n), dtype=bool)
        if relaxation is not None:
            order = order_of(node, relaxation)
            masks |= np.arange(len(masks))[:, None] > np.argsort(order)
        masks = masks[self.problem.feasible(masks)]
        starts = np.concatenate([masks[np.argsort(self.problem.objective.values(masks))[:1]], masks[:1]])
        if known is not None:
            starts = np.concatenate([starts, known[None]])
        feasible = self.problem.feasible if len(self.problem.rows) else None
        return descend(self.problem.objective, starts, self.problem.slack, feasible, self._over)

    def recipe(self) -> partial[Method]:
        """From the options."""
        return partial(remade, PerspectiveSearch, self.options)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search best first below a node for a while, or until a better set asks for a new cutoff."""
        heap = [
            (float(lower), -k, {key: value[k].copy() for key, value in bundle.items()})
            for k, lower in enumerate(bundle["lower"])
        ]
        heapq.heapify(heap)
        masks, values = np.zeros((0, self.n), dtype=bool), np.zeros(0)
        nodes, pushed = 0, len(heap)

        def frontier() -> tuple[int, float]:
            return len(heap), min(cutoff, *(entry[0] for entry in heap), np.inf)

        while heap and nodes < self.options.unit and not self.enough(len(heap)):
            if self.run.pause(nodes, "search", frontier):
                break
            nodes += 1
            children, sets = self._process(heapq.heappop(heap)[2], cutoff)
            for child in children:
                pushed += 1
                heapq.heappush(heap, (float(child["lower"]), -pushed, child))
            masks = np.concatenate([masks, sets])
            values = np.concatenate([values, self.problem.objective.values(sets)])
            if values.min(initial=np.inf) < cutoff:
                break
        open_nodes = [{key: np.asarray(value)[None] for key, value in node.items()} for _, _, node in heap]
        # All that was closed, fixed or boxed was compared with the cutoff: no set lost in this way is below it.
        return Expansion(open_nodes, nodes, masks, values, cutoff, "search")

    def enough(self, open_nodes: int) -> bool:
        """Whether this many nodes are better looked at elsewhere."""
        del open_nodes
        return False

    # -- one node ---------------------------------------------------------------------------------------------------

    def _process(self, node: Node, cutoff: float) -> tuple[list[Node], Masks]:
        """Bound a node and split it; its children, and sets to try."""
        if self.budget - node["I"].sum() == 1:
            return [], self._with_one_more(node, cutoff)
        rounds, steps = (
            (1, self.options.steps) if node["depth"] else (self.options.root_rounds, self.options.root_steps)
        )
        boxed = self._boxes_pay(node, cutoff)
        relaxation = self._tighten(node, cutoff, steps)
        for _ in range(rounds):
            if relaxation is None or len(relaxation.free) == 0:
                break
            before = relaxation.lower
            if self._renew_minorant(node, relaxation):
                relaxation = self._tighten(node, cutoff, 0, relaxation)
            if relaxation is None or len(relaxation.free) == 0:
                break
            if boxed and len(relaxation.free) <= (BOXED if self.budget < self.n else MOST_BOXED):
                exclude = relaxation.tighten_boxes(cutoff)
                relaxation.store(node)
                node["U"][relaxation.free[exclude]] = False
            relaxation = self._tighten(node, cutoff, steps, relaxation)
            if relaxation is not None and relaxation.lower - before < 2 * ENOUGH * relaxation.room(cutoff):
                break
        if relaxation is None:
            return [], np.zeros((0, self.n), dtype=bool)
        rounded = node["I"].copy()
        rounded[relaxation.rounded] = True
        return self._children(node, relaxation, cutoff), self._new([node["I"], rounded])

    def _boxes_pay(self, node: Node, cutoff: float) -> bool:
        """Whether the gap is enough smaller than when the boxes of a node were tightened for the last time."""
        room = max(cutoff - float(node["lower"]), 0.0)
        if room > BOX_AGAIN * node["boxed"]:
            return False
        node["boxed"] = np.float64(room)
        return True

    def _with_one_more(self, node: Node, cutoff: float) -> Masks:
        """All sets of a node that may be below the cutoff, where the budget has one feature left."""
        relaxation = self.below.relaxation(node, self.at_empty, self.budget)
        more = relaxation.free[relaxation.singles < cutoff]
        masks = np.repeat(node["I"][None], len(more) + 1, axis=0)
        masks[np.arange(len(more)), more] = True
        return self._new(list(masks))

    def _tighten(
        self, node: Node, cutoff: float, steps: int, relaxation: AnyRelaxation | None = None
    ) -> AnyRelaxation | None:
        """Bound a node and fix features until nothing moves; None if it holds nothing below the cutoff.

        ``relaxation`` is what is known of it already.
        """
        fixed = True
        while fixed:
            if not self._propagate(node):
                return None
            relaxation = self.below.relaxation(node, self.at_empty, self.budget, relaxation)
            if len(relaxation.free) == 0:
                break
            relaxation.solve(cutoff)
            fixed = self._fix(node, relaxation, cutoff)
            steps = self._affordable(steps, node, len(relaxation.free))
            while not fixed and steps > 0 and relaxation.lower < cutoff:
                steps -= 1
                before = relaxation.lower
                if not relaxation.raise_diagonal(cutoff) or relaxation.lower - before < ENOUGH * relaxation.room(
                    cutoff
                ):
                    steps = 0
                fixed = self._fix(node, relaxation, cutoff)
            relaxation.store(node)
        assert relaxation is not None
        lower = max(self._by_its_own_value(node, relaxation, cutoff), least_penalty(self.at_empty, node))
        node["lower"] = np.float64(max(node["lower"], min(cutoff, lower)))
        return relaxation if node["lower"] < cutoff else None

    def _by_its_own_value(self, node: Node, relaxation: AnyRelaxation, cutoff: float) -> float:
        """The bound, with the loss of I as the objective has it where it matters what rounding may hide of it.

        Without this no node of many sets that tie would ever be closed.
        """
        lower = relaxation.lower
        if self.below is not self.loss or not lower < cutoff <= lower + relaxation.hidden:
            return lower
        I = node["I"][None]
        own = float(self.problem.objective.values(I)[0] - self.loss.penalty.values(I)[0])
        return lower + relaxation.hidden + own - relaxation.fit

    def _affordable(self, steps: int, node: Node, free: int) -> int:
        """Steps of the diagonal that pay: each inverts a matrix of the free features, and then changes all of it."""
        if free > LARGEST_STEP:
            return 0
        if self.budget >= self.n:
            return steps
        return 0 if node["depth"] and free > RAISED else min(steps, FEW_STEPS) if free > MANY_FREE else steps

    def _fix(self, node: Node, relaxation: AnyRelaxation, cutoff: float) -> bool:
        """Fix features by what the bound rises by with and without them, under the constraints if there are any."""
        lower, val, (gain, last, beyond) = relaxation.lower, relaxation.val, relaxation.capped
        if lower >= cutoff:
            return False
        exclude, include = last - val >= cutoff - lower, val - beyond >= cutoff - lower
        if not only_budgets(self.problem):
            d = np.zeros((1, self.n))
            d[0, relaxation.free] = -val
            interval = {key: node[key][None] for key in "IU"}
            bounds, reduced = relax_rows(self.problem.rows, interval, np.array([lower + gain]), d)
            lower, val = float(bounds[0]), -reduced[0, relaxation.free]
            node["lower"] = np.float64(max(node["lower"], min(cutoff, lower)))
            if lower >= cutoff:
                return False
            exclude, include = exclude | (-val >= cutoff - lower), include | (val >= cutoff - lower)
            if (exclude & include).any():  # neither with the feature nor without it
                node["lower"] = np.float64(max(node["lower"], cutoff))
                return False
        node["U"][relaxation.free[exclude]], node["I"][relaxation.free[include]] = False, True
        return bool(exclude.any() or include.any())

    def _propagate(self, node: Node) -> bool:
        """Fix what the constraints fix; False if they leave nothing."""
        include, exclude, feasible = propagate(self.problem.rows, {key: node[key][None] for key in "IU"})
        node["I"], node["U"] = node["I"] | include[0], node["U"] & ~exclude[0]
        if node["I"].sum() >= self.budget:  # which rows may allow a rounding error more than
            node["U"] = node["I"].copy()
        return bool(feasible[0])

    def _children(self, node: Node, relaxation: AnyRelaxation, cutoff: float) -> list[Node]:
        """With and without the feature that is branched on, each with its own bound already."""
        if len(relaxation.free) == 0:
            return []
        branch, children = relaxation.branch(cutoff), []
        for end, chosen, lower in (("I", True, branch.inside), ("U", False, branch.outside)):
            child: Node = {key: np.array(value) for key, value in node.items()}
            child[end][relaxation.free[branch.position]] = chosen
            child["depth"] = node["depth"] + 1
            child["lower"] = np.float64(max(node["lower"], min(cutoff, lower)))
            if child["lower"] < cutoff:
                children.append(child)
        return children

    def _new(self, masks: list[Masks]) -> Masks:
        """Those of some sets that are feasible and were not met before."""
        fresh = {mask.tobytes(): mask for mask in masks if mask.tobytes() not in self.seen}
        self.seen.update(fresh)
        sets = np.array(list(fresh.values()), dtype=bool).reshape(-1, self.n)
        return sets[self.problem.feasible(sets)]

    # -- the minorant of the penalty --------------------------------------------------------------------------------

    def _renew_minorant(self, node: Node, relaxation: AnyRelaxation) -> bool:
        """Take a minorant that is tight where the relaxation is, now and then, or where it is at I alone."""
        if node["depth"] % RENEW and relaxation.w.any():
            return False
        node["d"] = minorant(self.loss.penalty, node["U"], order_of(node, relaxation))
        return True
