"""Information with a class in the compact model: both families of rows hold at every set, and the optimum is found."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.compact.box_search import build
from dsprog.exact.interval.monotone_bound import monotone_parts
from dsprog.exact.interval.pairs_bound import PairsBound
from dsprog.functions.table import all_masks
from dsprog.generators import discrete_data
from dsprog.presolve.normalise import joined
from dsprog.testing import check_result


def data(seed, classes=2, n=6, rows=50):
    rng = np.random.default_rng(seed)
    X, _ = discrete_data(rng, rows, n)
    y = (X[:, 0] + X[:, 2] * (rng.random(rows) < 0.8)) % classes if classes > 1 else np.zeros(rows, dtype=int)
    return X, y, rng


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_rows_hold_at_every_set_and_are_exact_where_they_were_made(classes, seed):
    X, y, rng = data(seed, classes)
    information = ds.MutualInformation(X, y)
    objective = ds.Difference(ds.Modular(np.full(6, 0.02)), information)
    model = build(as_problem(objective, ()), 1.0)
    (cut,) = model.cuts
    points = [*rng.random((10, 6)), *rng.integers(0, 2, (10, 6)).astype(float)]
    for point in points:
        z = np.zeros(len(model.programme.cost))
        z[model.x], z[cut.e] = point, 0.0
        cut.separate(z, model)
    masks = all_masks(6)
    made_at = {tuple(point > 0.5) for point in points[10:]}
    for mask, value in zip(masks, objective.values(masks)):
        for column, inside in zip(model.x, mask):
            model.programme.limit(column, float(inside), float(inside))
        bound = model.programme.relaxed().bound
        assert bound <= value + 1e-9
        if tuple(mask) in made_at:
            assert bound >= value - 1e-6


def test_the_inequality_of_pairs():
    for seed in range(5):
        X, y, rng = data(seed, 3)
        order = rng.permutation(len(X))
        pairs = [(r, s) for r, s in zip(order[::2], order[1::2]) if y[r] != y[s]]
        differ = np.array([X[r] != X[s] for r, s in pairs])
        information = ds.MutualInformation(X, y)
        masks = all_masks(6)
        left_open = information.class_entropy - information.values(masks)
        together = np.array([(~(differ & mask).any(axis=1)).sum() for mask in masks])
        assert (len(X) * left_open >= 2 * np.log(2) * together - 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_agrees_with_enumeration(seed, classes):
    X, y, rng = data(seed, classes, n=8)
    costs = ds.Modular(0.03 * rng.random(8))
    split = ds.ConditionalEntropy(X, y) + costs - ds.Entropy(X)
    for objective in (ds.Difference(costs, ds.MutualInformation(X, y)), split, split - 0.01 * ds.Coverage(np.eye(8))):
        result = ds.minimize(objective, ds.CompactModel())
        check_result(result, objective)
        assert result.certified


def test_the_bound_of_pairs_holds_on_every_interval():
    for seed in range(4):
        X, y, rng = data(seed, 2)
        objective = ds.Difference(ds.Modular(0.02 * rng.random(6)), ds.MutualInformation(X, y))
        bound = PairsBound(*monotone_parts(objective))
        I = rng.random((60, 6)) < 0.2
        nodes = {"lower": np.full(60, -np.inf), "I": I, "U": I | (rng.random((60, 6)) < 0.8)}
        masks = all_masks(6)
        lower = bound.tighten(nodes, np.inf).nodes["lower"]
        for k in range(60):
            inside = (masks >= nodes["I"][k]).all(axis=1) & (masks <= nodes["U"][k]).all(axis=1)
            assert lower[k] <= objective.values(masks[inside]).min() + 1e-9


@pytest.mark.parametrize("bounds", [None, ("monotone", "pairs"), ("pairs",)])
def test_branch_and_bound_with_pairs(bounds):
    X, y, rng = data(1, 2, n=9)
    objective = ds.Difference(ds.Modular(0.01 * rng.random(9)), ds.MutualInformation(X, y))
    result = ds.minimize(objective, ds.BranchAndBound(bounds=bounds))
    check_result(result, objective)
    assert result.certified
    with pytest.raises(ValueError, match="pairs needs an objective that rewards"):
        ds.minimize(ds.Modular([1.0]) - ds.Coverage([[1]]), ds.BranchAndBound(bounds=("pairs",)))


def test_entropies_of_the_same_data_are_joined():
    X, y, _ = data(0)
    f, g = ds.ConditionalEntropy(X, y) / np.log(2) + ds.Modular(np.ones(6)), ds.Entropy(X) / np.log(2)
    both = joined(f - g)
    assert {type(h) for _, h in both.terms} == {ds.MutualInformation, ds.Modular}
    np.testing.assert_allclose(both.values(all_masks(6)), (f - g).values(all_masks(6)), atol=1e-12)
    other = joined(f - 2.0 * g)
    assert all(not isinstance(h, ds.MutualInformation) for _, h in other.terms)
