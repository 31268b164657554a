"""Logistic loss for the perspective search: the same node as that of least squares, another relaxation of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.algebra import LinearCombination, Sum
from dsprog.core.validation import Floats, Ints
from dsprog.exact.regression.boxless import Boxless
from dsprog.exact.regression.logistic_bound import Classes, descend_logistic
from dsprog.exact.regression.loss_term import loss_term
from dsprog.exact.regression.penalty_minorant import least_penalty
from dsprog.exact.regression.priced_descent import Budgeted
from dsprog.functions.logistic import LogisticLoss

LOGISTIC_SWEEPS = 60
ROUNDED_OFF = 1e-13  # times the number of rows and columns: what the sums of a bound may lose


@dataclass(frozen=True)
class LogisticModel:
    """a · LogisticLoss and the penalty beside it, divided by nothing: rows y_i x_i, the intercept's column last."""

    rows: Floats
    ridge: float
    weight: float
    intercept: bool
    penalty: Sum

    is_definite = True

    @classmethod
    def of(cls, objective: LinearCombination) -> LogisticModel | None:
        """The loss and the penalty; None unless the objective is one logistic loss and terms known to be submodular."""
        found = loss_term(objective, LogisticLoss)
        if found is None:
            return None
        a, f, others = found
        rows = np.column_stack([f.X, np.ones(len(f.y))]) * f.y[:, None]
        return cls(np.ascontiguousarray(rows.T), f.ridge, a, f.intercept, Sum(f.n, others))

    @cached_property
    def least_eigenvalue(self) -> float:
        """What is certain of the loss's curvature: that of the ridge."""
        return self.ridge

    @property
    def first_diagonal(self) -> Floats:
        """D, which nothing asks for: the ridge takes its place."""
        return np.full(len(self.b), 0.499 * self.ridge)

    @cached_property
    def b(self) -> Floats:
        """The gradient at 0, by which features are put in a first order."""
        return self.rows[:-1].mean(axis=1)

    def relaxation(self, node: dict[str, Any], at_empty: float, budget: int, before: Any = None) -> LogisticRelaxation:
        """The relaxation of a node, of which nothing that was known before is made use."""
        del before
        return LogisticRelaxation.of(self, node, at_empty, budget)


@dataclass
class LogisticRelaxation(Boxless):
    """The free part of a node, the included features beside it."""

    model: LogisticModel
    free: Ints
    chosen: Ints
    constant: float
    d: Floats
    full: Floats
    val: Floats
    lower: float
    most: int
    price: float
    c: float = np.inf
    fit: float = 0.0
    hidden: float = 0.0  # here the margin of a bound is all that rounding may hide

    @classmethod
    def of(cls, model: LogisticModel, node: dict[str, Any], at_empty: float, budget: int) -> LogisticRelaxation:
        """The penalty is at least at_empty + d(S); negative d_j are taken in full, whether j is chosen or not."""
        free, inside, d = np.flatnonzero(node["U"] & ~node["I"]), np.flatnonzero(node["I"]), node["d"]
        constant = least_penalty(at_empty, node)
        most = min(len(free), budget - len(inside))
        chosen = np.append(inside, len(node["U"])) if model.intercept else inside
        price = float(node["price"]) if most < len(free) else 0.0
        gains = np.maximum(d[free], 0.0)
        return cls(model, free, chosen, constant, gains, node["w"], np.zeros(len(free)), -np.inf, most, price)

    @property
    def w(self) -> Floats:  # type: ignore[override]
        """Coefficients of the free features."""
        return self.full[self.free]

    def room(self, cutoff: float) -> float:
        """What the bound can still rise by."""
        return max(cutoff - self.lower, 0.0)

    def store(self, node: dict[str, Any]) -> None:
        """What children inherit."""
        node["w"], node["price"] = self.full.copy(), np.float64(self.price)

    def solve(self, cutoff: float) -> None:
        """Find w, and with it ``lower`` and ``val``; all in units of the loss, so that its weight is divided out."""
        a, order = self.model.weight, np.concatenate([self.chosen, self.free])
        node = Classes(self.model.rows, order, len(self.chosen), self.d / a, self.model.ridge)
        w = np.append(self.full, 0.0)[order]
        if self.most < len(self.free) and self.price == 0.0:
            self.price = a * 0.5 * self.model.ridge * float(np.max(np.abs(self.model.b))) ** 2 + 1e-9 * a
        room = (cutoff - self.constant) / a
        accuracy = 1e-4 * max(self.room(cutoff) / a, 0.0) if np.isfinite(cutoff - self.lower) else 1e-5
        budget = Budgeted(self.most, self.price / a, room, accuracy, LOGISTIC_SWEEPS)
        best = w.copy()
        lower, price = descend_logistic(node, w, budget, best, self.val)
        margin = ROUNDED_OFF * (len(order) + self.model.rows.shape[1]) * (1.0 + abs(lower))
        self.lower, self.price = a * (lower - margin) + self.constant, a * price
        self.val *= a
        found = np.zeros(len(self.full) + 1)
        found[order] = best
        self.full = found[:-1]

    @property
    def singles(self) -> Floats:
        """A lower bound on the value of I with each free feature."""
        self.solve(np.inf)
        return np.asarray(self.lower + np.maximum(self.capped.last - self.val, 0.0))

    @property
    def rounded(self) -> Ints:
        """The largest coefficients that the budget allows, or those that the relaxation takes by more than half."""
        w = np.abs(self.w)
        if self.most < len(self.free):
            return self.free[np.argsort(-w, kind="stable")[: self.most]]
        knee = np.sqrt(2.0 * self.d / (self.model.weight * self.model.ridge))
        return self.free[(w > 0) & (w >= 0.5 * knee)]
