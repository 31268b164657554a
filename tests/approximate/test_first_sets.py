"""First sets under every kind of constraint: feasible, never worse than greedy, resting where they say."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.approximate.exchanges import exchange_descent, feasible_additions, neighbour_values
from dsprog.approximate.first_sets import offer_first_sets
from dsprog.approximate.greedy import offer_greedy_sets
from dsprog.approximate.modular_step import ModularStep
from dsprog.approximate.repair import cheapest_set, repaired
from dsprog.approximate.starts import feasible_sets, frame_of
from dsprog.core.problem import Problem, as_problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, incidence
from dsprog.run.limits import Limits
from dsprog.run.run import Run
from tests.helpers.constraints import random_constraints

NAMES = [name for name in FAMILIES if name != "callable"]
SIZES = {
    "size": lambda n: [ds.Cardinality(max=3)],
    "exact size": lambda n: [ds.Cardinality(4, 4)],
    "knapsack": lambda n: [ds.Knapsack(1.0 + np.arange(n) % 4, 7.0)],
    "blocks": lambda n: [ds.Partition(np.arange(n) % 3, [1, 2, 1])],
    "cover": lambda n: [ds.LinearConstraint(1.0 + np.arange(n) % 3, lo=9.0)],
    "rows": lambda n: [ds.LinearConstraint([np.arange(n) % 2, 1 - np.arange(n) % 3], lo=[2.0, -1.0], hi=[3.0, 0.0])],
}


def feasible_masks(problem):
    masks = all_masks(problem.n)
    return masks[problem.feasible(masks)]


def first(problem, **kinds):
    run = Run(problem, seed=0, **kinds)
    offer_first_sets(problem, run, 20)
    return run


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("family", NAMES)
def test_at_least_greedy_and_exchanges(family, kind):
    for n in (6, 11):
        problem = as_problem(FAMILIES[family](n, n), SIZES[kind](n))
        greedy = Run(problem, seed=0)
        offer_greedy_sets(problem, greedy)
        improved = exchange_descent(problem, greedy.mask, greedy.value, lambda: False)[1]
        run, optimum = first(problem), problem.objective.values(feasible_masks(problem)).min()
        assert problem.feasible(run.mask[None])[0]
        assert optimum - 1e-9 <= run.value <= improved + 1e-9 <= greedy.value + 2e-9
        assert family == "table" or run.value <= optimum + 0.1 * abs(optimum) + 1e-9  # a table has no structure
        local = ds.minimize(problem, ds.LocalSearch(restarts=3), seed=0)
        assert local.value <= ds.minimize(problem, ds.Greedy(), seed=0).value + 1e-9


@pytest.mark.parametrize("seed", range(60))
def test_random_constraints(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    problem = as_problem(FAMILIES[NAMES[seed % len(NAMES)]](n, seed), random_constraints(rng, n))
    masks, run = feasible_masks(problem), first(problem)
    assert (run.mask is None) == (len(masks) == 0)
    if len(masks):
        assert problem.feasible(run.mask[None])[0]
        assert run.value == pytest.approx(problem.objective(run.mask))
        greedy, local = (ds.minimize(problem, solver, seed=0) for solver in (ds.Greedy(), ds.LocalSearch(restarts=2)))
        assert problem.objective.values(masks).min() - 1e-9 <= run.value <= greedy.value + 1e-9
        assert local.value <= greedy.value + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_prices_of_neighbours(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    problem = as_problem(FAMILIES["concave"](n, seed), random_constraints(rng, n))
    masks = rng.random((5, n)) < 0.5
    allowed, values = feasible_additions(problem.rows, masks), neighbour_values(problem, masks)
    for b, mask in enumerate(masks):
        for j in np.flatnonzero(~mask):
            grown = mask | (np.arange(n) == j)
            assert allowed[b, j] == problem.feasible(grown[None])[0]
            assert values[b, j] == pytest.approx(problem.objective(grown)) or not allowed[b, j]
        assert np.isinf(values[b, :-1][mask]).all()


def test_exchanges_rest_where_nothing_improves():
    for seed in range(10):
        problem = as_problem(FAMILIES["facility"](9, seed), [ds.Cardinality(3, 4)])
        start = feasible_sets(problem, None, np.random.default_rng(seed), 1)[0]
        mask, value = exchange_descent(problem, start, problem.objective(start), lambda: False)
        near = feasible_masks(problem)
        added, removed = (near & ~mask).sum(axis=1), (mask & ~near).sum(axis=1)
        near = near[(added <= 1) & (removed <= 1)]
        assert value == pytest.approx(problem.objective.values(near).min(), abs=1e-9)
        assert exchange_descent(problem, start, problem.objective(start), lambda: True)[0] is start


@pytest.mark.parametrize("seed", range(40))
def test_repair_keeps_the_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    rows = as_problem(ds.Modular(np.zeros(n)), random_constraints(rng, n)).rows
    masks, weights = rng.random((6, n)) < 0.5, rng.normal(size=n)
    assert rows.satisfied(repaired(rows, masks, rng.random(masks.shape))).all()
    kept = masks[rows.satisfied(masks)]
    assert np.array_equal(repaired(rows, kept, rng.random(kept.shape)), kept)
    everything = all_masks(n)
    everything = everything[rows.satisfied(everything)]
    cheapest = cheapest_set(rows, weights)
    assert len(cheapest) == min(1, len(everything))
    if len(everything):
        assert (cheapest @ weights)[0] == pytest.approx((everything @ weights).min(), abs=1e-6)


def test_rows_that_random_sets_never_keep():
    n = 24
    problem = Problem(
        ds.Modular(np.ones(n)) - 0.0, (ds.LinearConstraint(2.0 ** (np.arange(n) % 12), lo=4097, hi=4097),)
    )
    assert problem.feasible(feasible_sets(problem, None, np.random.default_rng(0), 3)).all()
    assert ds.minimize(problem, ds.Greedy()).value >= 2
    assert ds.minimize(problem, ds.LocalSearch(restarts=2), seed=0).value >= 2


def monotone(rng, n):
    return ds.Modular(np.zeros(n)) - ds.Coverage(incidence(rng, 3 * n, n), rng.random(3 * n))


def test_greedy_keeps_what_it_promises():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        objective, costs = monotone(rng, 9), 0.2 + rng.random(9)
        for constraint, share, solver in (
            (ds.Cardinality(max=3), 1 - 1 / np.e, ds.Greedy()),
            (ds.Partition(rng.integers(0, 3, 9), [1, 2, 1]), 0.5, ds.Greedy()),
            (ds.Knapsack(costs, 1.5), 0.5 * (1 - 1 / np.e), ds.Greedy()),
            (ds.Knapsack(costs, 1.5), 1 - 1 / np.e, ds.Greedy(seeds=3)),
        ):
            problem = as_problem(objective, [constraint])
            best = problem.objective.values(feasible_masks(problem)).min()
            assert ds.minimize(problem, solver).value <= share * best + 1e-9


def test_greedy_by_gain_for_cost():
    g = ds.Modular([10.0, *[9.0] * 10])
    problem = as_problem(ds.Modular(np.zeros(11)) - g, [ds.Knapsack([10.0, *[1.0] * 10], 10.0)])
    assert ds.minimize(problem, ds.Greedy()).value == -90.0
    assert frame_of(as_problem(g, [ds.Partition([0] * 11, [2])])).costs is None
    with pytest.raises(ValueError, match="seeds must be 0 unless direction is 'forward'"):
        ds.Greedy("backward", seeds=1)


def test_a_list_is_filled_before_the_search():
    problem = as_problem(FAMILIES["facility"](10, 0), [ds.Cardinality(max=4)])
    run, values = first(problem, keeps=8), np.sort(problem.objective.values(feasible_masks(problem)))
    assert len(run.best_sets()[1]) == 8
    assert problem.feasible(run.best_sets()[0]).all()
    assert run.best.last <= values[20]


def test_limits_hold():
    problem = as_problem(FAMILIES["facility"](60, 0), [ds.Cardinality(max=9)])
    run = Run(problem, Limits(time_limit=0.0), seed=0)
    offer_first_sets(problem, run, 20)
    assert run.mask is None or problem.feasible(run.mask[None])[0]
    again = [first(problem).best_sets()[0] for _ in range(2)]
    assert np.array_equal(*again)


@pytest.mark.parametrize("kind", [*SIZES, "random"])
def test_modular_steps_are_exact(kind):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 8
        problem = as_problem(
            ds.Modular(np.zeros(n)), random_constraints(rng, n) if kind == "random" else SIZES[kind](n)
        )
        masks = feasible_masks(problem)
        if len(masks) == 0:
            continue
        weights = rng.normal(size=(5, n)).round(1) * 10.0 ** rng.integers(-3, 6)
        least = ModularStep(problem).least(weights, np.repeat(masks[:1], 5, axis=0), lambda: False)
        assert problem.feasible(least).all()
        best = (masks @ weights.T).min(axis=0)
        np.testing.assert_allclose((least * weights).sum(axis=1), best, atol=1e-6 * np.abs(weights).max())
        given = np.repeat(masks[-1:], 5, axis=0)
        assert problem.feasible(ModularStep(problem).least(weights, given, lambda: True)).all()
