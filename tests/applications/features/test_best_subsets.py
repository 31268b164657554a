"""Numbers of features, paths over them, the largest weight, cross-validation, groups and trees."""

import itertools
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dsprog as ds
from dsprog.applications import feature_path, feature_selection_objective, group_penalty, lam_max, tree_penalty
from dsprog.functions.table import all_masks

pytest.importorskip("sklearn")
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsprog.applications import SubmodularFeatureSelector, SubmodularFeatureSelectorCV
from tests.applications.features.test_feature_selection import sparse_data


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [
        SubmodularFeatureSelector(n_features_to_select=1),
        SubmodularFeatureSelectorCV([0.1, 0.01], penalty="cardinality"),
        SubmodularFeatureSelectorCV(sizes=[0, 1]),
        SubmodularFeatureSelectorCV(task="logistic", cv=2),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("k", [0, 1, 3, 8])
@pytest.mark.parametrize("lam", [None, 0.0, 0.05])
def test_at_most_k_features(k, lam):
    X, y = sparse_data(p=8)
    selector = SubmodularFeatureSelector(lam, n_features_to_select=k).fit(X, y)
    centred = feature_selection_objective(X - X.mean(axis=0), y - y.mean(), selector.lam_)
    masks = all_masks(8)
    best = centred.values(masks[masks.sum(axis=1) <= k]).min()
    assert selector.support_.sum() <= k
    assert selector.result_.certified
    assert selector.objective_ == pytest.approx(best)
    assert selector.lam_ == (0.0 if lam is None else lam)


@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_other_methods_keep_the_budget(method):
    X, y = sparse_data()
    assert SubmodularFeatureSelector(n_features_to_select=3, method=method).fit(X, y).support_.sum() <= 3


def test_a_class_with_a_budget():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = X[:, 1] ^ X[:, 4]
    selector = SubmodularFeatureSelector(n_features_to_select=2, task="classification").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1, 4]


def test_degenerate_data():
    X, y = sparse_data(p=6)
    for data, target in (
        (np.zeros_like(X), y),
        (np.hstack([X, X]), y),
        (X, np.full(60, 3.0)),
        (X[:4], y[:4]),
        (np.hstack([X[:5], X[5:10]]), y[:5]),
    ):
        selector = SubmodularFeatureSelector(n_features_to_select=2).fit(data, target)
        assert selector.result_.certified
        brute = ds.minimize(
            feature_selection_objective(data - data.mean(axis=0), target - target.mean(), 0.0),
            ds.BruteForce(),
            constraints=[ds.Cardinality(max=2)],
        )
        assert selector.objective_ == pytest.approx(brute.value, abs=1e-9)


def test_sizes_equal_their_points():
    X, y = sparse_data()
    sizes = [3, 0, 1, 5]
    path = feature_path(X, y, sizes=sizes)
    for k, result in zip(sizes, path):
        alone = ds.minimize(ds.LeastSquares(X, y), constraints=[ds.Cardinality(max=k)])
        assert result.certified
        assert result.value == pytest.approx(alone.value)
    priced = feature_path(X, y, 0.01, sizes=[4])[0]
    assert priced.value == pytest.approx(
        ds.minimize(feature_selection_objective(X, y, 0.01), constraints=[ds.Cardinality(max=4)]).value
    )


