"""Least squares with a submodular penalty, exactly: branch and bound on the perspective bound.

    min over S of  a · LeastSquares(S) + penalty(S)

A node fixes some features in and some out. Those that are in are eliminated; for the rest a convex relaxation with
rigorous coefficient boxes bounds the node, fixes more features, and says which to branch on. Nothing rests on the loss
being supermodular, which in general it is not.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dsprog.algebra import Difference, Sum
from dsprog.bounds.boxes import tighten_boxes
from dsprog.bounds.diagonal import raise_diagonal, supergradient
from dsprog.bounds.elimination import eliminate, factorise, safe_shift
from dsprog.bounds.perspective import relax
from dsprog.bounds.rows import propagate, relax_rows
from dsprog.checkpoint import Checkpoint
from dsprog.functions.regression import LeastSquares
from dsprog.monitor import Monitor, Verdict
from dsprog.problem import Problem
from dsprog.search import Bundle, Expansion, Method, branch_and_bound
from dsprog.solvers.local_search import descend
from dsprog.solvers.solver import Solver
from dsprog.validation import Floats, Ints, Masks

SMALLEST = 1e-6  # least eigenvalue of the scaled G that elimination in floating point can bear
MEMORY = 0.4  # of the averaged supergradient
BARRIER = 0.4  # μ in units of gap / |F|


@dataclass(frozen=True)
class Loss:
    """½ w'Gw - b'w + c, whose minimum over the w that vanish outside S is the loss of S, and the penalty beside it.

    Coefficients are in units that make every G_jj = 1.
    """

    G: Floats
    b: Floats
    c: float
    penalty: Sum

    @classmethod
    def of(cls, objective: Difference) -> Loss | None:
        """The loss and the penalty of an objective; None unless it is one least-squares term and submodular ones."""
        losses = [term for term in objective.terms if isinstance(term.function, LeastSquares)]
        others = [term for term in objective.terms if not isinstance(term.function, LeastSquares)]
        if len(losses) != 1 or losses[0].coefficient <= 0 or not all(term.knows.submodular for term in others):
            return None
        a, f = losses[0]
        assert isinstance(f, LeastSquares)
        rows = len(f.y)
        G = a * (f.X.T @ f.X / rows + f.ridge * np.eye(f.n))
        units = np.sqrt(np.diag(G))
        units[units == 0] = 1.0
        b, c = a * (f.X.T @ f.y) / rows, float(a * (f.y @ f.y)) / (2 * rows)
        return cls(G / np.outer(units, units), b / units, c, Sum(f.n, others))

    @cached_property
    def least_eigenvalue(self) -> float:
        """Of G."""
        return float(np.linalg.eigvalsh(self.G)[0]) if len(self.G) else 0.0

    @property
    def is_definite(self) -> bool:
        """Whether G is far enough from singular for the perspective bound."""
        return self.least_eigenvalue >= SMALLEST


@dataclass
class Relaxation:
    """The free part of a node: what is left after the included features were eliminated."""

    free: Ints
    G: Floats
    b: Floats
    c: float
    d: Floats
    D: Floats
    S: Floats
    w: Floats
    lo: Floats
    hi: Floats
    val: Floats
    lower: float = -np.inf

    def solve(self, cutoff: float, accuracy: float, sweeps: int) -> None:
        """Find w, and with it ``lower`` and ``val``."""
        self.lower = relax(
            self.G, self.b, self.c, self.d, self.D, self.lo, self.hi, self.w, cutoff, accuracy, sweeps, self.val
        )

    def raise_diagonal(self, cutoff: float, accuracy: float, sweeps: int, floor: float, shift: float) -> bool:
        """Step to a better D, half the way again and again while the bound does not rise; False if it never does."""
        supergradient(self.d, self.D, self.lo, self.hi, self.w, self.S, MEMORY if self.S.any() else 0.0)
        target = np.empty_like(self.D)
        mu = BARRIER * (cutoff - self.lower) / len(self.D)
        if not raise_diagonal(self.G, self.D, self.S, mu, floor, shift, target):
            return False
        for step in (1.0, 0.5, 0.25, 0.125, 0.0625):
            # between two D with G - 2D positive semidefinite it is positive semidefinite
            trial = replace(self, D=self.D + step * (target - self.D), w=self.w.copy(), val=self.val.copy())
            trial.solve(cutoff, accuracy, sweeps)
            if trial.lower > self.lower:
                self.D, self.w, self.val, self.lower = trial.D, trial.w, trial.val, trial.lower
                return True
        return False

    def tighten_boxes(self, which: Ints, cutoff: float, accuracy: float, sweeps: int) -> Masks:
        """Tighten lo and hi of some features; which of them no set below the cutoff has."""
        exclude = np.zeros(len(self.free), dtype=bool)
        tighten_boxes(
            self.G,
            self.b,
            self.c,
            self.d,
            self.D,
            self.lo,
            self.hi,
            self.w,
            cutoff,
            accuracy,
            sweeps,
            which,
            exclude,
        )
        return exclude

    @property
    def weights(self) -> Floats:
        """How much of each feature the relaxation takes, from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.w == 0, 0.0, np.minimum(1.0, np.abs(self.w) / np.sqrt(self.d / self.D)))


