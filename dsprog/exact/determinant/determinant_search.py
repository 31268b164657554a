"""The search of determinant rewards: nodes fix elements in and out, and bound the size from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.determinant.determinant_problem import Reward, reward_of
from dsprog.exact.determinant.determinant_starts import good_sets
from dsprog.exact.determinant.gamma_bound import DeterminantNode
from dsprog.exact.determinant.measured_branching import Losses, branching_place
from dsprog.exact.determinant.size_polytope import best_set
from dsprog.exact.determinant.small_sets import small_sets
from dsprog.exact.determinant.spectral_ascent import Climb, climb
from dsprog.exact.determinant.splitting import (
    BARRIERS,
    DiagonalSplit,
    Optimiser,
    Root,
    first_thetas,
    least_eigenvalue,
)
from dsprog.exact.determinant.variance_search import VarianceGoal, searched_by_variances
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.determinant.determinant_branch_and_bound import DeterminantBranchAndBound

SMALL = 2  # sets of up to so many elements are looked at one by one
GIVEN_AWAY = 1e-8  # relative to the value: the most that a proof of optimality may lose to rounding in bounds
UNSPLIT = -1  # the tree of a node that has no diagonal yet
DEEPEST = 24  # elements to choose, beyond which conditional variances alone close nothing
ROOT_WORK = 10_000_000  # conditional variances that are looked at before any diagonal is optimised
NODE_WORK = 50  # the same at a node, in units of m²: about what its tangents cost
HOPE = 4  # searches by variances that may fail before their share counts


@dataclass
class Open:
    """An open node: sets T of free elements with I ⊆ T ⊆ U and least <= |T| <= most; ``tree`` numbers its diagonal."""

    I: Masks
    U: Masks
    x: Floats
    lower: float
    step: float
    least: int
    most: int
    tree: int


@dataclass(frozen=True)
class Tree:
    """The diagonal of a range of sizes, for S or, mirrored, for V∖S, and what its bounds lose without an element."""

    split: DiagonalSplit
    mirrored: bool
    losses: Losses


class DeterminantSearch(Method):
    """Depth first. All bounds of the search are of the reward, the negative of the objective."""

    def __init__(self, problem: Problem, run: Run, options: DeterminantBranchAndBound) -> None:
        super().__init__(problem, run)
        self.options, self.trees, self.lost = options, list[Tree](), 0.0
        self.seeds: dict[bool, list[Floats]] = {}  # diagonals to begin with, for each side
        self.attempts: dict[int, tuple[int, int]] = {}  # by size: searches by variances, and how many did not end

    @cached_property
    def whole(self) -> Reward:
        """The reward of the problem."""
        reward = self.problem.derived(reward_of)
        if reward is None:
            raise ValueError("the objective must be modular but for log determinants that are subtracted")
        return reward

    @cached_property
    def frame(self) -> tuple[Masks, Masks, bool]:
        """What the constraints include and allow, and whether they leave a set."""
        n = self.problem.n
        ends = {"I": np.zeros((1, n), dtype=bool), "U": np.ones((1, n), dtype=bool)}
        include, exclude, feasible = propagate(self.problem.rows, ends)
        return include[0], ~exclude[0], bool(feasible[0])

    @cached_property
    def reward(self) -> Reward:
        """Over the elements that the constraints leave free."""
        I, U, _ = self.frame
        return self.whole.restricted(I, np.flatnonzero(U & ~I))

    @cached_property
    def mirror(self) -> Reward | None:
        """The same for V∖S."""
        return self.reward.complemented()

    @property
    def is_possible(self) -> bool:
        """Whether rows leave a size, one by one and together."""
        return bool(self.frame[2]) and self.reward.least <= self.reward.most

    def lifted(self, masks: Masks) -> Masks:
        """Sets of the free elements as sets of the problem."""
        I, U, _ = self.frame
        full = np.repeat(I[None], len(masks), axis=0)
        full[:, np.flatnonzero(U & ~I)] = masks
        return full

    # -- the driver's side ------------------------------------------------------------------------------------------

    def root(self) -> Bundle | None:
        """All sets, bounded by the variances alone (Hadamard)."""
        if not self.is_possible:
            return None
        reward, n = self.reward, self.reward.n
        variances = sum((a * np.log(np.diagonal(C)) for C, a in reward.pairs), reward.weights.copy())
        upper = reward.constant + best_set(variances, reward.least, reward.most).value
        x = np.zeros(n)
        none = np.zeros(n, dtype=bool)
        return packed(n, [Open(none, ~none, x, -upper - 1e-9 * abs(upper), 0.0, reward.least, reward.most, UNSPLIT)])

    def start(self) -> None:
        """Greedy sets and exchanges, if there is a feasible set."""
        if not self.is_possible:
            return
        self._offer(good_sets(self.reward, np.random.default_rng(self.run.seed or 0), self._stopped), "exchanges")

    def proof(self) -> str:
        """How the bound was proved."""
        return "branch and bound with spectral bounds of the log determinant"

    def state(self) -> dict[str, np.ndarray]:
        """The diagonals, and what bounds may have lost."""
        shape = (len(self.trees), len(self.whole.a), self.reward.n)
        theta = np.array([tree.split.theta for tree in self.trees]).reshape(shape)
        mirrored = np.array([tree.mirrored for tree in self.trees], dtype=bool)
        return {"theta": theta, "mirrored": mirrored, "lost": np.array([self.lost])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """The same trees."""
        self._gives_away(float(state["lost"][0]))
        self.trees = [self._tree(theta, bool(mirrored)) for theta, mirrored in zip(state["theta"], state["mirrored"])]

    def _tree(self, theta: Floats, mirrored: bool) -> Tree:
        reward = self.mirror if mirrored else self.reward
        assert reward is not None
        tree = Tree(DiagonalSplit.of(reward, theta), mirrored, Losses.none(reward.n))
        self._loses(tree.split)
        return tree

    def _loses(self, split: DiagonalSplit) -> None:
        """Let the search close what is better by no more than its bounds may lose, so that ties need no search.

        Where matrices are near to singular that may be much, and then only a small part of it is given away: nodes
        are split until their sets are looked at one by one.
        """
        self._gives_away(min(2.0 * split.rounding, GIVEN_AWAY * (1.0 + abs(self.run.value))))

    def _gives_away(self, lost: float) -> None:
        self.lost = max(self.lost, lost)
        self.rounding = self.lost + 2.0 * self.problem.slack

    def _stopped(self) -> bool:
        return self.run.stop_reason() is not None

    def _offer(self, masks: Masks, source: str) -> None:
        """Sets of the free elements, to the run."""
        if not len(masks):
            return
        full = self.lifted(np.unique(masks, axis=0))
        full = full[self.problem.feasible(full)]
        self.run.offer(full, self.problem.objective.values(full), source)

    @property
    def target(self) -> float:
        """A reward that is not worth finding: what the bounds may lose is not searched for."""
        return -(self.run.cutoff - self.lost)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search depth first for a while; better sets go to the run at once."""
        del cutoff
        stack, nodes = unpacked(bundle), 0

        def frontier() -> tuple[int, float]:
            return len(stack), min((node.lower for node in stack), default=np.inf)

        while stack and not self.run.pause(nodes, "search", frontier):
            node = stack[-1]
            children = self._process(node)  # an interruption leaves the node on the stack
            if children is None:
                break
            nodes += 1
            stack[-1:] = children
        n, none = self.reward.n, np.zeros((0, self.problem.n), dtype=bool)
        # All that was closed or fixed was compared with the target: no set lost in this way is better than it.
        return Expansion([packed(n, stack)] if stack else [], nodes, none, np.zeros(0), -self.target, "search")

    # -- one node ---------------------------------------------------------------------------------------------------

    def _process(self, node: Open) -> list[Open] | None:
        """The children of a node, in the order in which they wait; None if time ran out."""
        if -node.lower <= self.target:
            return []
        if node.tree == UNSPLIT:
            return self._plant(node)
        tree = self.trees[node.tree]
        turned = turn(node) if tree.mirrored else node
        children = self._branch(turned, tree)
        return [turn(child) for child in children] if tree.mirrored else children

    def _branch(self, node: Open, tree: Tree) -> list[Open]:
        """Bound a node and fix elements until nothing moves; then two children, or none if it is closed."""
        I, U, x, split = node.I.copy(), node.U.copy(), node.x, tree.split
        step = node.step
        while True:
            F = np.flatnonzero(U & ~I)
            least, most = max(node.least - int(I.sum()), 0), min(node.most - int(I.sum()), len(F))
            if least > most:
                return []
            local = split.node(I, F, least, most)
            if most <= SMALL or least == len(F):
                self._leaf(local, I, F, tree)
                return []
            closed, fix_in, fix_out = hadamard(local, self.target - split.rounding)
            if closed:
                return []
            if not (fix_in.any() or fix_out.any()):
                if self._looked_at(local, I, F, tree):
                    return []
                found = climb(local, x[F], step, self.options.steps, self.target - split.rounding)
                x, step = x.copy(), found.step
                x[F] = found.x
                upper = found.upper + split.rounding
                if upper <= self.target:
                    return []
                node.lower = max(node.lower, -upper)
                fix_in, fix_out = fixed(found, self.target - split.rounding)
                if not (fix_in.any() or fix_out.any()):
                    j = F[branching_place(local, F, x[F], -node.lower, tree.losses)]
                    return self._children(node, I, U, x, step, j)
            I[F[fix_in]], U[F[fix_out]] = True, False

    def _children(self, node: Open, I: Masks, U: Masks, x: Floats, step: float, j: int) -> list[Open]:
        """Without and with free element j; the last is looked at first."""
        more, fewer = I.copy(), U.copy()
        more[j], fewer[j] = True, False
        return [
            Open(I, fewer, x, node.lower, step, node.least, node.most, node.tree),
            Open(more, U, x, node.lower, step, node.least, node.most, node.tree),
        ]

    def _leaf(self, local: DeterminantNode, I: Masks, F: Ints, tree: Tree) -> None:
        """Offer the best set of a node with few sets, and then all that rounding may hide."""
        sets, values = small_sets(local)
        best = int(np.argmax(values))
        for rows in ([best], np.arange(len(values)) != best):
            masks = np.repeat(I[None], len(values), axis=0)[rows]
            masks[:, F] = sets[rows]
            masks = masks[values[rows] + tree.split.rounding > self.target]
            self._offer(~masks if tree.mirrored else masks, "search")

    def _looked_at(self, local: DeterminantNode, I: Masks, F: Ints, tree: Tree) -> bool:
        """Whether the sets of a node were few enough to be looked at; sizes that often have too many are not tried."""
        tried, failed = self.attempts.get(local.most, (0, 0))
        if local.most > DEEPEST or 2 * failed > tried + HOPE:
            return False
        closed = self._by_variances(local, I, F, tree, NODE_WORK * local.m**2)
        self.attempts[local.most] = tried + 1, failed + (not closed)
        return closed

    def _by_variances(self, local: DeterminantNode, I: Masks, F: Ints, tree: Tree, limit: int) -> bool:
        """Search a node by conditional variances, unless that takes too much work.

        A set that is found is worth its computed value less the rounding, and is offered: the target is then above it
        by what bounds may lose.
        """
        wrong = tree.split.rounding
        goal = VarianceGoal(self.target - wrong, self.lost - 2.0 * wrong)
        sets = searched_by_variances(local, goal, limit, self._stopped)
        if sets is None:
            return False
        masks = np.repeat(I[None], len(sets), axis=0)
        masks[:, F] = sets
        self._offer(~masks if tree.mirrored else masks, "search")
        return True

    # -- roots of trees ---------------------------------------------------------------------------------------------

    def _plant(self, node: Open) -> list[Open] | None:
        """Optimise the diagonal for the sizes of a node, on both sides, and begin a tree, or split the sizes."""
        if node.most == 0 or node.least == self.reward.n:
            self._offer(np.full((1, self.reward.n), node.most > 0), "search")
            return []
        if self._easy(node):
            return []
        best = self._best_root(node)
        if best is None:
            return None
        root, mirrored = best
        upper = root.total
        node.lower = max(node.lower, -upper)
        self._loses(root.split)
        x = 1.0 - root.x if mirrored else root.x
        self._offer(good_sets(self.reward, np.random.default_rng(0), self._stopped, x), "relaxation")
        if upper <= self.target:
            return []
        if node.least < node.most and self._wide(upper):
            return self._by_size(node, x)
        self.trees.append(Tree(root.split, mirrored, Losses.none(self.reward.n)))
        return [Open(node.I, node.U, x, node.lower, 0.0, node.least, node.most, len(self.trees) - 1)]

    def _easy(self, node: Open) -> bool:
        """Whether so few elements come in, or stay out, that a search by variances closes the node."""
        n, mirrored = self.reward.n, node.most > self.reward.n - node.least
        side = self.mirror if mirrored else self.reward
        most = n - node.least if mirrored else node.most
        if side is None or most > DEEPEST:
            return False
        sized = side.sized(n - node.most if mirrored else node.least, most)
        plain = np.array([least_eigenvalue(C, np.diagonal(C)) for C in sized.C])
        tree = Tree(DiagonalSplit.of(sized, plain), mirrored, Losses.none(n))
        self._loses(tree.split)
        none = np.zeros(n, dtype=bool)
        return self._by_variances(tree.split.root(), none, np.arange(n), tree, ROOT_WORK)

    def _wide(self, upper: float) -> bool:
        """Whether a gap asks for one tree for each size."""
        return upper - self.target > self.options.wide * float(self.reward.a.max())

    def _by_size(self, node: Open, x: Floats) -> list[Open]:
        """The lower half of the sizes, and the upper one."""
        middle = (node.least + node.most) // 2
        low = Open(node.I, node.U, x, node.lower, 0.0, node.least, middle, UNSPLIT)
        return [low, Open(node.I, node.U, x, node.lower, 0.0, middle + 1, node.most, UNSPLIT)]

    def _best_root(self, node: Open) -> tuple[Root, bool] | None:
        """The better side, or None if time ran out before there was any."""
        best: tuple[Root, bool] | None = None
        for mirrored, side in ((False, self.reward), (True, self.mirror)):
            if side is None or (mirrored and self._stopped()):
                continue
            least, most = (side.n - node.most, side.n - node.least) if mirrored else (node.least, node.most)
            sized = side.sized(least, most)
            optimiser = Optimiser(sized, self.target, self._stopped)
            if mirrored not in self.seeds:
                self.seeds[mirrored] = first_thetas(sized)
            thetas = self.seeds[mirrored]
            for theta in thetas:
                optimiser.bound(theta)
            behind = best is not None and optimiser.upper - self.target > 3.0 * (best[0].upper - self.target)
            if behind:
                continue
            # A range of sizes whose bound begins far off is split, and its diagonal is not worth while.
            root = optimiser.run([], () if least < most and self._wide(optimiser.upper) else BARRIERS)
            if best is None or root.total < best[0].total:
                best = root, mirrored
            if best[0].total <= self.target:
                break
        return None if self._stopped() else best


