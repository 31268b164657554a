"""Elements with prices are included, then excluded: agreement with all sets, from poor first sets and few steps."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.budget import budget_search
from dsprog.exact.budget.search_stack import BOUNDED, FORCED

SOLVER = ds.BudgetBranchAndBound()


@pytest.fixture
def poorly(monkeypatch):
    """One set at random in place of greedy ones, and a few steps of prices at the root: nodes are left to branch on."""

    def start(search):
        free = np.random.default_rng(0).permutation(np.flatnonzero(search.budget.free))
        search.offer([free[: max(1, search.budget.least)]], "random")

    monkeypatch.setattr(budget_search, "PRICED_STEPS", 2)
    monkeypatch.setattr(budget_search.BudgetSearch, "start", start)
    monkeypatch.setattr(budget_search.BudgetSearch, "look_further", lambda search: None)


def influence(seed, n=16, clients=40):
    """Sparse chances: any, quarters, all the same, or the same elements twice; weights of three scales."""
    rng = np.random.default_rng(seed)
    p = rng.random((clients, n)) * (rng.random((clients, n)) < 0.2)
    kinds = (p, np.ceil(4 * p) / 4, 0.5 * (p > 0), np.hstack([p[:, : n // 2], p[:, : n - n // 2]]))
    weights = rng.choice([1e-9, 1.0, 1e9]) * (rng.integers(1, 4, clients) if seed % 3 else rng.random(clients))
    objective = -ds.ProbabilisticCoverage(kinds[seed % 4], weights)
    if seed % 5 == 0:
        objective = objective + ds.Modular(0.3 * weights.mean() * rng.normal(size=n).round(1))
    return objective


@pytest.mark.parametrize("seed", range(24))
def test_agrees_with_all_sets(poorly, seed):
    objective, k = influence(seed), 9 + seed % 4
    for constraint in (ds.Cardinality(max=k), ds.Cardinality(k, k), ds.Cardinality(k - 4, k)):
        expected = ds.minimize(objective, ds.BruteForce(), constraints=[constraint])
        found = ds.minimize(objective, SOLVER, constraints=[constraint], reduce=False)
        assert found.certified
        assert found.value == pytest.approx(expected.value, rel=1e-10)
        assert found.lower_bound <= expected.value + 1e-10 * abs(expected.value)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_sets_are_all_met_once(poorly, seed):
    objective, constraints = influence(seed, n=14), [ds.Cardinality(3 * (seed % 4), 10)]
    expected = ds.enumerate_best(objective, 20, solver=ds.BruteForce(), constraints=constraints)
    listed = ds.enumerate_best(objective, 20, solver=SOLVER, constraints=constraints)
    assert listed.certified
    assert listed.values == pytest.approx(expected.values, rel=1e-10)
    assert len(set(listed.sets)) == len(listed)


def test_nodes_are_looked_at_again_and_elements_are_forced(poorly, monkeypatch):
    """Otherwise the tests of this file say nothing."""
    forced = set()
    run_on = budget_search.Subtree.run_on

    def watched(tree, *rest):
        tree.method.stack.marks[:, FORCED] = -2
        result = run_on(tree, *rest)
        forced.update(tree.method.stack.marks[tree.method.stack.marks[:, BOUNDED] == 1, FORCED].tolist())
        return result

    monkeypatch.setattr(budget_search.Subtree, "run_on", watched)
    for seed in range(12):
        ds.minimize(influence(seed), SOLVER, constraints=[ds.Cardinality(max=10)], reduce=False)
    assert 0 in forced
    assert max(forced) > 0


def test_interrupted_searches_keep_their_bounds(poorly, monkeypatch, tmp_path):
    """What is left of each level, forced elements included, is found again."""
    monkeypatch.setattr(budget_search, "WORK", 1)
    for seed in (1, 2, 6):
        objective, constraints = influence(seed, n=18), [ds.Cardinality(max=10)]
        expected = ds.minimize(objective, ds.BruteForce(), constraints=constraints).value
        path = tmp_path / f"{seed}.npz"
        for _ in range(12):
            result = ds.minimize(
                objective,
                SOLVER,
                constraints=constraints,
                checkpoint=path,
                reduce=False,
                callback=lambda event: event.nodes > 0,
            )
            assert result.lower_bound <= expected + 1e-9 * abs(expected)
        result = ds.minimize(objective, SOLVER, constraints=constraints, checkpoint=path, reduce=False)
        assert result.certified
        assert result.value == pytest.approx(expected, rel=1e-10)
