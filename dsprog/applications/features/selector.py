"""A scikit-learn selector on top of the recipes of :mod:`dsprog.applications.features.recipes`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import KFold
from sklearn.utils import ClassifierTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from dsprog.applications.features.largest_weight import lam_max
from dsprog.applications.features.linear_fit import best_of_lasso_path, mask_of, named, ridge_coefficients
from dsprog.applications.features.paths import PathPoint, as_size, solved_path
from dsprog.applications.features.recipes import information_selection_objective, logistic_selection_objective
from dsprog.applications.features.selection_methods import SELECTION_SOLVERS, select_by
from dsprog.core.algebra import Difference
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_codes, as_count, as_number, as_reals, as_seed
from dsprog.functions.logistic import LogisticLoss
from dsprog.run.result import Result

METHODS = (*SELECTION_SOLVERS, "lasso")
TASKS = ("regression", "classification", "logistic")
LAM = 0.01  # the weight of the penalty if none is given


class SubmodularFeatureSelector(SelectorMixin, BaseEstimator):
    """Select features by min over S of loss(S) + lam · penalty(S), with a certificate where the method gives one.

    Parameters
    ----------
    lam : float, "max", sequence of float, or None
        Weight of the penalty, on the scale of the loss: with y of variance 1 the loss is at most 1/2, and no feature is
        worth a price of more. "max" is :func:`lam_max`, from which on nothing is selected (regression only). Of
        several, the one of least cross-validated squared error is taken (regression only). None is 0.01, or 0 where
        n_features_to_select is given.
    n_features_to_select : int or None
        The most features to select.
    penalty : {"nuclear", "frobenius", "cardinality"} or SetFunction
        On the features, for regression and logistic loss. For classification every feature costs ``lam``.
    method : {"exact", "prism", "ssp", "greedy", "lasso"}
        Only "exact" proves optimality for least squares. "lasso" takes the best support of the lasso path.
    task : {"regression", "classification", "logistic"}
        Least squares; mutual information with the class, for which numbers are cut into ``bins`` quantiles; or the
        logistic loss of two classes, which needs a ridge and the method "exact" or "greedy".
    ridge : float
        Adds (ridge/2) ‖w‖² to the loss; needed by "exact" if there are as many features as rows, or more,
        unless n_features_to_select is small.
    fit_intercept : bool
        Whether to centre X and y first (regression).
    bins : int
        Of numeric features with more distinct values (classification).
    cv : int
        Folds by which one of several ``lam`` is chosen.
    time_limit : float or None
        Seconds for each problem; at the limit the best set so far is taken and ``gap_`` says how much is proved.
    gap : float
        Relative gap to accept.
    random_state : int or None
        For methods that draw random numbers.
    n_jobs : int or None
        Processes: of the folds, and those that share the search of the last fit. -1 means all processors.

    Attributes
    ----------
    support_ : (p,) array of bool
    coef_ : (p,) array
        Least-squares coefficients, 0 where a feature is not selected (regression).
    intercept_ : float
    lam_, objective_, lower_bound_, gap_
        The weight taken, the value reached, what is proved, and (objective_ - lower_bound_) / |objective_|.
    result_ : Result

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import SubmodularFeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 15))
    >>> y = X[:, 2] - X[:, 5] + 0.1 * rng.normal(size=60)
    >>> selector = SubmodularFeatureSelector(lam=0.02).fit(X, y)
    >>> selector.get_support(indices=True).tolist(), selector.result_.certified
    ([2, 5], True)
    """

    result_: Result

    def __init__(
        self,
        lam: float | Sequence[float] | str | None = None,
        *,
        n_features_to_select: int | None = None,
        penalty: str | SetFunction = "nuclear",
        method: str = "exact",
        task: str = "regression",
        ridge: float = 0.0,
        fit_intercept: bool = True,
        bins: int = 5,
        cv: int = 5,
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.n_features_to_select = n_features_to_select
        self.penalty = penalty
        self.method = method
        self.task = task
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.bins = bins
        self.cv = cv
        self.time_limit = time_limit
        self.gap = gap
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> SubmodularFeatureSelector:
        """Select features."""
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if self.task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, got {self.task!r}")
        as_count(self.bins, "bins", least=2)
        as_seed(self.random_state, "random_state")
        with threadpool_limits(limits=1):  # small matrices: threads of the linear algebra would wait for each other
            if self.task == "regression":
                self._fit_regression(X, y)
            elif self.task == "logistic":
                self._fit_logistic(X, y)
            else:
                self._fit_classification(X, y)
        self.result_ = named(self.result_, self)
        self.objective_, self.lower_bound_, self.gap_ = self.result_.value, self.result_.lower_bound, self.result_.gap
        return self

    def _weight(self) -> float | Sequence[float] | str:
        """The weight of the penalty, or several."""
        if self.lam is None:
            return LAM if self.n_features_to_select is None else 0.0
        return self.lam

    def _most(self, features: int) -> int | None:
        """The most features to select, if that is limited."""
        return None if (k := self.n_features_to_select) is None else as_size(k, features, "n_features_to_select")

    def _fit_regression(self, X: Any, y: Any) -> None:
        weight = self._weight()
        lams = [] if is_largest(weight) else sorted(weights_of(weight), reverse=True)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y = as_reals(y, "y")
        if not lams:
            most = self._most(X.shape[1])
            lams = [lam_max(*self._centred(X, y), self.penalty, self.ridge, self.time_limit, most=most)]
        self.lam_ = lams[0] if len(lams) == 1 else self._validated(X, y, lams)
        workers = effective_n_jobs(self.n_jobs)
        self.result_ = self._path(X, y, [lam for lam in lams if lam >= self.lam_], workers)[-1]
        self.support_ = mask_of(self.result_, X.shape[1])
        self.coef_, self.intercept_ = ridge_coefficients(X, y, self.support_, self.ridge, self.fit_intercept)

    def _fit_classification(self, X: Any, y: Any) -> None:
        X, y = validate_data(self, X, y, dtype=None, ensure_min_samples=2)
        check_classification_targets(y)
        lam = self._weight()
        if not isinstance(lam, Real):
            raise ValueError("lam must be one number for classification: use GridSearchCV to choose among several")
        if self.method == "lasso":
            raise ValueError("method 'lasso' is for regression: use 'exact', 'prism', 'ssp' or 'greedy'")
        (self.lam_,) = weights_of(lam)
        objective = information_selection_objective(
            quantile_codes(X, self.bins), np.unique(y, return_inverse=True)[1], self.lam_
        )
        point, workers = PathPoint(self.lam_, self._most(X.shape[1])), effective_n_jobs(self.n_jobs)
        self.result_ = self._minimized(objective, point, workers=workers)
        self.support_ = mask_of(self.result_, X.shape[1])

    def _fit_logistic(self, X: Any, y: Any) -> None:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"Only binary classification is supported: y has {len(self.classes_)} classes, not 2")
        if self.method not in ("exact", "greedy"):
            raise ValueError(f"method must be 'exact' or 'greedy' for logistic loss, got {self.method!r}")
        lam = self._weight()
        if not isinstance(lam, Real):
            raise ValueError("lam must be one number for logistic loss: use GridSearchCV to choose among several")
        (self.lam_,) = weights_of(lam)
        objective = logistic_selection_objective(
            X, 2.0 * codes - 1.0, self.lam_, self.penalty, self.ridge, self.fit_intercept
        )
        point, workers = PathPoint(self.lam_, self._most(X.shape[1])), effective_n_jobs(self.n_jobs)
        self.result_ = self._minimized(objective, point, workers=workers)
        self.support_ = mask_of(self.result_, X.shape[1])
        loss = LogisticLoss(X, 2.0 * codes - 1.0, self.ridge, self.fit_intercept)
        w = loss.coefficients(self.support_)[0]
        self.coef_, self.intercept_ = np.zeros(X.shape[1]), float(w[-1]) if self.fit_intercept else 0.0
        self.coef_[self.support_] = w[: self.support_.sum()]

    def _centred(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        return (X - X.mean(axis=0), y - y.mean()) if self.fit_intercept else (X, y)

    def _path(self, X: Floats, y: Floats, lams: list[float], workers: int = 1) -> list[Result]:
        """A result for each λ."""
        X, y = self._centred(X, y)

        def solve(objective: Difference, point: PathPoint, initial: tuple[int, ...]) -> Result:
            if self.method == "lasso":
                return best_of_lasso_path(objective, X, y, point.most)
            return self._minimized(objective, point, initial, workers)

        points = [PathPoint(lam, self._most(X.shape[1])) for lam in lams]
        return solved_path(X, y, points, self.penalty, self.ridge, solve, exact=self.method == "exact")

    def _minimized(
        self, objective: Difference, point: PathPoint, initial: tuple[int, ...] = (), workers: int = 1
    ) -> Result:
        limits: dict[str, Any] = {"time_limit": self.time_limit, "gap": self.gap, "seed": self.random_state}
        return select_by(self.method, objective, initial, constraints=point.constraints, workers=workers, **limits)

    def _validated(self, X: Floats, y: Floats, lams: list[float]) -> float:
        """The λ of least squared error over folds."""
        folds = KFold(min(as_count(self.cv, "cv", least=2), len(y)), shuffle=True, random_state=0)
        jobs = (delayed(self._fold_errors)(X, y, lams, train, test) for train, test in folds.split(X))
        errors = np.sum(Parallel(self.n_jobs)(jobs), axis=0)
        return lams[int(np.argmin(errors))]

    def _fold_errors(self, X: Floats, y: Floats, lams: list[float], train: Ints, test: Ints) -> Floats:
        """The squared error of each λ on a fold."""
        errors = np.zeros(len(lams))
        for k, result in enumerate(self._path(X[train], y[train], lams)):
            support = mask_of(result, X.shape[1])
            coef, intercept = ridge_coefficients(X[train], y[train], support, self.ridge, self.fit_intercept)
            errors[k] = ((y[test] - X[test] @ coef - intercept) ** 2).sum()
        return errors

    def _get_support_mask(self) -> Masks:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        """y is needed, and for a class words are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = self.task == "classification"
        tags.target_tags.required = True
        if self.task == "logistic":
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def is_largest(lam: object) -> bool:
    """Whether a weight is the word for the largest one that matters."""
    return isinstance(lam, str) and lam == "max"


def weights_of(lam: float | Sequence[float] | str) -> list[float]:
    """The weights of the penalty to choose among."""
    weights = [as_number(weight, "lam") for weight in np.atleast_1d(np.asarray(lam, dtype=object))]
    if not weights or min(weights) < 0:
        raise ValueError(f"lam must be a number at least 0, or several, got {lam!r}")
    return weights


def quantile_codes(X: Any, bins: int) -> np.ndarray:
    """Columns as codes: distinct values if there are at most ``bins``, otherwise quantiles."""
    codes = np.empty(X.shape, dtype=np.int64)
    for j in range(X.shape[1]):
        codes[:, j] = as_codes(X[:, j], f"column {j} of X", shape=(None,))
        if codes[:, j].max() >= bins and np.issubdtype(X.dtype, np.number):
            edges = np.unique(np.quantile(X[:, j], np.arange(1, bins) / bins))
            codes[:, j] = np.searchsorted(edges, X[:, j], side="right")
    return codes
