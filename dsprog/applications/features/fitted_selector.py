"""What the selectors of features share: the rows they accept, what they keep of a result, and their tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dsprog.applications.features.linear_fit import mask_of, named
from dsprog.applications.features.linear_problem import RIDGES, LinearProblem
from dsprog.core.validation import Masks, as_reals
from dsprog.run.result import Result


class FittedSelector(SelectorMixin, BaseEstimator):
    """A selector that keeps the result of a search; least squares or logistic loss are fitted to its set."""

    result_: Result
    task: str
    ridge: float | None
    fit_intercept: bool

    def _linear_problem(self, X: Any, y: Any) -> LinearProblem:
        """The rows, validated."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        ridge = RIDGES[self.task] if self.ridge is None else self.ridge
        target = self._signs(y) if self.task == "logistic" else as_reals(y, "y")
        return LinearProblem(X, target, self.task, ridge, self.fit_intercept)

    def _signs(self, y: Any) -> np.ndarray:
        """Two classes as -1 and 1."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"Only binary classification is supported: y has {len(self.classes_)} classes, not 2")
        return 2.0 * codes - 1.0

    def _keep(self, result: Result, problem: LinearProblem | None = None) -> None:
        """Set what is known of the set, and of the linear model on it if there is one."""
        self.result_ = named(result, self)
        self.support_ = mask_of(result, self.n_features_in_)
        self.objective_, self.lower_bound_, self.gap_ = result.value, result.lower_bound, result.gap
        if problem is not None:
            self.coef_, self.intercept_ = problem.model(self.support_)

    def _get_support_mask(self) -> Masks:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        """y is needed, of two classes for the logistic loss."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.task == "logistic":
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