@pytest.mark.parametrize("penalty", ["nuclear", "cardinality"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_the_word_max_selects_nothing_and_a_little_less_something(penalty, ridge):
    for seed, most in itertools.product(range(4), (None, 2)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 8))
        y = 2 * X[:, 2] + X[:, 5] + rng.normal(size=40)
        options = {"penalty": penalty, "ridge": ridge, "n_features_to_select": most}
        largest = SubmodularFeatureSelector("max", **options).fit(X, y)
        assert not largest.support_.any()
        assert SubmodularFeatureSelector(0.999 * largest.lam_, **options).fit(X, y).support_.any()
        assert ds.minimize(feature_selection_objective(X, y, "max", penalty, ridge)).S == ()


@pytest.mark.parametrize("penalty", ["nuclear", "frobenius", "cardinality", tree_penalty([-1, 0, 0, 1, 1, 2, 2, -1])])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_lam_max_is_the_largest_ratio(penalty, ridge):
    for seed in range(3):
        X, y = sparse_data(seed, p=8)
        masks = all_masks(8)[1:]
        loss = feature_selection_objective(X, y, 0.0, penalty, ridge)
        both = feature_selection_objective(X, y, 1.0, penalty, ridge)
        price = both.values(masks) - loss.values(masks)
        ratios = (loss([]) - loss.values(masks)) / price
        assert lam_max(X, y, penalty, ridge) == pytest.approx(ratios.max())


def test_cross_validation_finds_the_size():
    X, y = sparse_data(n=120, k=3)
    selector = SubmodularFeatureSelectorCV(sizes=range(1, 9), cv=4).fit(X, y)
    assert selector.size_ == selector.support_.sum()
    table = pd.DataFrame(selector.cv_results_)
    assert table.columns[:2].tolist() == ["sizes", "split0_test_score"]
    splits = table.filter(like="split").to_numpy()
    assert splits.shape == (8, 4)
    assert splits.mean(axis=1) == pytest.approx(table["mean_test_score"])
    assert (table["certified"] == 1.0).all()
    assert selector.best_score_ == selector.cv_results_["mean_test_score"].max()
    assert selector.result_.certified


def test_cross_validation_over_weights_is_shown(capsys):
    X, y = sparse_data()
    selector = SubmodularFeatureSelectorCV(cv=3, verbose=1, scoring="r2").fit(X, y)
    assert len(selector.cv_results_["lams"]) == 5
    assert selector.best_score_ > 0.5
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "the largest weight that matters",
        *(f"fold {k} of 3" for k in (1, 2, 3)),
        "all rows",
    ]
    assert all(re.search(r"best λ = .* \(score .*\), .* s, about .* s left$", line) for line in lines[1:-1])
    model = make_pipeline(StandardScaler(), SubmodularFeatureSelectorCV([0.1, 0.01])).fit(X, y)
    assert model[-1].lam_ in (0.1, 0.01)


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc", lambda model, X, y: model.score(X, y)])
def test_cross_validation_for_two_classes(scoring):
    X, y = sparse_data(n=90, p=6, k=2)
    labels = np.where(y > 0, "yes", "no")
    options = {"cv": 3, "scoring": scoring, "task": "logistic"}
    selector = SubmodularFeatureSelectorCV(sizes=[0, 2, 4], **options).fit(X + 5.0, labels)
    splits = StratifiedKFold(3).split(X, labels)
    for k, (train, test) in enumerate(splits):
        alone = SubmodularFeatureSelector(task="logistic", n_features_to_select=2).fit(X[train] + 5.0, labels[train])
        margin = (X[test] + 5.0) @ alone.coef_ + alone.intercept_
        expected = {
            None: -np.logaddexp(0.0, np.where(labels[test] == "yes", -margin, margin)).mean(),
            "roc_auc": roc_auc_score(labels[test], margin),
        }.get(scoring, (np.where(margin > 0, "yes", "no") == labels[test]).mean())
        assert selector.cv_results_[f"split{k}_test_score"][1] == pytest.approx(expected)
    assert selector.size_ >= 2
    assert selector.result_.certified
    assert selector.classes_.tolist() == ["no", "yes"]
    assert len(SubmodularFeatureSelectorCV(**options).fit(X, labels).cv_results_["lams"]) == 5


