"""Scores of sets of features on rows that were left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import check_scoring, log_loss, make_scorer
from sklearn.model_selection import check_cv

from dsprog.applications.features.linear_problem import LinearProblem
from dsprog.core.validation import Ints, Masks, as_count

Score = Callable[[LinearProblem, Masks, LinearProblem], float]


def folds_of(cv: Any, problem: LinearProblem, groups: Any = None) -> list[tuple[Ints, Ints]]:
    """Rows to fit and rows to score on; a number of folds is at most that of rows, or rows of the smaller class."""
    classes = problem.task == "logistic"
    if isinstance(cv, (int, np.integer)):
        rows = len(problem.y)
        smaller = min(int((problem.y > 0).sum()), int((problem.y < 0).sum())) if classes else rows
        if smaller < 2:
            raise ValueError(f"y must have at least two rows of each class for folds, got {smaller}")
        cv = min(as_count(cv, "cv", least=2), smaller)
    return list(check_cv(cv, problem.y, classifier=classes).split(problem.X, problem.y, groups))


def score_of(task: str, scoring: str | Callable[..., float] | None, classes: Any = None) -> Score:
    """How well a set that is fitted to some rows does on others, by a score of scikit-learn's for a linear model."""
    scorer = check_scoring(model_of(task), scoring=default_score(task, classes) if scoring is None else scoring)

    def score(known: LinearProblem, support: Masks, left: LinearProblem) -> float:
        model, (coef, intercept) = model_of(task), known.model(support)
        if task == "regression":
            model.coef_, model.intercept_, target = coef, intercept, left.y
        else:
            model.coef_, model.intercept_, model.classes_ = coef[None, :], np.array([intercept]), classes
            target = classes[(left.y > 0).astype(int)]
        value = float(scorer(model, left.X, target))
        if math.isnan(value):
            raise ValueError("scoring must give a number on every fold, got nan: are there too few rows in one?")
        return value

    return score


def default_score(task: str, classes: Any) -> Any:
    """Squared error, or log loss, which must be told the classes where a fold has rows of one only."""
    if task == "regression":
        return "neg_mean_squared_error"
    return make_scorer(log_loss, greater_is_better=False, response_method="predict_proba", labels=classes)


def model_of(task: str) -> LinearRegression | LogisticRegression:
    """A linear model of scikit-learn's without coefficients."""
    return LinearRegression() if task == "regression" else LogisticRegression()
