"""Least squares or logistic loss with an intercept: the loss that a search gets, and the model of a set it found."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dsprog.applications.features.arguments import centred
from dsprog.applications.features.linear_fit import ridge_coefficients
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.functions.logistic import LogisticLoss
from dsprog.functions.regression import LeastSquares

RIDGES = {"regression": 0.0, "logistic": 0.01}  # if none is given


@dataclass(frozen=True)
class LinearProblem:
    """Columns and a target as they came, -1 and 1 for two classes.

    With an intercept the search gets centred columns. Least squares needs none then. The logistic loss keeps one, c',
    on which the ridge is, too; it belongs to the centred columns, so that for X as it came c = c' - w · (means of X).
    """

    X: Floats
    y: Floats
    task: str
    ridge: float
    fit_intercept: bool

    def rows(self, which: Ints) -> LinearProblem:
        """The same problem on some of its rows."""
        return replace(self, X=self.X[which], y=self.y[which])

    def loss(self) -> LeastSquares | LogisticLoss:
        """The loss of sets of columns."""
        X, y = centred(self.X, self.y, self.fit_intercept)
        if self.task == "logistic":
            return LogisticLoss(X, self.y, self.ridge, self.fit_intercept)
        return LeastSquares(X, y, self.ridge)

    def model(self, support: Masks) -> tuple[Floats, float]:
        """Coefficients of all features, 0 for those not in the set, and the intercept."""
        if self.task == "regression":
            return ridge_coefficients(self.X, self.y, support, self.ridge, self.fit_intercept)
        loss, coef = self.loss(), np.zeros(self.X.shape[1])
        w = loss.coefficients(support)[0]  # type: ignore[union-attr]
        coef[support] = w[: support.sum()]
        return coef, float(w[-1] - self.X.mean(axis=0) @ coef) if self.fit_intercept else 0.0
