"""Least squares with a ridge and far more features than rows, few of which matter: no matrix of features by features.

In units that make every G_jj = 1 the Gram matrix is G = A'A + R, A rows by features and R the ridge, a diagonal. With
2D <= R the matrix G - 2D is positive semidefinite without a factorisation, and the perspective bound
(:mod:`dsprog.exact.regression.perspective_bound`) needs only products with A
(:mod:`dsprog.exact.regression.wide_gram`). Coefficients are descended on few
features, those that the last point priced too low being added, and every bound is one of all features. Once few enough
are left, their Gram matrix is made, and :class:`dsprog.exact.regression.relaxation.Relaxation` goes on.

Memory: X and at most as much again for rows of G, and blocks of G of at most 1,200 features and a few copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dsprog.core.algebra import LinearCombination, Sum
from dsprog.core.validation import Floats, Ints
from dsprog.exact.regression.boxless import Boxless
from dsprog.exact.regression.budget import capped
from dsprog.exact.regression.descents import RELAX, Marks, descents
from dsprog.exact.regression.elimination import (
    eliminated,
    explained_at_most,
    factorised,
    hidden_by_rounding,
    shift_of,
    whitened,
)
from dsprog.exact.regression.least_eigenvalue import least_eigenvalue_of
from dsprog.exact.regression.loss_term import loss_term
from dsprog.exact.regression.penalty_minorant import least_penalty
from dsprog.exact.regression.perspective_bound import DescentLimits, Relaxed
from dsprog.exact.regression.priced_descent import Budgeted, descend_with_budget
from dsprog.exact.regression.relaxation import (
    FLOOR,
    PRICED_SWEEPS,
    SMALLEST,
    SWEEPS,
    Relaxation,
    first_price,
    taken_features,
)
from dsprog.exact.regression.wide_gram import WideGram
from dsprog.functions.regression import LeastSquares

DENSE = 600  # features whose Gram matrix is made
BELOW = 0.4999  # of the ridge, for D: with half of it G - 2D = A'A, which is positive semidefinite
ROUNDS, ADDED = 15, 60  # of descents, and features that are added to them at a time
FIRST = 100  # features in a first descent, beside as many as are added later: at most two for each that a budget allows


@dataclass(frozen=True)
class WideLoss:
    """½ w'Gw - b'w + c with G = A'A + R, and a penalty beside it."""

    G: WideGram
    b: Floats
    c: float
    penalty: Sum
    floor: float = FLOOR  # least D_j, in units of the least eigenvalue
    near: dict[str, Any] = field(default_factory=dict)  # the Gram matrix of the features that were last few enough

    @classmethod
    def of(cls, objective: LinearCombination) -> WideLoss | None:
        """The loss and the penalty of an objective with a ridge; None unless there are far more features than rows."""
        found = loss_term(objective, LeastSquares)
        if found is None:
            return None
        a, f, others = found
        rows, p = f.X.shape
        if p <= max(DENSE, rows) or not f.ridge > 0.0:
            return None
        units = np.sqrt(a / rows * np.einsum("ij,ij->j", f.X, f.X) + a * f.ridge)
        b = a / rows * (f.y @ f.X) / units
        G = WideGram(f.X, np.sqrt(a / rows) / units, a * f.ridge / units**2, np.argsort(-np.abs(b)))
        return cls(G, b, 0.5 * a / rows * float(f.y @ f.y), Sum(f.n, others))

    @property
    def least_eigenvalue(self) -> float:
        """Of G, or less."""
        return float(self.G.R.min())

    def hidden(self, explained: float) -> float:
        """What rounding may hide of a part of c that features explain."""
        return hidden_by_rounding(explained, self.least_eigenvalue, len(self.b), len(self.G.X))

    @property
    def is_definite(self) -> bool:
        """Whether the ridge is large enough."""
        return self.least_eigenvalue >= SMALLEST

    @property
    def worthwhile(self) -> int:
        """How many features lower the objective alone."""
        price = self.penalty.marginals(np.zeros((1, len(self.b)), dtype=bool))[0]
        return int((0.5 * self.b**2 > price).sum())

    @property
    def first_diagonal(self) -> Floats:
        """D at the root."""
        return BELOW * self.G.R

    @property
    def proved(self) -> Floats:
        """No D without a factorisation, since the least eigenvalue may be all rounding."""
        return np.zeros(len(self.b))

    @property
    def shift(self) -> float:
        """What a Cholesky factorisation must leave over to be a proof; G_jj = 1."""
        return shift_of(DENSE, float(DENSE))

    def gram(self, some: Ints, others: Ints) -> Floats:
        """A block of G."""
        return self.G.block(some, others)

    def beside(self, chosen: Ints) -> Floats:
        """Rows of G."""
        return self.G.rows(chosen)

    def diagonal(self) -> Floats:
        """Of G."""
        return np.ones(len(self.b))

    def eliminated(self, c: float, chosen: Ints, free: Ints) -> tuple[Floats, Floats, float]:
        """G, b and c of some free features given the chosen ones."""
        place, G = self.near["place"], self.near["G"]
        return eliminated(G, self.b[self.near["features"]], c, place[chosen], place[free])

    def relaxation(
        self, node: dict[str, Any], at_empty: float, budget: int, before: Any = None
    ) -> Relaxation | WideRelaxation:
        """The relaxation of a node, by the Gram matrix of its features if they are few."""
        if node["U"].sum() > DENSE:
            return WideRelaxation.of(self, node, at_empty, budget)
        if not self.near or (self.near["place"][node["U"]] < 0).any():
            features = np.flatnonzero(node["U"])
            place = np.full(len(self.b), -1)
            place[features] = np.arange(len(features))
            G = self.gram(features, features)
            self.near.update(features=features, place=place, G=G, least=least_eigenvalue_of(G))
        if (node["D"][node["U"]] == self.first_diagonal[node["U"]]).all():
            # up to here D was bounded by the ridge; few features allow for more
            node["D"] = np.maximum(node["D"], 0.499 * self.near["least"])
        return Relaxation.of(self, node, at_empty, budget, before if isinstance(before, Relaxation) else None)


