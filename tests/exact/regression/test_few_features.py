"""More features than rows and no ridge: a form below the loss on small sets takes the place of a definite loss."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression.few_features import PARTS, is_weak, sparse_eigenvalue_of
from dsprog.exact.regression.relaxation import Loss
from dsprog.exact.regression.sparse_certificate import SparseEigenvalue, in_ball, on_simplex, shifted
from dsprog.functions.table import all_masks
from tests.exact.regression.test_perspective import PENALTIES
from tests.helpers.cutoffs import check_that_no_set_below_the_cutoff_is_lost


def wide(seed, rows, p, scale=1.0, rho=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    y = X[:, [0, p // 2]].sum(axis=1) + 0.5 * rng.normal(size=rows)
    return scale * X, scale * y


def test_no_small_set_has_a_lower_eigenvalue():
    for seed, k in itertools.product(range(3), (2, 3)):
        X, _ = wide(seed, 9, 12)
        G = np.corrcoef(X.T)
        programme = SparseEigenvalue(G, k)
        programme.advance(40)
        least = min(np.linalg.eigvalsh(G[np.ix_(T, T)])[0] for T in map(list, itertools.combinations(range(12), k)))
        assert programme.best.eigenvalue <= least + 1e-9
        low = shifted(G, programme.best, 1.0)
        assert np.linalg.eigvalsh(low)[0] == pytest.approx(programme.best.eigenvalue, abs=1e-9)
        for part, T in itertools.product(PARTS, itertools.combinations(range(12), k)):
            gap = (G - shifted(G, programme.best, part))[np.ix_(T, T)]
            signs = np.array(list(itertools.product((1.0, -1.0), repeat=k)))
            assert np.linalg.eigvalsh(gap)[0] >= -1e-12  # u'Gu is above it on every small set
            assert (np.einsum("ai,ij,aj->a", signs, gap, signs) >= -1e-12).all()


def test_projections():
    rng = np.random.default_rng(0)
    for _ in range(20):
        v = rng.normal(size=6)
        nearest = on_simplex(v, 2.0)[0]
        assert nearest.sum() == pytest.approx(2.0)
        others = 2.0 * rng.dirichlet(np.ones(6), 50)
        assert (((others - v) ** 2).sum(axis=1) >= ((nearest - v) ** 2).sum() - 1e-12).all()
        A = rng.normal(size=(3, 3))
        assert np.abs(in_ball(A, 1.0)).sum() == pytest.approx(1.0)
        assert in_ball(A, 100.0) is A


@pytest.mark.parametrize("penalty", [None, *PENALTIES])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_brute_force_agrees(penalty, scale):
    for seed, (k, ridge) in enumerate(itertools.product((2, 3, 4), (0.0, 1e-7))):
        X, y = wide(seed, 14, 16, scale)
        objective = ds.LeastSquares(X, y, ridge)
        if penalty:
            objective = objective + 0.01 * float(y @ y) / len(y) * PENALTIES[penalty](X / scale)
        budget = [ds.Cardinality(max=k)]
        problem = as_problem(objective, budget)
        assert not Loss.of(problem.objective).is_definite
        assert problem.derived(sparse_eigenvalue_of) is not None
        result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=budget)
        masks = all_masks(16)
        values = objective.values(masks[masks.sum(axis=1) <= k])
        assert result.certified
        assert result.value == pytest.approx(values.min(), abs=1e-9 * scale**2)


@pytest.mark.parametrize("penalty", [None, *PENALTIES])
def test_a_small_ridge_is_helped(penalty):
    for seed, (k, ridge) in enumerate(itertools.product((2, 4), (1e-4, 5e-3))):
        X, y = wide(seed, 10, 14)
        objective = ds.LeastSquares(X, y, ridge)
        if penalty:
            objective = objective + 0.01 * float(y @ y) / len(y) * PENALTIES[penalty](X)
        budget = [ds.Cardinality(max=k)]
        loss = Loss.of(as_problem(objective, budget).objective)
        assert loss.is_definite
        assert is_weak(loss)
        result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), constraints=budget)
        masks = all_masks(14)
        assert result.certified
        assert result.value == pytest.approx(objective.values(masks[masks.sum(axis=1) <= k]).min(), abs=1e-9)


def test_no_set_below_the_cutoff_is_lost():
    X, y = wide(1, 8, 10)
    objective = ds.LeastSquares(X, y)
    masks = all_masks(10)
    masks = masks[masks.sum(axis=1) <= 3]
    check_that_no_set_below_the_cutoff_is_lost(objective, [ds.Cardinality(max=3)], masks, 25)


def test_other_rows_and_k_best():
    X, y = wide(2, 9, 11)
    objective = ds.LeastSquares(X, y)
    for rows in ([ds.Cardinality(exactly=3)], [ds.Cardinality(max=3), ds.Exclude([0])]):
        best, every = (
            ds.enumerate_best(objective, 8, solver=s, constraints=rows)
            for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
        )
        assert best.certified
        assert best.values == pytest.approx(every.values)


def test_the_rule_takes_it_and_says_where_it_cannot():
    X, y = wide(0, 40, 60)
    budget = [ds.Cardinality(max=4)]
    result = ds.minimize(ds.LeastSquares(X, y), constraints=budget)
    assert result.certified
    assert result.solver == "PerspectiveBranchAndBound"
    X[:, 7] = X[:, 3]  # two equal columns: no certificate for pairs
    with pytest.raises(ValueError, match="a budget so small"):
        ds.minimize(ds.LeastSquares(X, y), ds.PerspectiveBranchAndBound(), constraints=budget)
    with pytest.raises(ValueError, match="far from dependent"):
        ds.minimize(ds.LeastSquares(X, y), ds.PerspectiveBranchAndBound())


def test_limits_leave_a_bound():
    X, y = wide(3, 60, 90, rho=0.6)
    for limits in ({"time_limit": 0.0}, {"node_limit": 1}):
        result = ds.minimize(ds.LeastSquares(X, y), constraints=[ds.Cardinality(max=6)], **limits)
        assert result.lower_bound <= result.value
