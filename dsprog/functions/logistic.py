"""Logistic loss: how well the best linear classifier on the chosen features tells two classes apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import LARGEST_ROOT, Floats, Ints, Masks, as_flag, as_matrix, as_number

NEWTON_STEPS = 100
FLAT = 1e-13  # a decrease that Newton's model promises, relative to the loss, below which it is done


def newton_move(hessian: Floats, gradient: Floats) -> Floats:
    """Newton's step; where rounding makes the Hessian singular, the shortest one."""
    try:
        return np.asarray(np.linalg.solve(hessian, gradient))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0])


class LogisticLoss(SetFunction):
    """f(S) = min over w of (1/m) Σ_i log(1 + exp(-y_i (x_i·w_S))) + (ridge/2) ‖w‖², m the number of rows.

    Decreasing, and no more is known. The ridge must be positive: without one, classes that a plane separates have no
    best w, and no bound on the coefficients that a proof could rest on.

    Parameters
    ----------
    X : (m, n) array
    y : (m,) array of -1 and 1
    ridge : float
    intercept : bool
        Whether a column of ones belongs to every set; it has the same ridge.

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.LogisticLoss([[1.0, 0.0], [-1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]], [1, -1, 1, -1], ridge=0.1)
    >>> round(f([]), 4), round(f([0]), 4), round(f([1]), 4)
    (0.6931, 0.3118, 0.6931)
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, ridge: float, intercept: bool = False) -> None:
        self.X = as_matrix(X, "X", shape=(None, None), largest=LARGEST_ROOT)
        rows, self.n = self.X.shape
        self.y = as_matrix(y, "y", shape=(rows,))
        if not np.isin(self.y, (-1, 1)).all():
            raise ValueError("y must be -1 or 1 in every row")
        if rows == 0:
            raise ValueError("X must have at least one row, got none")
        self.ridge, self.intercept = as_number(ridge, "ridge"), as_flag(intercept, "intercept")
        if not self.ridge > 0:
            raise ValueError(f"ridge must be positive for the logistic loss, got {self.ridge:g}")
        self.knows = Knowledge(decreasing=True)

    def coefficients(self, mask: Masks) -> tuple[Floats, float]:
        """The best w on a set, after it the intercept if there is one, and the loss: Newton's method, steps halved."""
        A = np.column_stack([self.X[:, mask], np.ones(len(self.y))]) if self.intercept else self.X[:, mask]
        A, rows = A * self.y[:, None], len(self.y)
        w, value = np.zeros(A.shape[1]), float(np.log(2.0))
        for _ in range(NEWTON_STEPS if len(w) else 0):
            u = np.exp(-np.logaddexp(0.0, A @ w))  # 1 / (1 + exp(margin))
            gradient = self.ridge * w - A.T @ u / rows
            hessian = (A.T * (u * (1.0 - u))) @ A / rows + self.ridge * np.eye(len(w))
            move = newton_move(hessian, gradient)
            promised, step = float(gradient @ move), 1.0
            if promised <= FLAT * value:
                break
            trial = self._loss(A, w - move)
            while trial > value - 0.25 * step * promised and step > 1e-9:
                step *= 0.5
                trial = self._loss(A, w - step * move)
            w, value = w - step * move, min(value, trial)
        return w, value

    def _loss(self, A: Floats, w: Floats) -> float:
        return float(np.logaddexp(0.0, -(A @ w)).mean() + 0.5 * self.ridge * (w @ w))

    def _values(self, masks: Masks) -> Floats:
        return np.array([self.coefficients(mask)[1] for mask in masks])

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """A loss on fewer columns where nothing is included; otherwise a view."""
        if len(include) == 0:
            return LogisticLoss(self.X[:, free], self.y, self.ridge, self.intercept)
        return super()._restrict(include, free)
