"""Logistic loss with a penalty or a budget: values against scikit-learn's, bounds and optima against brute force."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications import logistic_selection_objective, tree_penalty
from dsprog.exact.regression.logistic_relaxation import LogisticModel
from dsprog.functions.table import all_masks
from tests.helpers.cutoffs import check_that_no_set_below_the_cutoff_is_lost

PENALTIES = {
    "cardinality": lambda X: "cardinality",
    "nuclear": lambda X: "nuclear",
    "concave": lambda X: ds.CardinalityConcave(X.shape[1], "sqrt"),
    "tree": lambda X: tree_penalty([(j - 1) // 2 if j else -1 for j in range(X.shape[1])]),
}


def classes(seed, rows, p, degenerate=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p)) @ np.linalg.cholesky(0.6 * np.eye(p) + 0.4)
    y = np.where(X @ rng.normal(size=p) + rng.normal(size=rows) > 0.3, 1.0, -1.0)
    if degenerate:
        X[:, -1], X[:, -2] = X[:, 0], 0.0
        y[:] = 1.0
    return X, y


def test_values_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = classes(0, 50, 4)
    f = ds.LogisticLoss(X, y, 0.05)
    model = linear_model.LogisticRegression(C=1 / (0.05 * 50), fit_intercept=False, tol=1e-12, max_iter=10_000)
    w = model.fit(X[:, [0, 2]], y).coef_[0]
    value = np.logaddexp(0, -y * (X[:, [0, 2]] @ w)).mean() + 0.025 * w @ w
    assert f([0, 2]) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("ridge", [0.003, 0.1])
@pytest.mark.parametrize("intercept", [True, False])
def test_brute_force_agrees(penalty, ridge, intercept):
    for seed, (lam, k) in enumerate(itertools.product((0.0, 0.01, 0.05), (None, 1, 3))):
        X, y = classes(seed, 30, 6, degenerate=seed == 4)
        objective = logistic_selection_objective(X, y, lam, PENALTIES[penalty](X), ridge, intercept)
        rows = [] if k is None else [ds.Cardinality(max=k)]
        ours, brute = (
            ds.minimize(objective, s, constraints=rows) for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
        )
        assert ours.certified
        assert ours.value == pytest.approx(brute.value, abs=1e-9)
        assert ours.lower_bound <= brute.value + 1e-9


@pytest.mark.parametrize("k", [None, 4])
def test_twelve_features_and_the_rule(k):
    X, y = classes(3, 60, 12)
    objective = 5.0 * logistic_selection_objective(X, y, 0.01, "cardinality", 0.02)
    rows = [] if k is None else [ds.Cardinality(max=k)]
    ours = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=rows)
    masks = all_masks(12)
    masks = masks[masks.sum(axis=1) <= (12 if k is None else k)]
    assert ours.certified
    assert ours.value == pytest.approx(objective.values(masks).min(), abs=1e-9)
    wide = ds.minimize(logistic_selection_objective(*classes(3, 60, 30), 0.05), constraints=rows)
    assert "Perspective" in wide.solver
    assert wide.certified


def test_no_set_below_the_cutoff_is_lost():
    X, y = classes(1, 40, 7)
    objective = logistic_selection_objective(X, y, 0.005, "nuclear", 0.02)
    masks = all_masks(7)
    masks = masks[masks.sum(axis=1) <= 4]
    check_that_no_set_below_the_cutoff_is_lost(objective, [ds.Cardinality(max=4)], masks, 30)


def test_the_bound_is_near_the_value_where_nothing_is_free_to_choose():
    """With a budget of all features and no price the relaxation is the problem itself."""
    X, y = classes(2, 50, 5)
    objective = logistic_selection_objective(X, y, 0.0, "cardinality", 0.1)
    model = LogisticModel.of(objective)
    node = {"U": np.ones(5, bool), "I": np.zeros(5, bool), "d": np.zeros(5), "w": np.zeros(5), "price": 0.0}
    relaxation = model.relaxation(node, 0.0, 5)
    relaxation.solve(np.inf)
    assert objective(range(5)) - 1e-3 <= relaxation.lower <= objective(range(5))


def test_k_best():
    X, y = classes(5, 40, 7)
    objective = logistic_selection_objective(X, y, 0.01)
    best, every = (ds.enumerate_best(objective, 9, solver=s) for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce()))
    assert best.values == pytest.approx(every.values)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[1.0]], [1], 0.0), "ridge must be positive for the logistic loss, got 0"),
        (([[1.0]], [2], 0.1), "y must be -1 or 1 in every row"),
        ((np.zeros((0, 1)), [], 0.1), "at least one row"),
    ],
)
def test_what_it_refuses(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        ds.LogisticLoss(*arguments)