def hadamard(local: DeterminantNode, target: float) -> tuple[bool, Masks, Masks]:
    """det A_T <= Π A_ii: whether that closes a node, and what it fixes."""
    weights = sum((a * np.log1p(np.maximum(np.diagonal(P), 0.0)) for a, P in zip(local.a, local.P)), local.u.copy())
    top = best_set(weights, local.least, local.most)
    upper = local.base + top.value
    if upper <= target:
        return True, top.inside, top.inside
    lost = upper - top.loss <= target
    return False, lost & top.inside, lost & ~top.inside


def fixed(found: Climb, target: float) -> tuple[Masks, Masks]:
    """What the best tangent fixes: forcing an element the other way brings its bound down to the target."""
    lost = found.upper - found.best.loss <= target
    return lost & found.best.inside, lost & ~found.best.inside


def turn(node: Open) -> Open:
    """The same node in terms of V∖S, the sizes as they are: each side counts with its own."""
    n = len(node.I)
    return Open(~node.U, ~node.I, 1.0 - node.x, node.lower, node.step, n - node.most, n - node.least, node.tree)


def packed(n: int, stack: list[Open]) -> Bundle:
    """Open nodes as arrays."""
    fields = ("lower", "step", "least", "most", "tree")
    shapes = {key: (len(stack),) for key in fields} | {key: (len(stack), n) for key in ("I", "U", "x")}
    return {key: np.array([getattr(node, key) for node in stack]).reshape(shape) for key, shape in shapes.items()}


def unpacked(bundle: Bundle) -> list[Open]:
    """Arrays as open nodes."""
    columns = (bundle["lower"], bundle["step"], bundle["least"], bundle["most"], bundle["tree"])
    rows = zip(bundle["I"], bundle["U"], bundle["x"], *(column.tolist() for column in columns))
    return [Open(I.copy(), U.copy(), x.copy(), *rest) for I, U, x, *rest in rows]