def test_folds_keep_groups_of_rows_together():
    X, y = sparse_data(n=40, p=4, k=2)
    groups = np.repeat(range(4), 10)
    selector = SubmodularFeatureSelectorCV(sizes=[2], cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert "split3_test_score" in selector.cv_results_
    assert "split4_test_score" not in selector.cv_results_


def test_sets_at_a_time_limit_are_told():
    X, y = sparse_data(n=60, p=30)
    with pytest.warns(ConvergenceWarning, match="2 of 2 sets on folds were not proved in time_limit = 0"):
        selector = SubmodularFeatureSelectorCV(sizes=[4], cv=2, time_limit=0).fit(X, y)
    assert selector.cv_results_["certified"].tolist() == [0.0]


def test_one_number_of_any_kind():
    X, y = sparse_data(p=6)
    (expected,) = feature_path(X, y, [0.1])
    for lam in (0.1, np.float64(0.1), np.array(0.1), np.array([0.1]), iter([0.1])):
        assert [result.value for result in feature_path(X, y, lam)] == [expected.value]
    assert feature_path(X, y, np.float32(0.1))[0].value == pytest.approx(expected.value)
    for size in (3, np.int64(3), np.array(3), range(3, 4)):
        assert [len(result.S) for result in feature_path(X, y, sizes=size)] == [3]
    assert SubmodularFeatureSelectorCV(np.float32(0.1), cv=2).fit(X, y).lam_ == pytest.approx(0.1)
    assert SubmodularFeatureSelectorCV(sizes=3, cv=2).fit(X, y).size_ == 3


@pytest.mark.parametrize("options", [{"lams": [0.1, 0.02]}, {"sizes": [1, 3]}])
def test_paths_and_largest_weights_with_an_intercept(options):
    X, y = sparse_data(p=6)
    centred = X - X.mean(axis=0), y - y.mean()
    path = feature_path(X + 5.0, y + 2.0, **options, fit_intercept=True)
    assert [r.value for r in path] == pytest.approx([r.value for r in feature_path(*centred, **options)])
    assert lam_max(X + 5.0, y + 2.0, fit_intercept=True) == pytest.approx(lam_max(*centred))
    assert SubmodularFeatureSelector("max").fit(X, y).lam_ == pytest.approx(lam_max(*centred))


def test_groups_are_paid_for_once():
    groups, weights = [[0, 1, 2], [2, 3], [4]], [1.0, 0.5, 2.0]
    F = group_penalty(groups, weights, n=6)
    for mask, value in zip(all_masks(6), F.values(all_masks(6))):
        assert value == sum(w for g, w in zip(groups, weights) if mask[g].any())
    assert group_penalty(groups, 2.0)([0, 4]) == 4.0
    assert tree_penalty([-1, 0], np.float32(3))([1]) == 6.0
    assert group_penalty(np.array([[0, 1], [2, 3]]))([0, 1, 2]) == 2.0


def test_trees_are_closed_upwards():
    parents = [-1, 0, 0, 1, 3, -1]
    F = tree_penalty(parents, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    for mask, value in zip(all_masks(6), F.values(all_masks(6))):
        opened = set()
        for j in np.flatnonzero(mask):
            while j >= 0:
                opened.add(int(j))
                j = parents[j]
        assert value == sum(2.0**j for j in opened)


X, y = sparse_data(p=4)
REFUSALS = {
    "too many": (lambda: SubmodularFeatureSelector(n_features_to_select=5).fit(X, y), "number of features, 4, got 5"),
    "half a feature": (lambda: SubmodularFeatureSelector(n_features_to_select=0.5).fit(X, y), "must be a whole number"),
    "too many in a path": (lambda: feature_path(X, y, sizes=[9]), "sizes must be at most the number of features, 4"),
    "neither": (lambda: feature_path(X, y), "pass lams, weights of the penalty, or sizes"),
    "nothing to choose": (lambda: SubmodularFeatureSelectorCV(sizes=[]).fit(X, y), "must not be empty"),
    "a free feature": (lambda: lam_max(X, y, group_penalty([[0]], n=4)), "feature 1 costs nothing: give it"),
    "a constant column": (
        lambda: lam_max(np.insert(X, 2, 0.1, axis=1), y, fit_intercept=True),
        "column 2 of X is constant: remove it",
    ),
    "most": (lambda: lam_max(X, y, most=99), "most must be at most the number of features, 4, got 99"),
    "a word in a path": (lambda: feature_path(X, y, "max"), "lams must be one number or several, such as fractions"),
    "a word for sizes": (lambda: feature_path(X, y, sizes="max"), "or several, such as [1, 2, 3], got 'max'"),
    "several weights for a class": (
        lambda: SubmodularFeatureSelector([0.1, 0.2], task="classification").fit(X, y > 0),
        "lam must be one number for classification",
    ),
    "a penalty for a class": (
        lambda: SubmodularFeatureSelector(penalty="l1", task="classification").fit(X, y > 0),
        "penalty must be nuclear, frobenius, cardinality or a SetFunction, got 'l1'",
    ),
    "no number": (
        lambda: SubmodularFeatureSelectorCV(sizes=[1], scoring=lambda *_: np.nan).fit(X, y),
        "scoring must give a number on every fold, got nan",
    ),
    "a task": (
        lambda: SubmodularFeatureSelectorCV(sizes=[1], task="classification").fit(X, y),
        "task must be one of regression, logistic, got 'classification'",
    ),
    "one row of a class": (
        lambda: SubmodularFeatureSelectorCV(sizes=[1], task="logistic").fit(X, np.arange(60) > 58),
        "y must have at least two rows of each class for folds, got 1",
    ),
    "a word": (lambda: SubmodularFeatureSelector("most").fit(X, y), "lam must be a number, got 'most'"),
    "a word for two classes": (
        lambda: SubmodularFeatureSelector("max", task="logistic").fit(X, y > 0),
        "one number for",
    ),
    "a word in an objective": (lambda: feature_selection_objective(X, y, "most"), "lam must be a number, got 'most'"),
    "a circle": (lambda: tree_penalty([1, 0]), "is its own ancestor"),
    "no such parent": (lambda: tree_penalty([7, 0]), "parents must be features 0 to 1, or -1, got 7"),
    "labels": (lambda: group_penalty([0, 0, 1, 1]), "[[0, 1], [2, 3]], got 0 as a group: of labels, one for each"),
    "an array of labels": (lambda: group_penalty(np.array([0, 0, 1])), "got 0 as a group: of labels"),
    "groups by name": (lambda: group_penalty({"a": [0, 1]}), "[[0, 1], [2, 3]], got a dict"),
    "a word for groups": (lambda: group_penalty("ab"), "lists of features such as [[0, 1], [2, 3]], got 'ab'"),
    "words for groups": (lambda: group_penalty(["ab"]), "got 'ab' as a group"),
    "words in a group": (lambda: group_penalty([["a"]]), "a feature in groups must be a whole number, got 'a'"),
    "no groups": (lambda: group_penalty(None), "lists of features such as [[0, 1], [2, 3]], got None"),
    "a graph for groups": (lambda: group_penalty(nx.Graph([(0, 1)])), "[[0, 1], [2, 3]], got a Graph"),
    "a word for weights": (lambda: group_penalty([[0]], "x"), "weights must be a number, got 'x'"),
    "parents by name": (
        lambda: tree_penalty({0: -1}),
        "parent of each feature, such as [-1, 0, 0], got a dict",
    ),
    "a word for parents": (lambda: tree_penalty("ab"), "such as [-1, 0, 0], got 'ab'"),
    "words for parents": (lambda: tree_penalty(["a"]), "parents must be an array of numbers, got list"),
    "no parents": (lambda: tree_penalty(None), "such as [-1, 0, 0], got None"),
    "a graph for parents": (lambda: tree_penalty(nx.DiGraph([(0, 1)])), "such as [-1, 0, 0], got a DiGraph"),
    "no such feature": (lambda: group_penalty([[5]], n=3), "groups must be of the 3 features, got feature 5"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_one_clear_sentence(case):
    action, sentence = REFUSALS[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        action()
    assert sentence in str(caught.value)


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [
        SubmodularFeatureSelector(task="logistic"),
        SubmodularFeatureSelector(0.1, task="logistic", penalty="cardinality", ridge=0.1),
    ]
)
def test_scikit_learn_conventions_for_two_classes(estimator, check):
    check(estimator)


def test_logistic_selector():
    X, y = sparse_data(k=2)
    labels = np.where(y > 0, "yes", "no")
    selector = SubmodularFeatureSelector(task="logistic", ridge=0.01, n_features_to_select=2).fit(X, labels)
    assert selector.result_.certified
    assert selector.support_.sum() == 2
    assert (np.where(X @ selector.coef_ + selector.intercept_ > 0, "yes", "no") == labels).mean() > 0.85
    for other, sentence in (
        ({"ridge": 0.0}, "ridge must be positive"),
        ({"method": "lasso"}, "must be 'exact' or 'greedy'"),
        ({"lam": [0.1, 0.2]}, "one number for logistic loss"),
    ):
        with pytest.raises(ValueError, match=sentence):
            SubmodularFeatureSelector(**{"task": "logistic", "ridge": 0.1, **other}).fit(X, labels)


@pytest.mark.parametrize("options", [{"task": "logistic", "ridge": 0.05}, {"task": "logistic"}, {"ridge": 0.1}])
def test_means_of_columns_change_nothing(options):
    X, y = sparse_data(p=8)
    target = np.where(y > 0.2, 1.0, -1.0)
    here, there = (SubmodularFeatureSelector(0.01, **options).fit(X + shift, target) for shift in (0.0, 5.0))
    assert here.support_.tolist() == there.support_.tolist()
    assert here.support_.any()
    assert (X + 5.0) @ there.coef_ + there.intercept_ == pytest.approx(X @ here.coef_ + here.intercept_)
    without = SubmodularFeatureSelector(0.01, fit_intercept=False, **options).fit(X, target)
    assert without.intercept_ == 0.0


def test_logistic_model_is_the_best_on_its_set():
    X, y = sparse_data(p=4, k=2)
    X, labels = X + 3.0, np.where(y > 0, 1.0, -1.0)
    selector = SubmodularFeatureSelector(0.0, task="logistic", ridge=0.05, penalty="cardinality").fit(X, labels)
    centred = X - X.mean(axis=0)

    def loss(change):
        w, c = selector.coef_ + change[:-1], selector.intercept_ + selector.coef_ @ X.mean(axis=0) + change[-1]
        return np.logaddexp(0.0, -labels * (centred @ w + c)).mean() + 0.025 * (w @ w + c * c)

    assert selector.objective_ == pytest.approx(loss(np.zeros(5)))
    for change in 0.1 * np.vstack([np.eye(5), -np.eye(5)]):
        assert loss(change) > selector.objective_
