"""Far more features than rows: products with X in place of a Gram matrix give the same certificates."""

import itertools
import tracemalloc

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression import wide_loss
from dsprog.exact.regression.losses import loss_of
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.relaxation import Loss, Relaxation
from dsprog.exact.regression.wide_loss import WideLoss, WideRelaxation
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from tests.exact.regression.test_few_features import wide
from tests.exact.regression.test_perspective import PENALTIES


@pytest.fixture
def few(monkeypatch):
    """Four features are many."""
    monkeypatch.setattr(wide_loss, "DENSE", 4)


def penalised(seed, penalty, ridge, rows=7, p=12):
    X, y = wide(seed, rows, p)
    objective = ds.LeastSquares(X, y, ridge)
    return objective + 0.01 * float(y @ y) / len(y) * PENALTIES[penalty](X) if penalty else objective


@pytest.mark.parametrize("penalty", [None, *PENALTIES])
@pytest.mark.usefixtures("few")
def test_brute_force_agrees(penalty):
    for seed, (k, ridge) in enumerate(itertools.product((1, 2, 4), (0.01, 0.3))):
        objective = penalised(seed, penalty, ridge)
        budget = [ds.Cardinality(max=k)]
        assert isinstance(as_problem(objective, budget).derived(loss_of), WideLoss)
        masks = all_masks(12)
        result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=budget)
        assert result.certified
        assert result.value == pytest.approx(objective.values(masks[masks.sum(axis=1) <= k]).min(), abs=1e-9)
        rows = [*budget, ds.Exclude([3])]
        listed, every = (
            ds.enumerate_best(objective, 5, solver=s, constraints=rows)
            for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
        )
        assert listed.certified
        assert listed.values == pytest.approx(every.values)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.usefixtures("few")
def test_brute_force_agrees_without_a_budget(penalty):
    for seed, ridge in enumerate((0.003, 0.02, 0.3)):
        objective = penalised(seed, penalty, ridge)
        assert isinstance(as_problem(objective, ()).derived(loss_of), WideLoss)
        values = objective.values(all_masks(12))
        result = ds.minimize(objective, ds.PerspectiveBranchAndBound())
        assert result.certified
        assert result.value == pytest.approx(values.min(), abs=1e-9)
        for rows in ([], [ds.Exclude([3])], [ds.Cardinality(min=2)]):
            listed, every = (
                ds.enumerate_best(objective, 5, solver=s, constraints=rows)
                for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
            )
            assert listed.certified
            assert listed.values == pytest.approx(every.values)


def test_a_penalty_that_leaves_few_features_makes_products_pay():
    X, y = wide(0, 60, 700)
    count = ds.Modular(np.ones(700))
    for price, kind in ((0.0, Loss), (1e-4, Loss), (0.3, WideLoss)):
        assert type(as_problem(ds.LeastSquares(X, y, 0.1) + price * count, ()).derived(loss_of)) is kind
    dear = ds.LeastSquares(X, y, 0.1) + 0.3 * count
    free, within = ds.minimize(dear), ds.minimize(dear, constraints=[ds.Cardinality(max=3)])
    assert free.certified
    assert within.certified
    assert free.value <= within.value + 1e-9
    assert len(free.S) > 3 or free.value == pytest.approx(within.value)


@pytest.mark.usefixtures("few")
def test_it_is_the_same_loss():
    objective = as_problem(penalised(0, "nuclear", 0.1), ()).objective
    dense, other = Loss.of(objective), WideLoss.of(objective)
    some, all_of_them = np.array([5, 2, 7]), np.arange(12)
    assert other.gram(some, all_of_them) == pytest.approx(dense.G[some])
    assert other.beside(some) == pytest.approx(dense.beside(some))
    assert other.diagonal() == pytest.approx(dense.diagonal())
    assert other.b == pytest.approx(dense.b)
    assert other.c == pytest.approx(dense.c)
    assert np.linalg.eigvalsh(dense.G - 2 * np.diag(other.first_diagonal))[0] > 0


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("most", [4, 12])
def test_bounds_hold_at_nodes_and_turn_dense(most):
    for seed in range(4):
        objective = penalised(seed, "cardinality", 0.05)
        problem = as_problem(objective, [ds.Cardinality(max=most)])
        method = PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound())
        masks = all_masks(12)
        values = objective.values(masks)
        for I, out in (([], []), ([3], [0]), ([3, 6], [0, 1]), ([2], [0, 1, 4, 5, 7, 8, 9, 11])):
            node = {key: value[0].copy() for key, value in method.root().items()}
            node["I"][I], node["U"][out] = True, False
            inside = (masks >= node["I"]).all(axis=1) & (masks <= node["U"]).all(axis=1) & (masks.sum(axis=1) <= most)
            relaxation = method.below.relaxation(node, method.at_empty, method.budget)
            assert isinstance(relaxation, Relaxation if len(out) > 6 else WideRelaxation)
            relaxation.solve(np.inf)
            assert relaxation.lower <= values[inside].min() + 1e-9
            _, last, beyond = relaxation.capped
            for j, val in zip(relaxation.free, relaxation.val):
                with_j = values[inside & masks[:, j]].min()
                assert relaxation.lower + max(0.0, last - val) <= with_j + 1e-9
                assert relaxation.lower + max(0.0, val - beyond) <= values[inside & ~masks[:, j]].min() + 1e-9
            singles = values[inside & (masks.sum(axis=1) == len(I) + 1)].min()
            assert relaxation.singles.min() <= singles + 1e-9


def test_no_matrix_of_features_by_features():
    X, y = wide(0, 60, 2500)
    tracemalloc.start()
    result = ds.minimize(ds.LeastSquares(X, y, 0.1), constraints=[ds.Cardinality(max=2)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.certified
    assert result.S == (0, 1250)
    assert peak < 2500 * 2500 * 8 / 2
