"""What a chosen set means for a linear model: coefficients, masks, and the lasso's sets beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

from dsprog.core.algebra import Difference
from dsprog.core.validation import Floats, Masks, elements
from dsprog.run.result import STATUSES, Result


def ridge_coefficients(X: Floats, y: Floats, support: Masks, ridge: float, intercept: bool) -> tuple[Floats, float]:
    """Least squares on the selected features, with the ridge; coefficients of all features, and the intercept."""
    means, level = (X.mean(axis=0), float(y.mean())) if intercept else (np.zeros(X.shape[1]), 0.0)
    A, coef = (X - means)[:, support], np.zeros(X.shape[1])
    penalised = np.vstack([A, np.sqrt(ridge * len(y)) * np.eye(A.shape[1])])
    coef[support] = np.linalg.lstsq(penalised, np.append(y - level, np.zeros(A.shape[1])), rcond=None)[0]
    return coef, level - float(means @ coef)


def mask_of(result: Result, n: int) -> Masks:
    """The set of a result as a mask."""
    mask = np.zeros(n, dtype=bool)
    mask[list(result.S)] = True
    return mask


def named(result: Result, selector: Any) -> Result:
    """The result with the names of the columns that a selector was fitted on, if they had any."""
    names = getattr(selector, "feature_names_in_", None)
    return result if names is None else replace(result, names=tuple(names.tolist()))


def best_of_lasso_path(objective: Difference, X: Floats, y: Floats, most: int | None) -> Result:
    """The support along the lasso path of least objective, of those with at most so many features."""
    _, coefs, _ = lasso_path(X, y, max_iter=10_000)
    masks = np.unique((np.abs(coefs.T) > 0).reshape(-1, X.shape[1]), axis=0)
    masks = masks[masks.sum(axis=1) <= (X.shape[1] if most is None else most)]
    values = objective.values(masks)
    best = int(values.argmin())
    message = STATUSES["local"].format(reason="no support of the lasso path is better")
    return Result(elements(masks[best]), float(values[best]), -np.inf, "local", False, message, "lasso")
