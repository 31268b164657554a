"""The feature selector keeps scikit-learn's promises for a class, too, and says what is wrong with its arguments."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsprog.applications import SubmodularFeatureSelector, SubmodularFeatureSelectorCV, TANClassifier
from tests.helpers.checks import wrong_checks


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([SubmodularFeatureSelector(task="classification")], expected_failed_checks=wrong_checks)
def test_estimator(estimator, check):
    check(estimator)


X = np.random.default_rng(0).normal(size=(30, 4))
y = X[:, 0]
NAMED = pd.DataFrame(X, columns=list("abcd"))
REFUSALS = {
    "lam": (lambda: SubmodularFeatureSelector(np.nan).fit(X, y), "lam must be finite, got nan"),
    "lam for a class": (
        lambda: SubmodularFeatureSelector(np.nan, task="classification").fit(X, y > 0),
        "lam must be finite, got nan",
    ),
    "negative lam": (lambda: SubmodularFeatureSelector([0.1, -1]).fit(X, y), "lam must be a number at least 0"),
    "no lam": (lambda: SubmodularFeatureSelector([]).fit(X, y), "lam must be a number at least 0, or several"),
    "lam of words": (lambda: SubmodularFeatureSelector("x").fit(X, y), "lam must be a number, got 'x'"),
    "y of words": (
        lambda: SubmodularFeatureSelector().fit(X, np.array(["a", "b"] * 15)),
        "y must be an array of numbers, got an array of <U1",
    ),
    "bins": (lambda: SubmodularFeatureSelector(bins=0).fit(X, y), "bins must be at least 2, got 0"),
    "random state": (lambda: SubmodularFeatureSelector(random_state=-1).fit(X, y), "random_state must be at least 0"),
    "folds": (lambda: SubmodularFeatureSelector([0.1, 0.2], cv=1).fit(X, y), "cv must be at least 2, got 1"),
    "time limit": (lambda: SubmodularFeatureSelector(time_limit=np.nan).fit(X, y), "time_limit must be a number"),
    "a truth value too few": (
        lambda: TANClassifier(categorical=[True] * 3).fit(X, y > 0),
        "one truth value for each of 4 columns, got shape (3,)",
    ),
    "a column too many": (
        lambda: TANClassifier(categorical=[4]).fit(X, y > 0),
        "categorical must be columns of X, such as 0, got 4",
    ),
    "a column of another name": (
        lambda: TANClassifier(categorical=["e"]).fit(NAMED, y > 0),
        "categorical must be columns of X, such as 'a', got 'e'",
    ),
    "smoothing": (lambda: TANClassifier(smoothing="x").fit(X, y > 0), "smoothing must be a number, got 'x'"),
}


@pytest.mark.parametrize(
    "selector",
    [
        SubmodularFeatureSelector(n_features_to_select=1),
        SubmodularFeatureSelector(0.1, task="classification"),
        SubmodularFeatureSelectorCV(sizes=[1], cv=2),
    ],
    ids=["regression", "classification", "folds"],
)
def test_names_of_columns_come_back(selector):
    target = y > 0 if selector.get_params().get("task") == "classification" else y
    assert "a" in selector.fit(NAMED, target).result_.labels
    assert selector.result_.labels == tuple(selector.get_feature_names_out())
    assert 0 in selector.fit(X, target).result_.labels


@pytest.mark.parametrize("case", REFUSALS)
def test_one_clear_sentence(case):
    action, sentence = REFUSALS[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        action()
    assert sentence in str(caught.value)