@dataclass
class WideRelaxation(Boxless):
    """The free part of a node with many features: G' = A'A + R - W'W after the included ones were eliminated."""

    loss: WideLoss
    free: Ints
    fit: float
    hidden: float
    W: Floats
    b: Floats
    c: float
    d: Floats
    D: Floats
    w: Floats
    lo: Floats
    hi: Floats
    val: Floats
    lower: float
    most: int
    price: float

    @classmethod
    def of(cls, loss: WideLoss, node: dict[str, Any], at_empty: float, budget: int) -> WideRelaxation:
        """Eliminate I: with G_II = LL', W = L⁻¹ G_IF and z = L⁻¹ b_I it leaves b_F - W'z and c - ½|z|²."""
        free, chosen, d = np.flatnonzero(node["U"] & ~node["I"]), np.flatnonzero(node["I"]), node["d"]
        W, b, fit = np.zeros((len(chosen), len(free))), loss.b[free], loss.c
        if len(chosen):
            L = factorised(loss.gram(chosen, chosen), np.zeros(len(chosen)), 0.0)
            assert L is not None  # the ridge makes it definite
            W, z = whitened(L, loss.beside(chosen)[:, free], loss.b[chosen])
            b, fit = b - z @ W, fit - 0.5 * float(z @ z)
        most = min(len(free), budget - len(chosen))
        D, w, lo, hi = (node[key][free] for key in ("D", "w", "lo", "hi"))
        D = np.minimum(D, loss.first_diagonal[free])
        hidden = loss.hidden(loss.c - fit)
        c = fit - hidden - loss.hidden(explained_at_most(fit, b, D)) + least_penalty(at_empty, node)
        gains = np.maximum(d[free], 0.0)
        val, price = np.zeros(len(free)), float(node["price"])
        return cls(loss, free, fit, hidden, W, b, c, gains, D, w, lo, hi, val, -np.inf, most, price)

    @property
    def diagonal(self) -> Floats:
        """Of G'."""
        return np.asarray(1.0 - np.einsum("ij,ij->j", self.W, self.W))

    def room(self, cutoff: float) -> float:
        """What the bound can still rise by."""
        return max(min(cutoff, self.c) - self.lower, 0.0)

    def store(self, node: dict[str, Any]) -> None:
        """What children inherit."""
        node["w"][self.free], node["price"] = self.w, np.float64(self.price)

    def solve(self, cutoff: float) -> None:
        """Find w by descents on some features, to which those are added that its prices leave out wrongly."""
        if self.price == 0.0 and self.most < len(self.free):
            self.price = first_price(self.b, self.D, np.maximum(self.diagonal, 1e-9), self.most)
        room = self.room(cutoff)
        accuracy = 0.005 * room if np.isfinite(room) else 1e-6 * abs(self.c)
        inside = self.w != 0
        inside[np.argsort(-np.abs(self.b))[: min(2 * self.most, FIRST) + ADDED]] = True
        w, price = self.w.copy(), self.price
        for _ in range(ROUNDS):
            some = np.flatnonzero(inside)
            price = self._descend(some, w, price, cutoff, accuracy)
            lower, val = self._bound(some, w)
            if lower > self.lower:
                self.lower, self.val, self.w, self.price = lower, val, w.copy(), price
            wrong = np.flatnonzero((val > price) & ~inside)
            if lower >= cutoff or len(wrong) == 0:
                return
            inside[wrong[np.argsort(-val[wrong])[:ADDED]]] = True

    def _descend(self, some: Ints, w: Floats, price: float, cutoff: float, accuracy: float) -> float:
        """Descend w on some features; returns the price of the best point."""
        features = self.free[some]
        G = self.loss.gram(features, features) - self.W[:, some].T @ self.W[:, some]
        bounds = self.d[some], self.D[some], self.lo[some], self.hi[some]
        small = Relaxed(G, np.ascontiguousarray(self.b[some]), self.c, *bounds)
        best = w[some]
        if self.most >= len(self.free):
            limits, marks = DescentLimits(cutoff, accuracy, SWEEPS), Marks.none(len(some))
            descents(RELAX, small, best, -np.inf, limits, np.empty(len(some)), marks)
            w[some] = best
            return 0.0
        budget = Budgeted(min(self.most, len(some)), price, cutoff, accuracy, PRICED_SWEEPS)
        price = descend_with_budget(small, w[some], budget, best, np.empty(len(some)))[1]
        w[some] = best
        return float(price)

    def _bound(self, some: Ints, w: Floats) -> tuple[float, Floats]:
        """LB at w, which vanishes but for some features, and the gains of all."""
        u = w[some]
        Gw = self.loss.G.product(self.free[some], u)[self.free] - (self.W[:, some] @ u) @ self.W
        v = self.b - Gw + 2.0 * self.D * w
        t = np.clip(v / (2.0 * self.D), self.lo, self.hi)
        val = v * t - self.D * t**2 - self.d
        lower = self.c - 0.5 * float(w @ Gw) + float(self.D @ w**2)
        return lower - capped(val, self.most).gain, val

    @property
    def singles(self) -> Floats:
        """A lower bound on the value of I with each free feature, which is c + d_j - b_j² / 2G_jj."""
        return self.c + self.d - 0.5 * self.b**2 / np.maximum(self.diagonal, 1e-300)

    @property
    def rounded(self) -> Ints:
        """Features that the relaxation takes by more than half; the largest as the budget allows."""
        return self.free[taken_features(self.w, self.d, self.D, self.most)]