Node = dict[str, np.ndarray]
FEATURES = ("D", "S", "w", "lo", "hi")


@dataclass(frozen=True)
class PerspectiveBranchAndBound(Solver):
    """Exact feature selection; ``BranchAndBound`` hands such problems over by itself.

    Parameters
    ----------
    steps : int
        Steps of the diagonal at each node.
    unit : int
        Nodes in a unit of work.
    """

    steps: int = 2
    root_rounds: int = 6
    root_steps: int = 20
    node_boxes: int = 200
    box_rounds: int = 1
    unit: int = 16
    rechain: int = 0

    keeps_checkpoints: ClassVar[bool] = True

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Search, or say why this solver is not for the problem."""
        loss = Loss.of(problem.objective)
        if loss is None:
            raise ValueError(
                "PerspectiveBranchAndBound needs an objective of one LeastSquares term and terms known to be submodular"
            )
        if not loss.is_definite:
            raise ValueError(
                "PerspectiveBranchAndBound needs columns of X that are far from dependent: pass a ridge, "
                f"or remove columns (least eigenvalue of their correlations {loss.least_eigenvalue:.1e})"
            )
        method = PerspectiveSearch(problem, loss, self)
        empty = np.zeros((1, problem.n), dtype=bool)
        if problem.feasible(empty)[0]:
            monitor.offer(empty, problem.objective.values(empty), "empty set")
        method.pause = lambda nodes, open: monitor.pause(nodes, open, "search")
        return branch_and_bound(method, monitor, checkpoint)


class PerspectiveSearch(Method):
    """One node a row: I, U, what the relaxation found, and the coefficient boxes, which children inherit."""

    def __init__(self, problem: Problem, loss: Loss, options: PerspectiveBranchAndBound) -> None:
        self.problem, self.loss, self.options, self.n = problem, loss, options, problem.n
        self.shift = safe_shift(loss.G)
        self.floor = 0.005 * loss.least_eigenvalue
        self.pause: Callable[[int, int], bool] = lambda nodes, open: False
        self.at_empty = float(loss.penalty.values(np.zeros((1, self.n), dtype=bool))[0])
        self.known: dict[bytes, float] = {}

    def root(self) -> Bundle:
        """All sets, with the largest multiple of the identity for D."""
        n = self.n
        none = np.zeros((1, n), dtype=bool)
        infinite, zeros = np.full((1, n), np.inf), np.zeros((1, n))
        D = np.full((1, n), 0.499 * self.loss.least_eigenvalue)
        d = self._minorant(~none[0], np.argsort(-np.abs(self.loss.b)))[None]
        root = {"lower": np.array([-np.inf]), "I": none, "U": ~none, "D": D, "S": zeros, "w": zeros.copy()}
        return {**root, "lo": -infinite, "hi": infinite, "d": d, "depth": np.array([0])}

    def proof(self) -> str:
        """How the bound was proved."""
        return "branch and bound with perspective bounds and coefficient boxes"

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Search best first from a node for a while, or until a better set asks for a new cutoff."""
        serial = 0
        heap: list[tuple[float, int, Node]] = [(float(bundle["lower"][0]), 0, {k: v[0] for k, v in bundle.items()})]
        found: list[tuple[Masks, float]] = []
        nodes = 0
        while heap and nodes < self.options.unit and not self.pause(nodes, len(heap)):
            lower, _, node = heapq.heappop(heap)
            if lower >= cutoff:
                break
            nodes += 1
            sets: list[Masks] = []
            children = self._process(node, cutoff, sets)
            for child in children:
                serial += 1
                heapq.heappush(heap, (float(child["lower"]), serial, child))
            values = self._values(sets)
            found += zip(sets, values)
            if min(values, default=np.inf) < cutoff:
                break
        open = [{key: np.asarray(value)[None] for key, value in node.items()} for _, _, node in heap if node["lower"] < cutoff]
        masks = np.array([mask for mask, _ in found]).reshape(-1, self.n)
        # Whatever was closed, fixed or boxed was compared with the cutoff.
        return Expansion(open, nodes, masks, np.array([value for _, value in found]), cutoff, "search")

    def _process(self, node: Node, cutoff: float, sets: list[Masks]) -> list[Node]:
        if node["depth"] == 0:
            relaxation = self._at_root(node, cutoff, sets)
        else:
            relaxation = self._tighten(node, cutoff, self.options.steps)
            if relaxation is not None and len(relaxation.free) and self.options.rechain and node["depth"] % self.options.rechain == 0:
                node["d"] = self._minorant(node["U"], self._order(node, relaxation))
                relaxation = self._tighten(node, cutoff, self.options.steps)
            for _ in range(self.options.box_rounds):
                if relaxation is None or len(relaxation.free) == 0:
                    break
                which = np.argsort(-np.abs(relaxation.w), kind="stable")[: self.options.node_boxes]
                self._box(node, relaxation, cutoff, which)
                relaxation = self._tighten(node, cutoff, self.options.steps)
        if relaxation is None:
            return []
        free = relaxation.free
        sets.append(node["I"].copy())
        if len(free) == 0:
            return []
        rounded = node["I"].copy()
        rounded[free[relaxation.weights >= 0.5]] = True
        sets.append(rounded)
        k = int(np.argmax(np.abs(relaxation.w)))
        if relaxation.w[k] == 0:
            k = int(np.argmax(relaxation.val))
        children = []
        for include in (True, False):
            child = {key: value.copy() for key, value in node.items()}
            child["depth"] = node["depth"] + 1
            child["I" if include else "U"][free[k]] = include
            rise = -relaxation.val[k] if include else relaxation.val[k]
            child["lower"] = np.float64(max(node["lower"], relaxation.lower + max(0.0, rise)))
            if child["lower"] < cutoff:
                children.append(child)
        return children

    def _at_root(self, node: Node, cutoff: float, sets: list[Masks]) -> Relaxation | None:
        relaxation = self._tighten(node, cutoff, self.options.root_steps)
        for _ in range(self.options.root_rounds):
            if relaxation is None or len(relaxation.free) == 0:
                return relaxation
            candidates = self._improve(node, relaxation, cutoff)
            sets += candidates
            cutoff = min([cutoff, *(v - self.problem.slack for v in self._values(candidates))])
            before = relaxation.lower
            node["d"] = self._minorant(node["U"], self._order(node, relaxation))
            relaxation = self._tighten(node, cutoff, self.options.root_steps)
            if relaxation is None or len(relaxation.free) == 0:
                return relaxation
            self._box(node, relaxation, cutoff, np.arange(len(relaxation.free)))
            relaxation = self._tighten(node, cutoff, self.options.root_steps)
            if relaxation is not None and relaxation.lower - before < 0.01 * (cutoff - relaxation.lower):
                break
        return relaxation

    def _box(self, node: Node, relaxation: Relaxation, cutoff: float, which: Ints) -> None:
        accuracy = 0.02 * (cutoff - relaxation.lower)
        exclude = relaxation.tighten_boxes(which, cutoff, accuracy, 60)
        self._store(node, relaxation)
        node["U"][relaxation.free[exclude]] = False

    def _order(self, node: Node, relaxation: Relaxation) -> Ints:
        size = np.full(self.n, -1.0)
        size[relaxation.free] = np.abs(relaxation.w)
        size[node["I"]] = np.inf
        return np.argsort(-size, kind="stable")

    def _improve(self, node: Node, relaxation: Relaxation, cutoff: float) -> list[Masks]:
        order = self._order(node, relaxation)
        masks = np.zeros((min(self.n, 40) + 1, self.n), dtype=bool)
        for k in range(1, len(masks)):
            masks[k] = masks[k - 1]
            masks[k, order[k - 1]] = True
        masks = masks[self.problem.feasible(masks)]
        best = masks[[int(np.argmin(self.problem.objective.values(masks)))]]
        return list(descend(self.problem, best)[0])

    def _values(self, sets: list[Masks]) -> list[float]:
        unknown = [mask for mask in sets if mask.tobytes() not in self.known]
        if unknown:
            for mask, value in zip(unknown, self.problem.objective.values(np.array(unknown))):
                self.known[mask.tobytes()] = float(value)
        return [self.known[mask.tobytes()] for mask in sets]

    # -- one node ---------------------------------------------------------------------------------------------------

    def _minorant(self, U: Masks, order: Ints) -> Floats:
        """d with penalty(S) >= penalty(∅) + d(S) for all S ⊆ U: the increments along an order of U."""
        order = order[U[order]]
        d = np.zeros(self.n)
        d[order] = self.loss.penalty.chains(order[None])[0]
        return d

    def _tighten(self, node: Node, cutoff: float, steps: int) -> Relaxation | None:
        """Bound a node and fix features until nothing moves; None if it holds nothing below the cutoff."""
        relaxation = self._relaxation(node)
        accuracy = 1e-6 * self.loss.c
        while len(relaxation.free):
            relaxation.solve(cutoff, accuracy, 200)
            while True:
                if relaxation.lower >= cutoff:
                    return None
                accuracy = 0.005 * (cutoff - relaxation.lower)
                fixed = self._fix(node, relaxation, cutoff)
                if fixed or steps == 0:
                    break
                steps -= 1
                before = relaxation.lower
                if not relaxation.raise_diagonal(cutoff, accuracy, 200, self.floor, self.shift):
                    break
                if relaxation.lower - before < 0.005 * (cutoff - relaxation.lower):
                    steps = 0
            self._store(node, relaxation)
            if not fixed:
                break
            relaxation = self._relaxation(node)
        node["lower"] = np.float64(max(node["lower"], min(cutoff, relaxation.lower)))
        return relaxation

    def _fix(self, node: Node, relaxation: Relaxation, cutoff: float) -> bool:
        room = cutoff - relaxation.lower
        out, chosen = relaxation.free[-relaxation.val >= room], relaxation.free[relaxation.val >= room]
        node["U"][out], node["I"][chosen] = False, True
        return len(out) + len(chosen) > 0

    def _relaxation(self, node: Node) -> Relaxation:
        """Eliminate I; inherit the rest."""
        free, chosen = np.flatnonzero(node["U"] & ~node["I"]), np.flatnonzero(node["I"])
        m, d = len(free), node["d"]
        G, b = np.empty((m, m)), np.empty(m)
        constant = self.at_empty + d[chosen].sum() + np.minimum(d[free], 0.0).sum()
        c = eliminate(self.loss.G, self.loss.b, self.loss.c + constant, chosen, free, G, b)
        D, S, w, lo, hi = (node[key][free] for key in FEATURES)
        relaxation = Relaxation(free, G, b, c, np.maximum(d[free], 0.0), D, S, w, lo, hi, np.zeros(m))
        if m == 0:
            relaxation.lower = c
        while not factorise(G, relaxation.D, self.shift, np.empty((m, m))):
            relaxation.D *= 0.999
        return relaxation

    def _store(self, node: Node, relaxation: Relaxation) -> None:
        for key in FEATURES:
            node[key][relaxation.free] = getattr(relaxation, key)
