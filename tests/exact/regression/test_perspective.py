"""The perspective bound: bound <= brute force <= value on designs where the loss is far from supermodular."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression.descents import PROBE, Marks, descents
from dsprog.exact.regression.perspective_bound import DescentLimits
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.relaxation import Loss, Relaxation
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from dsprog.testing import check_result
from tests.helpers.cutoffs import check_that_no_set_below_the_cutoff_is_lost


def random_design(rng, n, p):
    return rng.normal(size=(n, p))


def correlated(rng, n, p):
    return rng.normal(size=(n, p)) @ np.linalg.cholesky(0.2 * np.eye(p) + 0.8)


def suppressors(rng, n, p):
    """Pairs with correlation near -.9: each tells little, both together much."""
    X = rng.normal(size=(n, p))
    X[:, 1::2] = -0.9 * X[:, : 2 * (p // 2) : 2] + 0.436 * X[:, 1::2]
    return X


def badly_scaled(rng, n, p):
    return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)


def duplicated(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, p // 2] = X[:, 0]
    X[:, -1] = 0.0
    return X


DESIGNS = [random_design, correlated, suppressors, badly_scaled, duplicated]
PENALTIES = {
    "nuclear": ds.NuclearNorm,
    "cardinality": lambda X: ds.Modular(np.ones(X.shape[1])),
    "concave": lambda X: ds.CardinalityConcave(X.shape[1], "sqrt"),
    "not monotone": lambda X: ds.CardinalityConcave(X.shape[1], "sqrt") + ds.Modular(np.cos(np.arange(X.shape[1]))),
}


def objective_of(design, penalty, ridge, lam, seed, p=None):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 9)) if p is None else p
    X = design(rng, p + int(rng.integers(3, 20)), p)
    y = X @ rng.normal(size=p) + rng.normal(size=len(X)) * (1 + np.linalg.norm(X) / len(X))
    return ds.LeastSquares(X, y, ridge) + lam * float(y @ y) / len(y) * PENALTIES[penalty](X)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_bound_brute_force_value(design, penalty, ridge):
    for seed, lam in enumerate((0.001, 0.01, 0.05, 0.3)):
        objective = objective_of(design, penalty, ridge, lam, seed)
        result = ds.minimize(objective)
        check_result(result, objective)
        assert result.certified


@pytest.mark.parametrize("design", DESIGNS[:4])
def test_fourteen_features(design):
    objective = objective_of(design, "nuclear", 0.0, 0.003, 7, p=14)
    result = ds.minimize(objective, ds.PerspectiveBranchAndBound())
    assert result.certified
    assert result.value == pytest.approx(ds.minimize(objective, ds.BruteForce()).value, abs=1e-9)


@pytest.mark.parametrize("design", DESIGNS[:4])
def test_every_node_bounds_its_sets(design):
    """Whatever the search closes, fixes or leaves open at any moment, no set below the cutoff is lost."""
    objective = objective_of(design, "nuclear", 0.0, 0.01, 3, p=8)
    masks = all_masks(8)
    check_that_no_set_below_the_cutoff_is_lost(objective, (), masks, 40)


@pytest.mark.parametrize("design", DESIGNS[:4])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_boxes_hold_the_coefficients_of_every_set_below_the_cutoff(design, ridge):
    for seed, rank in itertools.product(range(4), (3, 30, 120)):
        objective = objective_of(design, "nuclear", ridge, 0.01, seed, p=8)
        problem = as_problem(objective, ())
        loss = Loss.of(problem.objective)
        method = PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound())
        node = {key: value[0].copy() for key, value in method.root().items()}
        masks = all_masks(8)
        values = objective.values(masks)
        cutoff = float(np.sort(values)[rank])
        relaxation = Relaxation.of(loss, node, method.at_empty, problem.n)
        for _ in range(3):
            relaxation.solve(cutoff)
            relaxation.raise_diagonal(cutoff)
            assert relaxation.lower <= values.min() + 1e-9
            excluded = relaxation.tighten_boxes(cutoff)
            for mask in masks[values < cutoff - 1e-9]:
                w = np.zeros(8)
                w[mask] = np.linalg.solve(loss.G[np.ix_(mask, mask)], loss.b[mask])
                assert not (mask & excluded).any()
                assert (w[mask] <= relaxation.hi[mask] + 1e-9).all()
                assert (w[mask] >= relaxation.lo[mask] - 1e-9).all()


@pytest.mark.parametrize("design", DESIGNS[:4])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_probes_bound_the_sets_with_and_without_a_feature(design, penalty):
    """With boxes, too, as far as the cutoff that they rest on; and the children made of them."""
    for seed, rank in itertools.product(range(3), (3, 60, 255)):
        objective = objective_of(design, penalty, 0.0, 0.01, seed, p=8)
        problem = as_problem(objective, ())
        method = PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound())
        node = {key: value[0].copy() for key, value in method.root().items()}
        masks = all_masks(8)
        values = objective.values(masks)
        cutoff = float(np.sort(values)[rank])
        relaxation = Relaxation.of(Loss.of(problem.objective), node, method.at_empty, problem.n)
        relaxation.solve(cutoff)
        relaxation.raise_diagonal(cutoff)
        for sweeps in (1, 40):
            marks = Marks(np.ones(8, dtype=bool), np.full((2, 8), -np.inf))
            before = relaxation.w.copy(), relaxation.b.copy(), relaxation.lo.copy(), relaxation.hi.copy()
            limits = DescentLimits(cutoff, 1e-9, sweeps)
            descents(PROBE, relaxation.problem, relaxation.w, relaxation.lower, limits, relaxation.val, marks)
            for was, now in zip(before, (relaxation.w, relaxation.b, relaxation.lo, relaxation.hi)):
                assert (was == now).all()
            branch = relaxation.branch(cutoff)
            for j in range(8):
                least = np.array([values[masks[:, j]].min(), values[~masks[:, j]].min()])
                assert (np.minimum(marks.ends[:, j], cutoff) <= least + 1e-9).all()
                if j == branch.position:
                    assert (np.minimum([branch.inside, branch.outside], cutoff) <= least + 1e-9).all()
            relaxation.tighten_boxes(cutoff)


def test_the_two_features_of_the_counterexample():
    """Correlations .1 and .1 with y and -.9 between them: R² of .01, .01 and together .2."""
    C = np.array([[1.0, -0.9, 0.1], [-0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 3)))[0] * np.sqrt(40)
    data = Q @ np.linalg.cholesky(C).T
    f = ds.LeastSquares(data[:, :2], data[:, 2])
    assert 1 - 2 * f([0]) == pytest.approx(0.01)
    assert 1 - 2 * f([0, 1]) == pytest.approx(0.2)
    result = ds.minimize(f + 0.04 * ds.Modular([1.0, 1.0]))
    assert result.S == (0, 1)
    assert result.certified


def test_constraints_and_k_best():
    objective = objective_of(suppressors, "nuclear", 0.0, 0.003, 5, p=9)
    constraints = [ds.Cardinality(min=2, max=3), ds.Exclude([4])]
    ours, brute = (ds.minimize(objective, s, constraints=constraints) for s in (None, ds.BruteForce()))
    assert ours.certified
    assert ours.value == pytest.approx(brute.value)
    best, all_sets = (ds.enumerate_best(objective, 12, solver=s) for s in (None, ds.BruteForce()))
    assert best.certified
    assert best.values == pytest.approx(all_sets.values)


def test_gap_limit_and_message():
    objective = objective_of(random_design, "nuclear", 0.0, 0.002, 1, p=14)
    rough = ds.minimize(objective, gap=0.05)
    assert rough.certified
    assert rough.gap <= 0.05 + 1e-12
    stopped = ds.minimize(objective, node_limit=1)
    assert stopped.lower_bound <= ds.minimize(objective).value <= stopped.value


def test_what_it_refuses():
    X = np.ones((5, 2))
    with pytest.raises(ValueError, match="far from dependent"):
        ds.minimize(ds.LeastSquares(X, np.arange(5.0)) + ds.Modular([1.0, 1.0]), ds.PerspectiveBranchAndBound())
    with pytest.raises(ValueError, match="one LeastSquares term"):
        ds.minimize(ds.Modular([1.0, 1.0]), ds.PerspectiveBranchAndBound())


def test_a_checkpoint_is_continued(tmp_path):
    objective = objective_of(correlated, "nuclear", 0.0, 0.001, 2, p=14)
    path = tmp_path / "run.npz"
    ds.minimize(objective, node_limit=2, checkpoint=path)
    assert ds.minimize(objective, checkpoint=path).value == pytest.approx(ds.minimize(objective).value)


def test_without_a_feasible_start():
    """An equation that greedy sets miss: the first nodes have no cutoff to make boxes from."""
    objective = objective_of(random_design, "nuclear", 0.0, 0.01, 3, p=8)
    equation = [ds.LinearConstraint([3, 5, 7, 2, 6, 4, 9, 8], lo=17, hi=17)]
    ours, brute = (
        ds.minimize(objective, s, constraints=equation) for s in (ds.PerspectiveBranchAndBound(), ds.BruteForce())
    )
    assert ours.certified
    assert ours.value == pytest.approx(brute.value)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_run_without_time_has_a_bound(penalty):
    objective = objective_of(random_design, penalty, 0.0, 0.05, 3, p=20)
    result = ds.minimize(objective, ds.PerspectiveBranchAndBound(), time_limit=0)
    best = ds.minimize(objective).value
    assert -np.inf < result.lower_bound <= best + 1e-9
    assert type(result.lower_bound) is float
