"""Limits on |S| without compiled gains: against brute force, listing, interruptions, and few values asked for."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.oracle import count_oracle_calls

SOLVER = ds.BudgetBranchAndBound()


def log_det(rng, n):
    factor = rng.normal(size=(n, n + 2))
    return ds.LogDet(0.5 * np.eye(n) + factor @ factor.T)


def asked(rng, n):
    inner = ds.FacilityLocation(rng.integers(0, 4, (4, n)).astype(float))
    return ds.FromCallable(lambda S: inner(S), n, submodular=True)


FAMILIES = {
    "log det": log_det,
    "entropy": lambda rng, n: ds.Entropy(rng.integers(0, 3, (12, n))),
    "callable": asked,
    "cut": lambda rng, n: ds.Cut(np.triu(rng.random((n, n)), 1), directed=True) + log_det(rng, n),
}
COSTS = {
    "nothing": lambda rng, n: ds.Modular(np.zeros(n)),
    "modular": lambda rng, n: ds.Modular(rng.normal(size=n), 100.0),
    "concave": lambda rng, n: ds.ConcaveOfModular(rng.random((2, n)), rng.random(2)),
    "entropy": lambda rng, n: ds.Entropy(rng.integers(0, 2, (10, n))),
}


def drawn(family, costs, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    low, high = sorted(int(k) for k in rng.integers(0, n + 1, 2))
    constraints = [ds.Cardinality(low, high)]
    if rng.random() < 0.3:
        constraints.append(ds.Include([int(rng.integers(n))]))
    if rng.random() < 0.3:
        constraints.append(ds.Exclude([int(rng.integers(n))]))
    return COSTS[costs](rng, n) - FAMILIES[family](rng, n), constraints


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("costs", COSTS)
def test_agrees_with_brute_force(family, costs):
    for seed in range(12):
        objective, constraints = drawn(family, costs, seed)
        found = ds.minimize(objective, SOLVER, constraints=constraints, reduce=False)
        expected = ds.minimize(objective, ds.BruteForce(), constraints=constraints)
        assert found.status == expected.status
        assert found.value == pytest.approx(expected.value, abs=1e-8)
        assert found.bound <= expected.value + 1e-8


@pytest.mark.parametrize("family", FAMILIES)
def test_lists_the_best_sets(family):
    for seed in range(6):
        objective, constraints = drawn(family, "modular", 50 + seed)
        found = ds.enumerate_best(objective, 4, solver=SOLVER, constraints=constraints)
        expected = ds.enumerate_best(objective, 4, solver=ds.BruteForce(), constraints=constraints)
        assert np.allclose(found.values, expected.values, atol=1e-8)


def test_asks_for_few_values():
    rng = np.random.default_rng(0)
    inner = ds.FacilityLocation(rng.random((40, 30)))
    g = ds.FromCallable(lambda S: inner(S), 30, submodular=True)
    with count_oracle_calls() as few:
        found = ds.minimize(-g, SOLVER, constraints=[ds.Cardinality(max=4)])
    with count_oracle_calls() as many:
        expected = ds.minimize(-g, ds.BranchAndBound(), constraints=[ds.Cardinality(max=4)])
    assert found.certified
    assert found.value == pytest.approx(expected.value)
    assert 4 * few.calls < many.calls


def test_an_interruption_leaves_a_bound():
    objective, constraints = -log_det(np.random.default_rng(1), 24), [ds.Cardinality(max=8)]
    full = ds.minimize(objective, SOLVER, constraints=constraints)
    for nodes in (0, 1, 10, 50):
        found = ds.minimize(objective, SOLVER, constraints=constraints, node_limit=nodes)
        assert found.bound <= full.value + 1e-9 <= found.value + 2e-9


def test_the_rule_takes_few_of_many():
    g = ds.Entropy(np.random.default_rng(2).integers(0, 3, (200, 60)))
    for k, solver in ((5, "BudgetBranchAndBound"), (20, "BranchAndBound")):
        assert ds.minimize(-g, constraints=[ds.Cardinality(max=k)], node_limit=1).solver == solver


def test_says_what_it_needs():
    with pytest.raises(ValueError, match="limits on"):
        ds.minimize(-log_det(np.random.default_rng(3), 5), SOLVER, constraints=[ds.Knapsack(np.arange(1.0, 6.0), 6.0)])
