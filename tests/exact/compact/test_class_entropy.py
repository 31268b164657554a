"""Information with a class in the compact model: both families of rows hold at every set, and the optimum is found."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.compact.box_search import build
from dsprog.functions.table import all_masks
from dsprog.testing import check_result
from tests.helpers.instances import classed_data


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_rows_hold_at_every_set_and_are_exact_where_they_were_made(classes, seed):
    X, y, rng = classed_data(seed, classes)
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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_agrees_with_enumeration(seed, classes):
    X, y, rng = classed_data(seed, classes, n=8)
    costs = ds.Modular(0.03 * rng.random(8))
    split = ds.ConditionalEntropy(X, y) + costs - ds.Entropy(X)
    for objective in (ds.Difference(costs, ds.MutualInformation(X, y)), split, split - 0.01 * ds.Coverage(np.eye(8))):
        result = ds.minimize(objective, ds.CompactModel())
        check_result(result, objective)
        assert result.certified
