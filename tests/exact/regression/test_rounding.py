"""Rounding: values and bounds against exact arithmetic where columns are nearly dependent or ridges are tiny."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression import wide_loss
from dsprog.exact.regression.diagonal import proved_part
from dsprog.exact.regression.losses import loss_of
from dsprog.exact.regression.relaxation import Loss
from dsprog.exact.regression.wide_loss import WideLoss
from dsprog.functions.table import all_masks
from tests.helpers.fractions import exact_loss, nearly_dependent_pairs


@pytest.mark.parametrize("ridge", [1e-4, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("scales", ["alike", "one long column"])
def test_values_of_more_features_than_rows(ridge, scales):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 7)) + 1e-3 * rng.normal(size=(5, 7))
    X[:, 0] *= 1e5 if scales == "one long column" else 1.0
    y = rng.normal(size=5)
    f = ds.LeastSquares(X, y, ridge)
    for S in [range(7), range(6), (0, 1, 2, 3, 4, 6), (1, 2, 3, 4, 5, 6)]:
        assert f(S) == pytest.approx(float(exact_loss(X, y, ridge, S)), rel=1e-7)
        mask = np.isin(np.arange(7), list(S))
        assert f.values(np.repeat(mask[None], 40, axis=0)) == pytest.approx(f(S), rel=1e-7)


@pytest.mark.parametrize("seed", [*range(6), 2100])  # of 3,000 the last one was wrong without room for rounding
def test_near_ties_of_nearly_dependent_columns(seed):
    """A price makes the third best set better than the best one by 3e-12 of the loss of ∅, which is found."""
    rng = np.random.default_rng(seed)
    X, y = nearly_dependent_pairs(rng, 30, 8, 10.0 ** rng.uniform(-2.05, -1.5))
    f, c = ds.LeastSquares(X, y), float(y @ y) / 60
    price = 0.003 * c * (1.0 + 0.3 * rng.random(8))
    masks = all_masks(8)
    values = f.values(masks) + masks @ price
    first, third = np.argsort(values)[[0, 2]]
    extra = np.flatnonzero(masks[third] & ~masks[first])
    if len(extra):
        price[extra[0]] -= values[third] - values[first] + 3e-12 * c
    objective = f + ds.Modular(price)
    result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), reduce=False)
    near = np.argsort(objective.values(masks))[:3]
    least = min(float(exact_loss(X, y, 0.0, np.flatnonzero(masks[k]))) + float(price[masks[k]].sum()) for k in near)
    slack = as_problem(objective, ()).slack
    assert result.certified
    assert result.lower_bound <= least + 10 * slack
    assert result.value <= least + 10 * slack


def test_bounds_begin_below_the_loss_of_nothing_by_what_rounding_may_hide():
    rng = np.random.default_rng(0)
    for distance in (1.0, 0.1, 0.01):
        X, y = nearly_dependent_pairs(rng, 30, 8, distance)
        loss = Loss.of(as_problem(ds.LeastSquares(X, y), ()).objective)
        hidden = (loss.c - loss.constant) / loss.c
        assert 0 < hidden < 1e-11 / loss.least_eigenvalue


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_a_perfect_fit_is_proved_at_once(ridge):
    """Many sets of no loss at all: no bound is below the penalty, whatever rounding may hide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 24))
    y = np.zeros(40) if ridge else X[:, 3] - X[:, 9]
    result = ds.minimize(
        ds.LeastSquares(X, y, ridge), ds.PerspectiveBranchAndBound(), constraints=ds.Cardinality(max=6)
    )
    assert result.certified
    assert result.value == pytest.approx(0.0, abs=1e-12)
    assert result.nodes < 50


def test_with_hardly_a_ridge_products_with_the_rows_prove_nothing(monkeypatch):
    monkeypatch.setattr(wide_loss, "DENSE", 20)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 40))
    for ridge, wide in ((0.1, True), (1e-9, False)):
        problem = as_problem(ds.LeastSquares(X, X[:, 3], ridge), ds.Cardinality(max=2))
        assert isinstance(problem.derived(loss_of), WideLoss) == wide


def test_a_diagonal_of_which_nothing_is_proved_says_nothing():
    D = proved_part(np.ones((3, 3)), np.full(3, 0.1), 1e-12)
    assert (D > 0).all()
    assert D.max() < 1e-300


def test_a_budget_that_is_used_up_up_to_rounding():
    rng = np.random.default_rng(0)
    row = ds.LinearConstraint(np.ones(700), hi=1 / (1 + 1e-9) * (1 - 1.05e-12))
    y = rng.normal(size=800)
    result = ds.minimize(ds.LeastSquares(rng.normal(size=(800, 700)), y, 0.1), constraints=[row], reduce=False)
    assert result.certified
    assert len(result.S) <= 1


@pytest.mark.parametrize("long", [1e3, 1e6])
def test_logistic_loss_of_equal_long_columns(long):
    f = ds.LogisticLoss(long * np.array([[3.0, 3.0], [1.0, 1.0], [-2.0, -2.0]]), [1, -1, 1], 1e-5)
    assert f([0, 1]) <= f([0]) + 1e-9 <= f([]) + 2e-9


TIES = {
    "y is constant": lambda X, H: (X, np.ones(100), 0.0, ()),
    "y is constant, a ridge": lambda X, H: (X, np.ones(100), 0.1, ()),
    "y is nearly constant": lambda X, H: (X, 1 + 1e-8 * X[:, 0], 0.0, ()),
    "half of the columns are zero": lambda X, H: (X * (np.arange(40) < 20), X[:, 3] + X[:, 30], 0.1, ()),
    "they cost nothing": lambda X, H: (X * (np.arange(40) < 20), X[:, 3] + X[:, 30], 0.1, np.arange(40) < 20),
    "orthogonal columns but one": lambda X, H: (
        np.column_stack([H[:, 1:33], H[:, 1] + 0.3 * H[:, 40]]),
        H[:, 3] + 0.5 * H[:, 7] + 0.7 * H[:, 60],
        0.0,
        (),
    ),
}


@pytest.mark.parametrize("ties", TIES)
def test_ties_of_many_sets_are_closed(ties):
    """What rounding may hide is more than the slack of a proof, and must not have all sets enumerated that tie."""
    X = np.random.default_rng(0).normal(size=(100, 40))
    H = np.array([[1.0]])
    for _ in range(6):
        H = np.block([[H, H], [H, -H]])
    X, y, ridge, price = TIES[ties](X - X.mean(axis=0), H)
    objective, budget = ds.LeastSquares(X, y, ridge), [ds.Cardinality(max=6)]
    if len(price):
        objective, budget = objective + 0.01 * ds.Modular(price.astype(float)), []
    result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=budget, node_limit=100, reduce=False)
    assert result.certified
