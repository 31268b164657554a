"""The weight of the penalty, or the number of features, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from dsprog.applications.features.largest_weight import lam_max
from dsprog.applications.features.linear_fit import mask_of, named, ridge_coefficients
from dsprog.applications.features.paths import feature_path, uninterrupted
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks, as_count, as_reals
from dsprog.run.result import Result

FRACTIONS = (0.5, 0.2, 0.1, 0.05, 0.02)  # of the largest weight that matters, where neither lams nor sizes are given


class SubmodularFeatureSelectorCV(SelectorMixin, BaseEstimator):
    """Least squares with a submodular penalty, its weight or the number of features chosen by their score on folds.

    Every set of the path is the exact one of its weight or size, on every fold and at the end on all rows.

    Parameters
    ----------
    lams : sequence of float, optional
        Weights of the penalty; some fractions of :func:`lam_max` if ``sizes`` are not given either. With sizes, one.
    sizes : sequence of int, optional
        Numbers of features to choose among.
    penalty, ridge, fit_intercept, time_limit, gap
        As in :class:`SubmodularFeatureSelector`.
    cv : int or splitter of scikit-learn
        Folds; rows are not shuffled.
    scoring : str or callable
        A score of scikit-learn's for a linear model, the larger the better.
    verbose : int
        Whether to print a line for each fold.

    Attributes
    ----------
    support_, coef_, intercept_, result_, objective_, lower_bound_, gap_
        As in :class:`SubmodularFeatureSelector`.
    best_index_, best_score_, lam_, size_
        Which of the weights or sizes was taken, its mean score, and what it is.
    cv_results_ : dict
        ``lams`` or ``sizes``, ``mean_test_score``, ``std_test_score`` and ``scores`` of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import SubmodularFeatureSelectorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 15))
    >>> y = X[:, 2] - X[:, 5] + 0.5 * rng.normal(size=90)
    >>> selector = SubmodularFeatureSelectorCV(sizes=[1, 2, 6]).fit(X, y)
    >>> selector.size_, selector.get_support(indices=True).tolist()
    (2, [2, 5])
    """

    def __init__(
        self,
        lams: Sequence[float] | float | None = None,
        *,
        sizes: Sequence[int] | None = None,
        penalty: str | SetFunction = "nuclear",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        cv: Any = 5,
        scoring: str | Callable[..., float] = "neg_mean_squared_error",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.sizes = sizes
        self.penalty = penalty
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.time_limit = time_limit
        self.gap = gap
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> SubmodularFeatureSelectorCV:
        """Choose a weight or a size, then features."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y = as_reals(y, "y")
        with threadpool_limits(limits=1):  # small matrices: threads of the linear algebra would wait for each other
            choices = self._choices(X, y)
            scores = self._scores(X, y, choices)
            mean = scores.mean(axis=0)
            self.best_index_ = int(mean.argmax())
            self.best_score_ = float(mean[self.best_index_])
            best = choices[self.best_index_]
            (result,) = self._path(X, y, [best])
        self.result_ = named(result, self)
        self.lam_ = float(best) if self.sizes is None else float(np.ravel(0.0 if self.lams is None else self.lams)[0])
        self.size_ = None if self.sizes is None else int(best)
        name = "lams" if self.sizes is None else "sizes"
        statistics = {"mean_test_score": mean, "std_test_score": scores.std(axis=0), "scores": scores}
        self.cv_results_ = {name: list(choices), **statistics}
        self.support_ = mask_of(self.result_, X.shape[1])
        self.coef_, self.intercept_ = ridge_coefficients(X, y, self.support_, self.ridge, self.fit_intercept)
        self.objective_, self.lower_bound_, self.gap_ = self.result_.value, self.result_.lower_bound, self.result_.gap
        return self

    def _choices(self, X: Floats, y: Floats) -> list[Any]:
        """The sizes, or the weights."""
        given = self.lams if self.sizes is None else self.sizes
        if given is not None:
            choices = list(np.ravel(np.asarray(given, dtype=object)))
            if not choices:
                raise ValueError("lams or sizes must not be empty")
            return choices
        X, y = self._centred(X, y)
        largest = lam_max(X, y, self.penalty, self.ridge, self.time_limit)
        return [fraction * largest for fraction in FRACTIONS]

    def _centred(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        return (X - X.mean(axis=0), y - y.mean()) if self.fit_intercept else (X, y)

    def _path(self, X: Floats, y: Floats, choices: list[Any]) -> list[Result]:
        """A result for each choice."""
        X, y = self._centred(X, y)
        lams, sizes = (choices, None) if self.sizes is None else (self.lams, choices)
        limits: dict[str, Any] = {"time_limit": self.time_limit, "gap": self.gap}
        return uninterrupted(feature_path(X, y, lams, self.penalty, self.ridge, sizes=sizes, **limits))

    def _scores(self, X: Floats, y: Floats, choices: list[Any]) -> Floats:
        """(folds, choices): the score of each on the rows left out."""
        verbose = as_count(int(self.verbose), "verbose")
        if isinstance(self.cv, (int, np.integer)):
            folds = check_cv(min(as_count(self.cv, "cv", least=2), len(y)))
        else:
            folds = check_cv(self.cv)
        scorer = check_scoring(LinearRegression(), scoring=self.scoring)
        scores = []
        for fold, (train, test) in enumerate(folds.split(X, y)):
            row = []
            for result in self._path(X[train], y[train], choices):
                model = LinearRegression(fit_intercept=self.fit_intercept)
                support = mask_of(result, X.shape[1])
                model.coef_, model.intercept_ = ridge_coefficients(
                    X[train], y[train], support, self.ridge, self.fit_intercept
                )
                row.append(float(scorer(model, X[test], y[test])))
            scores.append(row)
            if verbose:
                best = int(np.argmax(row))
                where = f"fold {fold + 1} of {folds.get_n_splits(X, y)}"
                print(f"{where}: best at {choices[best]:g}, score {row[best]:.4g}")
        return np.array(scores)

    def _get_support_mask(self) -> Masks:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        """y is needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
