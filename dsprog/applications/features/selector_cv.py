"""The weight of the penalty, or the number of features, chosen by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dsprog.applications.features.arguments import LAMS, SIZES, several
from dsprog.applications.features.fitted_selector import FittedSelector
from dsprog.applications.features.fold_scores import folds_of, score_of
from dsprog.applications.features.largest_weight import largest_weight
from dsprog.applications.features.linear_fit import mask_of
from dsprog.applications.features.linear_problem import RIDGES, LinearProblem
from dsprog.applications.features.paths import exact_path, path_points, uninterrupted
from dsprog.applications.features.penalties import penalty_function
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks, as_count
from dsprog.run.result import Result

FRACTIONS = (0.5, 0.2, 0.1, 0.05, 0.02)  # of the largest weight that matters, where neither lams nor sizes are given


class SubmodularFeatureSelectorCV(FittedSelector):
    """A linear model with a submodular penalty, its weight or the number of features chosen by their score on folds.

    Every set of the path is the exact one of its weight or size, on every fold and at the end on all rows, but where a
    search comes to its time limit: the best set so far stands for it then, ``certified`` in ``cv_results_`` says how
    often, and there is a warning.

    Parameters
    ----------
    lams : sequence of float, optional
        Weights of the penalty; some fractions of :func:`lam_max` if ``sizes`` are not given either. With sizes, one.
    sizes : sequence of int, optional
        Numbers of features to choose among.
    task : {"regression", "logistic"}
        Least squares, or the logistic loss of two classes, for which fractions are of the largest weight of that loss.
    penalty, ridge, fit_intercept, gap
        As in :class:`SubmodularFeatureSelector`.
    cv : int or splitter of scikit-learn
        Folds; rows are not shuffled. A number means folds with as many rows of each class for the logistic loss.
    scoring : str, callable or None
        A score of scikit-learn's for a linear model, the larger the better; None is "neg_mean_squared_error", for the
        logistic loss "neg_log_loss".
    time_limit : float or None
        Seconds for each search: of a weight or size on a fold, and of the steps to the largest weight.
    verbose : int
        Whether to print a line for each fold: its best choice, the seconds it took, and about how many are left.

    Attributes
    ----------
    support_, coef_, intercept_, result_, objective_, lower_bound_, gap_
        As in :class:`SubmodularFeatureSelector`.
    best_index_, best_score_, lam_, size_
        Which of the weights or sizes was taken, its mean score, and what it is.
    cv_results_ : dict
        ``lams`` or ``sizes``, ``split0_test_score`` and so on, ``mean_test_score``, ``std_test_score``, and
        ``certified``, the share of folds on which the set was proved: the columns of a ``pandas.DataFrame``.

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
        task: str = "regression",
        penalty: str | SetFunction = "nuclear",
        ridge: float | None = None,
        fit_intercept: bool = True,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.sizes = sizes
        self.task = task
        self.penalty = penalty
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.time_limit = time_limit
        self.gap = gap
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None) -> SubmodularFeatureSelectorCV:
        """Choose a weight or a size, then features; ``groups`` of rows are for splitters that keep them together."""
        as_count(int(self.verbose), "verbose")
        if self.task not in RIDGES:
            raise ValueError(f"task must be one of {', '.join(RIDGES)}, got {self.task!r}")
        problem = self._linear_problem(X, y)
        with threadpool_limits(limits=1):  # small matrices: threads of the linear algebra would wait for each other
            choices = self._choices(problem)
            scores, proved = self._scored(problem, choices, groups)
            mean = scores.mean(axis=0)
            self.best_index_ = int(mean.argmax())
            self.best_score_, best = float(mean[self.best_index_]), choices[self.best_index_]
            self._say(f"all rows: {self._words(best)}")
            (result,) = self._path(problem, [best])
        self._keep(result, problem)
        (point,) = self._points([best], problem)
        self.lam_, self.size_ = point.lam, point.most
        splits = {f"split{fold}_test_score": row for fold, row in enumerate(scores)}
        statistics = {"mean_test_score": mean, "std_test_score": scores.std(axis=0), "certified": proved.mean(axis=0)}
        self.cv_results_ = {"lams" if self.sizes is None else "sizes": choices, **splits, **statistics}
        return self

    def _choices(self, problem: LinearProblem) -> list[Any]:
        """The sizes, or the weights."""
        if self.lams is None and self.sizes is None:
            self._say("the largest weight that matters: searching")
            loss = problem.loss()
            largest = largest_weight(loss, penalty_function(loss.X, self.penalty), self.time_limit, None)
            return [fraction * largest for fraction in FRACTIONS]
        choices = several(self.lams, "lams", LAMS) if self.sizes is None else several(self.sizes, "sizes", SIZES)
        if not choices:
            raise ValueError("lams or sizes must not be empty")
        return choices

    def _points(self, choices: list[Any], problem: LinearProblem) -> list[Any]:
        lams, sizes = (choices, None) if self.sizes is None else (self.lams, choices)
        return path_points(lams, sizes, problem.X.shape[1])

    def _path(self, problem: LinearProblem, choices: list[Any]) -> list[Result]:
        """A result for each choice."""
        loss, points = problem.loss(), self._points(choices, problem)
        limits: dict[str, Any] = {"time_limit": self.time_limit, "gap": self.gap}
        return uninterrupted(exact_path(loss, penalty_function(loss.X, self.penalty), points, **limits))

    def _scored(self, problem: LinearProblem, choices: list[Any], groups: Any) -> tuple[Floats, Masks]:
        """(folds, choices): the score of each on the rows left out, and whether its set was proved."""
        score = score_of(self.task, self.scoring, getattr(self, "classes_", None))
        folds = folds_of(self.cv, problem, groups)
        shape = len(folds), len(choices)
        scores, proved, began = np.empty(shape), np.empty(shape, dtype=bool), time.perf_counter()
        for fold, (train, test) in enumerate(folds):
            started, known, left = time.perf_counter(), problem.rows(train), problem.rows(test)
            path = self._path(known, choices)
            proved[fold] = [result.certified for result in path]
            scores[fold] = [score(known, mask_of(result, problem.X.shape[1]), left) for result in path]
            now, best = time.perf_counter(), int(scores[fold].argmax())
            self._say(
                f"fold {fold + 1} of {len(folds)}: best {self._words(choices[best])} (score {scores[fold, best]:.4g}), "
                f"{now - started:.1f} s, about {(now - began) / (fold + 1) * (len(folds) - fold - 1):.0f} s left"
            )
        if not proved.all():
            warnings.warn(self._unproved(proved), ConvergenceWarning, stacklevel=3)
        return scores, proved

    def _unproved(self, proved: Masks) -> str:
        """What is to be said of sets at a time limit."""
        return (
            f"{(~proved).sum()} of {proved.size} sets on folds were not proved in time_limit = {self.time_limit} "
            "seconds, so that scores are of the best ones found: raise it, or take larger lams or smaller sizes"
        )

    def _words(self, choice: Any) -> str:
        """A choice as progress shows it."""
        return f"λ = {choice:.3g}" if self.sizes is None else f"k = {choice}"

    def _say(self, line: str) -> None:
        """A line of progress, if it is wanted."""
        if self.verbose:
            print(line, flush=True)
