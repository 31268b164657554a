"""Few sets: counted, and all looked at."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.few_sets import few_sets
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.testing import check_result
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import check_best


@pytest.mark.parametrize("seed", range(60))
def test_every_feasible_set_is_among_them_once(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 9)) if seed else 0
    problem = as_problem(ds.Modular(rng.normal(size=n)), random_constraints(rng, n) if n else [ds.Cardinality(0, 0)])
    few, masks = few_sets(problem), all_masks(n)
    listed = [mask for batch in few.batches(iter([3] * 200)) for mask in batch]
    assert len(listed) == len({mask.tobytes() for mask in listed}) == few.count <= 1 << n
    wanted = {mask.tobytes() for mask in masks[problem.feasible(masks)]}
    assert wanted <= {mask.tobytes() for mask in listed}


def test_sizes_and_blocks_are_counted_exactly():
    n = 12
    for constraints, count in (
        ([ds.Cardinality(3, 3)], 220),
        ([ds.Cardinality(2, 3), ds.Include([4])], 11 + 55),
        ([ds.Partition(np.arange(n) % 3, [1, 1, 2])], 5 * 5 * 11),
        ([ds.Exclude(range(4, n))], 16),
        ([ds.LinearConstraint(np.full(n, -2.0), lo=-4.1)], 1 + 12 + 66),
        ([ds.Cardinality(12, 12), ds.Exclude([0])], 0),
    ):
        problem = as_problem(ds.Modular(np.zeros(n)), constraints)
        assert few_sets(problem).count == count
    assert few_sets(as_problem(ds.Modular(np.zeros(300)), [ds.Cardinality(max=150)])).count > 1 << 60


@pytest.mark.parametrize("family", FAMILIES)
def test_brute_force_of_few_sets(family):
    objective, constraints = FAMILIES[family](10, 1), [ds.Partition(np.arange(10) % 4, [1, 1, 2, 0])]
    feasible = as_problem(objective, constraints).feasible(all_masks(10))
    result = ds.minimize(objective, ds.BruteForce(batch=7), constraints=constraints)
    check_result(result, objective, feasible)
    assert result.certified
    assert result.nodes == 4 * 4 * 4
    check_best(ds.enumerate_best(objective, 6, solver=ds.BruteForce(), constraints=constraints), objective, 6, feasible)
    stopped = ds.minimize(objective, ds.BruteForce(), constraints=constraints, node_limit=5)
    assert stopped.status == "node_limit"
    assert stopped.nodes == 5


def test_many_elements_and_few_sets():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    kernel = 10 * np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 0.1)
    objective = ds.Modular(np.zeros(60)) - ds.LogDet(kernel)
    result = ds.minimize(objective, constraints=[ds.Cardinality(2, 2)])
    assert result.certified
    assert result.solver == "BruteForce"
    assert result.nodes == 1770
    assert ds.minimize(objective, constraints=[ds.Cardinality(2, 2), ds.Cardinality(max=1)]).status == "infeasible"
    with pytest.raises(
        ValueError, match="BruteForce does not work with this problem: it needs n <= 25 elements, or at"
    ):
        ds.minimize(objective, ds.BruteForce(), constraints=[ds.Cardinality(max=30)])


@pytest.mark.parametrize("limit", range(5))
def test_a_node_limit_claims_nothing(limit):
    """Not even that no set is feasible, where none was looked at."""
    objective, constraints = ds.CardinalityConcave(4, "sqrt"), [ds.Cardinality(3, 3)]
    found = ds.minimize(objective, ds.BruteForce(), constraints=constraints, node_limit=limit, reduce=False)
    assert found.status == ("optimal" if limit == 4 else "node_limit")
    assert found.lower_bound <= 3**0.5 + 1e-12
    assert ds.minimize(ds.CardinalityConcave(1), constraints=[ds.Include([0])], node_limit=0).status != "infeasible"
