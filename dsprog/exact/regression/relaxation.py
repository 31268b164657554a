"""Least squares as a quadratic function, and the relaxation of one node with all that its children inherit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dsprog.core.algebra import LinearCombination, Sum
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.regression.budget import Capped, capped
from dsprog.exact.regression.descents import PROBE, RELAX, TIGHTEN, Marks, descents
from dsprog.exact.regression.diagonal import proved_part, raised_diagonal, supergradient
from dsprog.exact.regression.elimination import (
    block,
    eliminated,
    explained_at_most,
    hidden_by_rounding,
    safe_shift,
)
from dsprog.exact.regression.least_eigenvalue import least_eigenvalue_of
from dsprog.exact.regression.loss_term import loss_term
from dsprog.exact.regression.penalty_minorant import least_penalty
from dsprog.exact.regression.perspective_bound import DescentLimits, Relaxed
from dsprog.exact.regression.priced_descent import Budgeted, descend_with_budget
from dsprog.exact.regression.probed_branching import Branch, candidates, largest_coefficient, strongest
from dsprog.functions.regression import LeastSquares

SMALLEST = 1e-5  # least eigenvalue of the scaled G that elimination in floating point can bear
FLOOR = 0.005  # least D_j, in units of that eigenvalue
MEMORY = 0.4  # of the averaged supergradient
BARRIER = 0.4  # μ of the diagonal's step, in units of gap / |F|
STEPS = (1.0, 0.5, 0.25, 0.125, 0.0625)
SWEEPS = 200
PRICED_SWEEPS = 60  # under a budget
PROBE_SWEEPS, PROBE_ACCURACY = 20, 0.01  # of a probe; the latter in units of the gap


@dataclass(frozen=True)
class Loss:
    """½ w'Gw - b'w + c, whose minimum over the w that vanish outside S is the loss of S, and the penalty beside it.

    Coefficients are in units that make every G_jj = 1.
    """

    G: Floats
    b: Floats
    c: float
    penalty: Sum
    floor: float = FLOOR  # least D_j, in units of the least eigenvalue
    rows: int = 1  # of X

    @classmethod
    def of(cls, objective: LinearCombination) -> Loss | None:
        """The loss and the penalty of an objective; None unless it is one least-squares term and submodular ones."""
        found = loss_term(objective, LeastSquares)
        if found is None:
            return None
        a, f, others = found
        rows = len(f.y)
        G = f.X.T @ f.X
        G *= a / rows
        G.flat[:: f.n + 1] += a * f.ridge
        units = np.sqrt(G.diagonal())
        units[units == 0] = 1.0
        G /= units
        G /= units[:, None]
        b, c = a * (f.X.T @ f.y) / rows, float(a * (f.y @ f.y)) / (2 * rows)
        return cls(G, b / units, c, Sum(f.n, others), rows=rows)

    @cached_property
    def least_eigenvalue(self) -> float:
        """Of G, or a little more: it is where D begins, and what is built on D is checked again."""
        return least_eigenvalue_of(self.G)

    def hidden(self, explained: float) -> float:
        """What rounding may hide of a part of c that features explain."""
        return hidden_by_rounding(explained, self.least_eigenvalue, len(self.b), self.rows)

    @cached_property
    def constant(self) -> float:
        """c, less what rounding may hide of all that features can explain of it."""
        return self.c - self.hidden(explained_at_most(self.c, self.b, self.first_diagonal))

    @cached_property
    def first_diagonal(self) -> Floats:
        """D at the root: about the largest multiple of the identity, proved by a factorisation."""
        D = np.full(len(self.b), 0.499 * max(self.least_eigenvalue, 0.0))
        return proved_part(self.G, D, self.shift)

    @property
    def proved(self) -> Floats:
        """A D that needs no factorisation at nodes: that of the root."""
        return self.first_diagonal

    @property
    def is_definite(self) -> bool:
        """Whether G is far enough from singular for the perspective bound."""
        return self.least_eigenvalue >= SMALLEST

    @cached_property
    def shift(self) -> float:
        """What a Cholesky factorisation must leave over to be a proof."""
        return safe_shift(self.G)

    def gram(self, some: Ints, others: Ints) -> Floats:
        """A block of G."""
        return block(self.G, some, others)

    def beside(self, chosen: Ints) -> Floats:
        """Rows of G."""
        return self.G[chosen]

    def diagonal(self) -> Floats:
        """Of G."""
        return self.G.diagonal()

    def eliminated(self, c: float, chosen: Ints, free: Ints) -> tuple[Floats, Floats, float]:
        """G, b and c of the free features given the chosen ones."""
        return eliminated(self.G, self.b, c, chosen, free)

    def relaxation(self, node: dict[str, Any], at_empty: float, budget: int, before: Any = None) -> Relaxation:
        """The relaxation of a node; ``before`` is one of it, or of a node around it, if there is one."""
        return Relaxation.of(self, node, at_empty, budget, before)


class Eliminates(Protocol):
    """What a relaxation asks of a loss."""

    @property
    def c(self) -> float:
        """Of the quadratic function."""

    def hidden(self, explained: float) -> float:
        """What rounding may hide of a part of c that features explain."""

    @property
    def least_eigenvalue(self) -> float:
        """Of G, more or less."""

    @property
    def floor(self) -> float:
        """The least D_j, in units of that eigenvalue."""

    @property
    def shift(self) -> float:
        """What a Cholesky factorisation must leave over to be a proof."""

    @property
    def proved(self) -> Floats:
        """A diagonal D for which G - 2D - shift has been factorised, and so a proof at every node."""

    def eliminated(self, c: float, chosen: Ints, free: Ints) -> tuple[Floats, Floats, float]:
        """G, b and c of the free features given the chosen ones."""


@dataclass
class Relaxation:
    """The free part of a node, after the included features were eliminated; at most ``most`` of them may be chosen.

    ``price`` is what the descent charges for each feature because of the budget, ``fit`` the loss of I, ``hidden`` what
    is taken off it because rounding may hide that it is less.
    """

    loss: Eliminates
    chosen: Ints
    free: Ints
    fit: float
    hidden: float
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
    lower: float
    most: int
    price: float

    @classmethod
    def of(
        cls, loss: Eliminates, node: dict[str, Any], at_empty: float, budget: int, before: Relaxation | None = None
    ) -> Relaxation:
        """Eliminate I from a node; what was found for its parent is where it starts.

        The penalty is at least at_empty + d(S) on the node. Negative d_j are taken in full whether j is chosen or not:
        d(S) >= Σ_F min(0, d_j) + Σ_S max(0, d_j).
        """
        free, chosen = np.flatnonzero(node["U"] & ~node["I"]), np.flatnonzero(node["I"])
        D, S, w, lo, hi = (node[key][free] for key in ("D", "S", "w", "lo", "hi"))
        kept = None if before is None else before.positions(chosen, free)
        proved = bool((loss.proved[free] >= D).all())
        if before is None or kept is None:
            G, b, fit = loss.eliminated(loss.c, chosen, free)
        else:  # a principal submatrix of G - 2D >= 0 is positive semidefinite, too
            G, b, fit = before.G, before.b[kept], before.fit
            G = G if len(kept) == len(G) else block(G, kept, kept)
            proved = proved or bool((before.D[kept] >= D).all())
        if not proved:  # the inherited D is right but for rounding
            D = proved_part(G, D, loss.shift)
        m, d = len(free), node["d"]
        hidden = loss.hidden(loss.c - fit)
        c = fit - hidden - loss.hidden(explained_at_most(fit, b, D)) + least_penalty(at_empty, node)
        most, lower = min(m, budget - len(chosen)), c if m == 0 else -np.inf
        price, gains = float(node["price"]) if most < m else 0.0, np.maximum(d[free], 0.0)
        return cls(loss, chosen, free, fit, hidden, G, b, c, gains, D, S, w, lo, hi, np.zeros(m), lower, most, price)

    def positions(self, chosen: Ints, free: Ints) -> Ints | None:
        """Where some features are among the free ones; None if others are chosen than here."""
        if not np.array_equal(chosen, self.chosen):
            return None
        places = np.searchsorted(self.free, free)
        inside = bool((places < len(self.free)).all()) and np.array_equal(self.free[places], free)
        return places if inside else None

    @property
    def problem(self) -> Relaxed:
        """What the kernels bound: value(S) + price (|S| - most), which is no more than value(S) within the budget."""
        priced = self.d + self.price if self.price else self.d
        return Relaxed(self.G, self.b, self.c - self.price * self.most, priced, self.D, self.lo, self.hi)

    def store(self, node: dict[str, Any]) -> None:
        """What children inherit."""
        for key in ("D", "S", "w", "lo", "hi"):
            node[key][self.free] = getattr(self, key)
        node["price"] = np.float64(self.price)

    def room(self, cutoff: float) -> float:
        """What the bound can still rise by: up to the cutoff, or to c, the value of I as the minorant has it."""
        return max(min(cutoff, self.c) - self.lower, 0.0)

    @property
    def capped(self) -> Capped:
        """What the budget leaves of the gains ``val``."""
        return capped(self.val, self.most)

    def solve(self, cutoff: float) -> None:
        """Find w, and with it ``lower`` and ``val``; under a budget also its price, the best bound being kept."""
        room = self.room(cutoff)
        accuracy = 0.005 * room if np.isfinite(room) else 1e-6 * abs(self.c)
        if self.most >= len(self.free):
            limits, marks = DescentLimits(cutoff, accuracy, SWEEPS), Marks.none(len(self.free))
            self.lower = descents(RELAX, self.problem, self.w, self.lower, limits, self.val, marks)
            return
        if self.price == 0.0:
            self.price = first_price(self.b, self.D, self.G.diagonal(), self.most)
        budget, w = Budgeted(self.most, self.price, cutoff, accuracy, PRICED_SWEEPS), self.w.copy()
        unpriced = Relaxed(self.G, self.b, self.c, self.d, self.D, self.lo, self.hi)
        self.lower, self.price = descend_with_budget(unpriced, w, budget, self.w, self.val)

    def raise_diagonal(self, cutoff: float) -> bool:
        """Step to a better D, half the way again and again while the bound does not rise; False if it never does."""
        memory = MEMORY if self.S.any() else 0.0  # an average damps the zigzag of supergradients
        self.S = memory * self.S + (1.0 - memory) * supergradient(self.problem, self.w)
        floor, mu = self.loss.floor * self.loss.least_eigenvalue, BARRIER * self.room(cutoff) / len(self.D)
        target = raised_diagonal(self.G, self.D, self.S, mu, floor, self.loss.shift)
        if target is None:
            return False
        for step in STEPS:  # between two D with G - 2D positive semidefinite it is so, too
            trial = replace(self, D=self.D + step * (target - self.D), w=self.w.copy(), val=self.val.copy())
            trial.solve(cutoff)
            if trial.lower > self.lower:
                for name in ("D", "w", "val", "lower", "price"):
                    setattr(self, name, getattr(trial, name))
                return True
        return False

    def tighten_boxes(self, cutoff: float) -> Masks:
        """Tighten lo and hi of every feature; which features no set below the cutoff has."""
        marks = Marks.none(len(self.free))
        if not np.isfinite(cutoff - self.lower):
            return marks.features
        limits = DescentLimits(cutoff, 0.05 * self.room(cutoff), SWEEPS // 3)
        priced = self.lower + self.capped.gain - self.price * self.most
        priced -= float(np.maximum(self.val - self.price, 0.0).sum())
        descents(TIGHTEN, self.problem, self.w, priced, limits, self.val.copy(), marks)
        return marks.features

    def branch(self, cutoff: float) -> Branch:
        """The feature to branch on: the one that lifts both children most, of some that are probed.

        Under a budget the largest coefficient: there a probe at the price of the parent says too little.
        """
        positions = candidates(self.w)
        if len(positions) == 0 or self.most < len(self.free):
            return largest_coefficient(self.w, self.val, self.lower, self.capped)
        marks, room = Marks.none(len(self.free)), self.room(cutoff)
        marks.features[positions] = True
        limits = DescentLimits(cutoff, PROBE_ACCURACY * room, PROBE_SWEEPS)
        descents(PROBE, self.problem, self.w, self.lower, limits, self.val, marks)
        gains = self.val[positions]
        inside, outside = np.maximum(marks.ends[:, positions], self.lower + np.maximum([-gains, gains], 0.0))
        return strongest(positions, inside, outside, self.lower, cutoff, room)

    @property
    def singles(self) -> Floats:
        """A lower bound on the value of I with each free feature, which is c + d_j - b_j² / 2G_jj."""
        return self.c + self.d - 0.5 * self.b**2 / self.G.diagonal()

    @property
    def rounded(self) -> Ints:
        """Features that the relaxation takes by more than half; the largest as the budget allows."""
        return self.free[taken_features(self.w, self.d, self.D, self.most)]


def taken_features(w: Floats, d: Floats, D: Floats, most: int) -> Ints:
    """Positions with |w_j| >= s_j / 2, s_j the knee without a box; under a budget those of the largest |w_j|."""
    if most < len(w):
        return np.argsort(-np.abs(w), kind="stable")[:most]
    return np.flatnonzero((w != 0) & (np.abs(w) >= 0.5 * np.sqrt(d / D)))


def first_price(b: Floats, D: Floats, diagonal: Floats, most: int) -> float:
    """A price to begin with: at it the most promising feature outside the budget would be taken in full alone."""
    alone = D * (b / np.maximum(diagonal, 1e-300)) ** 2
    return max(float(np.partition(alone, len(b) - most - 1)[len(b) - most - 1]), 1e-12 * float(alone.max()), 1e-300)
