"""Budgets inside the perspective bound: brute force agrees, whatever the design, penalty, ridge and limit."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression.budget import budget_of, capped, only_budgets
from dsprog.exact.regression.forward_swaps import forward_and_swaps
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.relaxation import Loss, Relaxation
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from tests.exact.regression.test_perspective import DESIGNS, PENALTIES, correlated, objective_of, random_design
from tests.helpers.cutoffs import check_that_no_set_below_the_cutoff_is_lost


def least(objective, k):
    masks = all_masks(objective.n)
    return float(objective.values(masks[masks.sum(axis=1) <= k]).min())


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_brute_force_agrees(design, penalty, ridge):
    for seed, (lam, k) in enumerate(itertools.product((0.0, 0.01), (0, 1, 2, 4, 20))):
        objective = objective_of(design, penalty, ridge, lam, seed)
        budget = [ds.Cardinality(max=k)]
        definite = Loss.of(ds.Problem(ds.Difference(objective)).objective).is_definite
        result = ds.minimize(objective, ds.PerspectiveBranchAndBound() if definite else None, constraints=budget)
        assert result.certified
        assert result.value == pytest.approx(least(objective, k), abs=1e-9)


@pytest.mark.parametrize("design", DESIGNS[:4])
@pytest.mark.parametrize("k", [3, 6])
def test_fourteen_features(design, k):
    objective = objective_of(design, "nuclear", 0.0, 0.0, 7, p=14)
    result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=[ds.Cardinality(max=k)])
    assert result.certified
    assert result.value == pytest.approx(least(objective, k), abs=1e-9)


@pytest.mark.parametrize("design", DESIGNS[:4])
@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_no_set_below_the_cutoff_is_lost(design, lam):
    objective = objective_of(design, "nuclear", 0.0, lam, 3, p=8)
    masks = all_masks(8)
    masks = masks[masks.sum(axis=1) <= 4]
    check_that_no_set_below_the_cutoff_is_lost(objective, [ds.Cardinality(max=4)], masks, 40)


@pytest.mark.parametrize("design", DESIGNS[:4])
def test_boxes_hold_the_coefficients_of_every_set_within_the_budget(design):
    for seed, rank in itertools.product(range(3), (3, 30)):
        objective = objective_of(design, "nuclear", 0.01, 0.001, seed, p=8)
        problem = as_problem(objective, [ds.Cardinality(max=3)])
        loss = Loss.of(problem.objective)
        method = PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound())
        node = {key: value[0].copy() for key, value in method.root().items()}
        masks = all_masks(8)
        masks = masks[masks.sum(axis=1) <= 3]
        values = objective.values(masks)
        cutoff = float(np.sort(values)[rank])
        relaxation = Relaxation.of(loss, node, method.at_empty, method.budget)
        for _ in range(3):
            relaxation.solve(cutoff)
            relaxation.raise_diagonal(cutoff)
            assert relaxation.lower <= values.min() + 1e-9
            excluded = relaxation.tighten_boxes(cutoff)
            for mask in masks[values < cutoff - 1e-9]:
                w = np.linalg.solve(loss.G[np.ix_(mask, mask)], loss.b[mask])
                assert not (mask & excluded).any()
                assert (w <= relaxation.hi[mask] + 1e-9).all()
                assert (w >= relaxation.lo[mask] - 1e-9).all()


def test_other_rows_and_k_best():
    objective = objective_of(correlated, "nuclear", 0.0, 0.001, 5, p=9)
    for rows in (
        [ds.Cardinality(max=3), ds.Exclude([4])],
        [ds.Cardinality(min=3, max=3)],
        [ds.Cardinality(max=4), ds.LinearConstraint(np.arange(1.0, 10.0), hi=12)],
    ):
        ours, brute = (
            ds.minimize(objective, s, constraints=rows) for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
        )
        assert ours.certified
        assert ours.value == pytest.approx(brute.value)
        best, every = (
            ds.enumerate_best(objective, 12, solver=s, constraints=rows)
            for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
        )
        assert best.certified
        assert best.values == pytest.approx(every.values)


def test_limits_leave_a_bound():
    objective = objective_of(correlated, "cardinality", 0.0, 0.0, 1, p=40)
    budget = [ds.Cardinality(max=12)]
    stopped = ds.minimize(objective, ds.PerspectiveBranchAndBound(unit=1), constraints=budget, node_limit=1)
    full = ds.minimize(objective, constraints=budget)
    assert full.certified
    assert stopped.lower_bound <= full.value + 1e-9
    assert full.value <= stopped.value + 1e-9


def test_the_rule_takes_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    y = X[:, [3, 11, 30]].sum(axis=1) + 0.3 * rng.normal(size=80)
    result = ds.minimize(ds.LeastSquares(X, y), constraints=[ds.Cardinality(max=3)])
    assert result.S == (3, 11, 30)
    assert "PerspectiveBranchAndBound" in result.solver


@pytest.mark.parametrize("design", DESIGNS)
def test_forward_and_swaps_is_locally_optimal(design):
    objective = objective_of(design, "nuclear", 0.0, 0.001, 2, p=9)
    loss, masks = Loss.of(as_problem(objective, ()).objective), all_masks(9)
    found = forward_and_swaps(loss, np.zeros(9, dtype=bool), 3)
    near = (masks.sum(axis=1) <= 3) & ((masks != found).sum(axis=1) <= 2)
    assert objective.values(found[None])[0] <= objective.values(masks[near]).min() + 1e-9


def test_what_counts_as_a_budget():
    f = ds.LeastSquares(np.eye(4), np.ones(4))
    for rows, most, only in (
        ([], 4, True),
        ([ds.Cardinality(max=2)], 2, True),
        ([ds.Cardinality(min=1, max=2)], 2, False),
        ([ds.LinearConstraint([0.5] * 4, hi=1.5)], 3, True),
        ([ds.LinearConstraint([1, 1, 1, 2], hi=2)], 4, False),
    ):
        problem = as_problem(f, rows)
        assert budget_of(problem) == most
        assert only_budgets(problem) is only


def test_capped_gains_are_those_of_the_best_sets():
    rng = np.random.default_rng(0)
    for _ in range(50):
        val, most = np.round(rng.normal(size=6), 1), int(rng.integers(1, 7))
        masks = all_masks(6)
        masks = masks[masks.sum(axis=1) <= most]
        gains = masks @ val
        gain, last, beyond = capped(val, most)
        assert gain == pytest.approx(gains.max())
        for j in range(6):
            assert gains[masks[:, j]].max() == pytest.approx(gain - max(0.0, last - val[j]))
            assert gains[~masks[:, j]].max() == pytest.approx(gain - max(0.0, val[j] - beyond))


def test_scaling_changes_nothing():
    objective = objective_of(random_design, "cardinality", 0.01, 0.0, 4, p=30)
    budget = [ds.Cardinality(max=5)]
    assert ds.minimize(1e6 * objective, constraints=budget).S == ds.minimize(objective, constraints=budget).S


@pytest.mark.parametrize("capacity", [-0.5, -1e-3])
def test_a_budget_below_nothing_is_infeasible(capacity):
    f = ds.LeastSquares([[1.0, 0.5], [-1.0, 2.0], [3.0, 1.0]], [-2.0, 1.0, 0.0])
    rows = [ds.Knapsack([3.8, 3.8], capacity)]
    for reduce in (True, False):
        found = ds.minimize(f, ds.PerspectiveBranchAndBound(), constraints=rows, reduce=reduce)
        assert found.status == "infeasible"


def test_first_sets_end_with_the_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    loss = Loss.of(as_problem(ds.LeastSquares(X, X[:, :9].sum(axis=1)), ()).objective)
    asked = []

    def stop():
        asked.append(True)
        return len(asked) > 3

    assert forward_and_swaps(loss, np.zeros(20, dtype=bool), 9, stop).sum() == 3
    assert forward_and_swaps(loss, np.zeros(20, dtype=bool), 9).tolist() == [True] * 9 + [False] * 11


def test_hundreds_of_features_of_which_most_are_worth_their_price():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 260))
    y = X @ rng.normal(size=260) + rng.normal(size=300)
    result = ds.minimize(ds.LeastSquares(X, y, 0.1) + 1e-4 * ds.Modular(np.ones(260)), time_limit=1.0)
    assert len(result.S) > 50
    assert result.seconds < 10.0
