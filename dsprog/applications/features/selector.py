"""A scikit-learn selector on top of the recipes of :mod:`dsprog.applications.features.recipes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.model_selection import KFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from dsprog.applications.features.arguments import as_size
from dsprog.applications.features.fitted_selector import FittedSelector
from dsprog.applications.features.largest_weight import largest_weight
from dsprog.applications.features.linear_fit import best_of_lasso_path, mask_of
from dsprog.applications.features.linear_problem import LinearProblem
from dsprog.applications.features.paths import PathPoint, solved_path, uninterrupted
from dsprog.applications.features.penalties import check_penalty, penalty_function
from dsprog.applications.features.quantiles import quantile_codes
from dsprog.applications.features.recipes import information_selection_objective
from dsprog.applications.features.selection_methods import SELECTION_SOLVERS, select_by
from dsprog.core.algebra import Difference
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, as_count, as_number, as_seed
from dsprog.run.result import Result

METHODS = (*SELECTION_SOLVERS, "lasso")
TASKS = ("regression", "classification", "logistic")
LAM = 0.01  # the weight of the penalty if none is given


class SubmodularFeatureSelector(FittedSelector):
    """Select features by min over S of loss(S) + lam · penalty(S), with a certificate where the method gives one.

    Parameters
    ----------
    lam : float, "max", sequence of float, or None
        Weight of the penalty, on the scale of the loss: at most 1/2 for least squares with y of variance 1. Under
        "cardinality" a feature costs 1, so that no weight above 1/2 selects any. Under "nuclear" and "frobenius" a
        feature alone costs the norm of its column, about √rows if that has variance 1: at 0.01 and a thousand rows it
        has to explain 63 % of y, and from 2,500 rows on nothing is selected. Fractions of :func:`lam_max`, with
        ``fit_intercept=True`` as here, fit any scale; a tenth of it is a place to begin. "max" is that weight itself,
        from which on nothing is selected (regression only). Of several, the one of least cross-validated squared error
        is taken (regression only). None is 0.01, or 0 where n_features_to_select is given.
    n_features_to_select : int or None
        The most features to select.
    penalty : {"nuclear", "frobenius", "cardinality"} or SetFunction
        On the features, for regression and logistic loss. For classification every feature costs ``lam``.
    method : {"exact", "prism", "ssp", "greedy", "lasso"}
        Only "exact" proves optimality for least squares. "lasso" takes the best support of the lasso path.
    task : {"regression", "classification", "logistic"}
        Least squares; mutual information with the class, for which numbers are cut into ``bins`` quantiles; or the
        logistic loss of two classes with a ridge, for the method "exact" or "greedy".
    ridge : float or None
        Adds (ridge/2) ‖w‖² to the loss; None is 0 for regression and 0.01 for logistic loss. For regression "exact"
        needs one if there are as many features as rows, or more, unless n_features_to_select is small. Classification
        has none.
    fit_intercept : bool
        Whether to centre X first, and y for regression. The logistic loss has an intercept c then, and the ridge is on
        c², too, which is harmless for centred columns only; ``intercept_`` is for X as it came.
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
        Coefficients of the fit to the selected features, 0 elsewhere (regression and logistic loss).
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

    def __init__(
        self,
        lam: float | Sequence[float] | str | None = None,
        *,
        n_features_to_select: int | None = None,
        penalty: str | SetFunction = "nuclear",
        method: str = "exact",
        task: str = "regression",
        ridge: float | None = None,
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
        check_penalty(self.penalty)
        as_count(self.bins, "bins", least=2)
        as_seed(self.random_state, "random_state")
        with threadpool_limits(limits=1):  # small matrices: threads of the linear algebra would wait for each other
            if self.task == "classification":
                self._fit_classification(X, y)
            else:
                self._fit_linear(X, y)
        return self

    def _weight(self) -> float | Sequence[float] | str:
        """The weight of the penalty, or several."""
        if self.lam is None:
            return LAM if self.n_features_to_select is None else 0.0
        return self.lam

    def _points(self, lams: list[float], features: int) -> list[PathPoint]:
        """Each weight with the most features to select, if that is limited."""
        k = self.n_features_to_select
        most = None if k is None else as_size(k, features, "n_features_to_select")
        return [PathPoint(lam, most) for lam in lams]

    def _fit_linear(self, X: Any, y: Any) -> None:
        weight = self._weight()
        lams = [] if is_largest(weight) else sorted(weights_of(weight), reverse=True)
        problem = self._linear_problem(X, y)
        if self.task == "logistic":
            self._check_logistic(len(lams))
        (point, *_) = self._points(lams or [0.0], problem.X.shape[1])
        if not lams:
            loss = problem.loss()
            lams = [largest_weight(loss, penalty_function(loss.X, self.penalty), self.time_limit, point.most)]
        self.lam_ = lams[0] if len(lams) == 1 else self._validated(problem, lams)
        path = self._path(problem, [lam for lam in lams if lam >= self.lam_], effective_n_jobs(self.n_jobs))
        self._keep((path if len(lams) == 1 else uninterrupted(path))[-1], problem)

    def _check_logistic(self, weights: int) -> None:
        """Refuse what least squares has and the logistic loss has not."""
        if self.method not in ("exact", "greedy"):
            raise ValueError(f"method must be 'exact' or 'greedy' for logistic loss, got {self.method!r}")
        if weights != 1:
            raise ValueError(
                "lam must be one number for logistic loss: use SubmodularFeatureSelectorCV to choose among several"
            )

    def _fit_classification(self, X: Any, y: Any) -> None:
        X, y = validate_data(self, X, y, dtype=None, ensure_min_samples=2)
        check_classification_targets(y)
        weight = self._weight()
        lams = [] if is_largest(weight) else weights_of(weight)
        if len(lams) != 1:
            raise ValueError("lam must be one number for classification: use GridSearchCV to choose among several")
        if self.method == "lasso":
            raise ValueError("method 'lasso' is for regression: use 'exact', 'prism', 'ssp' or 'greedy'")
        (self.lam_,) = lams
        objective = information_selection_objective(
            quantile_codes(X, self.bins), np.unique(y, return_inverse=True)[1], self.lam_
        )
        (point,) = self._points([self.lam_], X.shape[1])
        self._keep(self._minimized(objective, point, workers=effective_n_jobs(self.n_jobs)))

    def _path(self, problem: LinearProblem, lams: list[float], workers: int = 1) -> list[Result]:
        """A result for each λ."""
        loss = problem.loss()

        def solve(objective: Difference, point: PathPoint, initial: tuple[int, ...]) -> Result:
            if self.method == "lasso":
                return best_of_lasso_path(objective, loss.X, loss.y, point.most)
            return self._minimized(objective, point, initial, workers)

        penalty, points = penalty_function(loss.X, self.penalty), self._points(lams, loss.n)
        return solved_path(loss, penalty, points, solve, exact=self.method == "exact")

    def _minimized(
        self, objective: Difference, point: PathPoint, initial: tuple[int, ...] = (), workers: int = 1
    ) -> Result:
        limits: dict[str, Any] = {"time_limit": self.time_limit, "gap": self.gap, "seed": self.random_state}
        return select_by(self.method, objective, initial, constraints=point.constraints, workers=workers, **limits)

    def _validated(self, problem: LinearProblem, lams: list[float]) -> float:
        """The λ of least squared error over folds."""
        folds = KFold(min(as_count(self.cv, "cv", least=2), len(problem.y)), shuffle=True, random_state=0)
        jobs = (delayed(self._fold_errors)(problem, lams, train, test) for train, test in folds.split(problem.X))
        errors = np.sum(Parallel(self.n_jobs)(jobs), axis=0)
        return lams[int(np.argmin(errors))]

    def _fold_errors(self, problem: LinearProblem, lams: list[float], train: Ints, test: Ints) -> Floats:
        """The squared error of each λ on a fold."""
        errors, known, left = np.zeros(len(lams)), problem.rows(train), problem.rows(test)
        for k, result in enumerate(uninterrupted(self._path(known, lams))):
            coef, intercept = known.model(mask_of(result, problem.X.shape[1]))
            errors[k] = ((left.y - left.X @ coef - intercept) ** 2).sum()
        return errors

    def __sklearn_tags__(self) -> Any:
        """For a class words are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = self.task == "classification"
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
