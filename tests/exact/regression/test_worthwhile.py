"""A price in place of a budget: more features than rows, no ridge, and a proof all the same."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications import lam_max
from dsprog.core.problem import as_problem
from dsprog.exact.regression.few_features import most_features_of
from dsprog.exact.regression.perspective_branch_and_bound import has_definite_loss, has_definite_loss_of_all
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from dsprog.solve.choose import choose
from tests.exact.regression.test_few_features import wide

PRICES = {
    "one each": lambda p, rng: ds.Modular(np.ones(p)),
    "uneven": lambda p, rng: ds.Modular(rng.uniform(0.6, 1.4, p)),
    "some for nothing": lambda p, rng: ds.Modular(np.where(rng.random(p) < 0.1, -0.1, 1.0)),
    "concave too": lambda p, rng: ds.Modular(np.ones(p)) + ds.CardinalityConcave(p, "sqrt"),
}


def priced(seed, price, part, rows=9, p=14):
    rng = np.random.default_rng(seed)
    X, y = wide(seed, rows, p)
    return ds.LeastSquares(X, y) + part * float(y @ y) / (2 * rows) * PRICES[price](p, rng)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("part", [0.05, 0.15, 0.4])
def test_brute_force_agrees(price, part):
    proved = 0
    for seed in range(6):
        objective = priced(seed, price, part)
        problem = as_problem(objective, ())
        values = objective.values(all_masks(14))
        good = all_masks(14)[values <= values.min() + 1e-12]
        assert good.sum(axis=1).max() <= problem.derived(most_features_of)
        if has_definite_loss(problem):
            proved += 1
            result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), reduce=False)
            assert result.certified
            assert result.value == pytest.approx(values.min(), abs=1e-10)
            assert result.lower_bound <= values.min() + 1e-10
    assert proved or part < 0.4


def test_stopped_runs_have_bounds_that_hold():
    for seed in range(4):
        objective = priced(seed, "one each", 0.15)
        best = objective.values(all_masks(14)).min()
        for nodes in (1, 3, 9):
            if has_definite_loss(as_problem(objective, ())):
                stopped = ds.minimize(objective, ds.PerspectiveBranchAndBound(unit=1), node_limit=nodes, reduce=False)
                assert stopped.lower_bound <= best + 1e-10 <= stopped.value + 2e-10


def test_the_rule_takes_it_for_the_best_set_but_not_for_lists():
    X, y = wide(0, 30, 60)
    objective = ds.LeastSquares(X, y) + 0.2 * float(y @ y) / 60 * ds.Modular(np.ones(60))
    problem = as_problem(objective, ())
    assert has_definite_loss(problem)
    assert not has_definite_loss_of_all(problem)
    assert isinstance(choose(problem, Run(problem)).solver, ds.PerspectiveBranchAndBound)
    assert not isinstance(choose(problem, Run(problem, keeps=3)).solver, ds.PerspectiveBranchAndBound)
    assert ds.minimize(objective).certified
    with pytest.raises(ValueError, match="dependent"):
        ds.enumerate_best(objective, 3, solver=ds.PerspectiveBranchAndBound())


def test_no_price_no_budget():
    X, y = wide(0, 50, 60)
    for lam in (0.0, 1e-9):
        assert as_problem(ds.LeastSquares(X, y) + lam * ds.Modular(np.ones(60)), ()).derived(most_features_of) == 60


def test_no_features_at_all():
    result = ds.minimize(ds.LeastSquares(np.zeros((3, 0)), np.ones(3)) + ds.Modular(np.zeros(0)))
    assert result.certified
    assert result.S == ()
    enumerated = ds.enumerate_best(ds.LeastSquares(np.zeros((3, 0)), np.ones(3)), 2)
    assert enumerated.sets == ((),)


def test_hardly_anything_is_worth_its_price_or_some_features_are_paid_for():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 120))
    y = X[:, 3] - X[:, 9] + 0.5 * rng.normal(size=80)
    f = ds.LeastSquares(X, y)
    nothing = float(f([]))
    for part in (0.3, 0.6, 5.0):
        result = ds.minimize(f + part * nothing * ds.Modular(np.ones(120)), ds.PerspectiveBranchAndBound())
        assert result.certified
        assert (() if part > 0.5 else result.S) == result.S
    prices = np.ones(120)
    prices[5] = -8.0
    paid = ds.minimize(f + 0.3 * nothing * ds.Modular(prices), ds.PerspectiveBranchAndBound())
    assert paid.certified
    assert 5 in paid.S
    assert lam_max(X, X[:, 3], "cardinality") == pytest.approx(float(X[:, 3] @ X[:, 3]) / 160, rel=1e-6)
