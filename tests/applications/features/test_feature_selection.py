"""Recipes, the scikit-learn selector, and bad data."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dsprog as ds
from dsprog.applications import feature_path, feature_selection_objective, information_selection_objective
from dsprog.applications.features.selection_methods import supermodular_reading

pytest.importorskip("sklearn")
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsprog.applications import SubmodularFeatureSelector

METHODS = ("exact", "prism", "ssp", "greedy", "lasso")


def sparse_data(seed=0, n=60, p=15, k=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    w = np.zeros(p)
    w[rng.choice(p, k, replace=False)] = rng.normal(size=k)
    return X, X @ w + 0.3 * rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([SubmodularFeatureSelector(), SubmodularFeatureSelector(method="greedy")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("penalty", ["nuclear", "frobenius", "cardinality"])
def test_objective_is_its_formula(penalty):
    X, y = sparse_data(n=20, p=5)
    objective = feature_selection_objective(X, y, 0.1, penalty, ridge=0.2)
    S = [1, 3]
    A = X[:, S]
    w = np.linalg.solve(A.T @ A / 20 + 0.2 * np.eye(2), A.T @ y / 20)
    loss = ((y - A @ w) ** 2).sum() / 40 + 0.1 * w @ w
    size = {"nuclear": np.linalg.norm(A, "nuc"), "frobenius": np.linalg.norm(A), "cardinality": 2.0}[penalty]
    assert objective(S) == pytest.approx(loss + 0.1 * size)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lam", [0.003, 0.02])
def test_exact_is_never_worse(seed, lam, clock):
    clock.tick = 0.01  # of the time that PRISM, which does not end by itself, is given
    X, y = sparse_data(seed)
    values = {}
    for method in METHODS:
        limit = 1.0 if method == "prism" else None
        selector = SubmodularFeatureSelector(lam, method=method, time_limit=limit, random_state=0).fit(X, y)
        values[method] = selector.objective_
        assert selector.result_.certified == (method == "exact")
        assert (selector.coef_ != 0).sum() <= selector.support_.sum()
    assert values["exact"] <= min(values.values()) + 1e-9


def test_prism_says_why_it_is_not_certified():
    X, y = sparse_data(p=5)
    objective = feature_selection_objective(X, y, 0.02)
    result = ds.minimize(supermodular_reading(objective), ds.Prismatic(subdivision="optimum"), node_limit=2000)
    assert not result.certified
    assert "not both known to be submodular" in result.message or result.status == "node_limit"
    assert result.lower_bound == -np.inf


def test_pipeline_and_grid_search():
    X, y = sparse_data()
    model = make_pipeline(StandardScaler(), SubmodularFeatureSelector(), LinearRegression())
    search = GridSearchCV(model, {"submodularfeatureselector__lam": [0.005, 0.1]}, cv=3).fit(X, y)
    assert search.best_params_["submodularfeatureselector__lam"] == 0.005
    assert search.score(X, y) > 0.8


def test_several_weights_are_cross_validated():
    X, y = sparse_data()
    selector = SubmodularFeatureSelector([0.5, 0.01, 0.002], cv=3).fit(X, y)
    assert selector.lam_ in (0.01, 0.002)
    assert selector.transform(X).shape[1] == selector.support_.sum()


def test_a_path_equals_its_points():
    X, y = sparse_data()
    lams = [0.01, 0.1, 0.03]
    path = feature_path(X, y, lams)
    alone = [ds.minimize(feature_selection_objective(X, y, lam)) for lam in lams]
    assert [r.value for r in path] == pytest.approx([r.value for r in alone])
    assert all(r.certified for r in path)


@pytest.mark.parametrize("method", ["exact", "ssp", "greedy"])
def test_classification_finds_the_parity(method):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = np.where(X[:, 1] ^ X[:, 4], "odd", "even")
    selector = SubmodularFeatureSelector(0.05, task="classification", method=method).fit(X, y)
    if method == "exact":
        assert selector.get_support(indices=True).tolist() == [1, 4]
        assert selector.result_.certified
        assert make_pipeline(selector, DecisionTreeClassifier()).fit(X, y).score(X, y) == 1.0
    objective = information_selection_objective(X, y, 0.05)
    assert selector.objective_ == pytest.approx(objective(np.flatnonzero(selector.support_)))


def test_numbers_are_cut_into_quantiles():
    X = np.random.default_rng(0).normal(size=(300, 4))
    selector = SubmodularFeatureSelector(0.05, task="classification").fit(X, X[:, 2] > 0.1)
    assert selector.support_[2]


@pytest.mark.parametrize("kind", ["objects", "table", "categories"])
def test_numbers_beside_words_are_cut_into_quantiles(kind):
    X = np.random.default_rng(0).normal(size=(300, 3))
    words = np.random.default_rng(1).choice(["red", "green", "blue"], 300)
    table = pd.DataFrame(X, columns=list("abc")).assign(word=words)
    if kind == "categories":
        table["word"] = table["word"].astype("category")
    mixed = table.to_numpy(dtype=object) if kind == "objects" else table
    y = X[:, 2] > 0.1
    numeric = SubmodularFeatureSelector(0.05, task="classification").fit(X, y)
    selector = SubmodularFeatureSelector(0.05, task="classification").fit(mixed, y)
    assert selector.get_support(indices=True).tolist() == [2]
    assert selector.objective_ == pytest.approx(numeric.objective_)


# -- bad data -------------------------------------------------------------------------------------------------------


def test_constant_and_duplicate_columns():
    X, y = sparse_data(p=8)
    X = np.hstack([X, X[:, :2], np.full((60, 1), 3.0)])
    selector = SubmodularFeatureSelector(0.01).fit(X, y)
    assert selector.result_.certified
    assert not selector.support_[-1]
    assert selector.objective_ == pytest.approx(SubmodularFeatureSelector(0.01).fit(X[:, :8], y).objective_)


def test_more_features_than_rows():
    X, y = sparse_data(n=25, p=30)
    with pytest.raises(ValueError, match="pass ridge > 0"):
        SubmodularFeatureSelector(0.02).fit(X, y)
    with pytest.raises(ValueError, match="pass ridge > 0"):
        feature_path(X, y, [0.02])
    assert SubmodularFeatureSelector(n_features_to_select=3).fit(X, y).result_.certified
    assert SubmodularFeatureSelector(0.05, ridge=0.5).fit(X, y).result_.certified
    assert not SubmodularFeatureSelector(0.02, method="greedy").fit(X, y).result_.certified


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan, 1.0], [1.0, 2.0], [2.0, 1.0]], [1, 2, 3], "NaN"),
        ([["a", "b"], ["c", "d"]], [1, 2], "could not convert"),
        ([[1.0, 2.0]], [1.0], "minimum of 2"),
        ([[1.0], [2.0]], [1.0, 2.0, 3.0], "inconsistent"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        SubmodularFeatureSelector().fit(X, y)


@pytest.mark.parametrize("options", [{"method": "magic"}, {"task": "magic"}, {"penalty": "magic"}, {"lam": -1.0}])
def test_bad_options(options):
    X, y = sparse_data()
    with pytest.raises(ValueError, match=r"magic|at least 0"):
        SubmodularFeatureSelector(**options).fit(X, y)


def test_importing_dsprog_does_not_import_scikit_learn():
    code = "import sys, dsprog, dsprog.applications; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
