"""Bounds under constraints: never above the best feasible set of an interval, and none of the better ones is lost."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.interval.contest import shares
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.exact.interval.modular_bound import PAIRINGS, minorant
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.run.driver import take
from dsprog.run.run import Run
from dsprog.testing import check_result
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import between

NAMES = [name for name in FAMILIES if name not in ("table", "callable")]
ROWS = {
    "random": random_constraints,
    "size": lambda rng, n: [ds.Cardinality(0, int(rng.integers(0, n + 1)))],
    "exact size": lambda rng, n: [ds.Cardinality(*[int(rng.integers(0, n + 1))] * 2)],
    "weights": lambda rng, n: [ds.Knapsack(rng.integers(0, 5, n), float(rng.integers(1, 2 * n)))],
    "blocks": lambda rng, n: [ds.Partition(rng.integers(0, 3, n), rng.integers(0, 4, 3))],
}
SETTINGS = (BranchAndBound(), BranchAndBound(bounds=("modular",)), BranchAndBound(bounds=("dual", "modular"), steps=2))


def random_nodes(rng, n, count):
    I, U = rng.random((count, n)) < 0.15, rng.random((count, n)) < 0.9
    U |= I
    return {
        "lower": np.full(count, -np.inf),
        "I": I,
        "U": U,
        "x": np.where(U, np.where(I, 1.0, rng.random((count, n))), 0),
    }


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("family", NAMES)
def test_bounds_are_below_every_feasible_set(family, kind):
    n = 8
    masks = all_masks(n)
    for seed, options in enumerate(SETTINGS):
        rng = np.random.default_rng([seed, len(family), len(kind)])
        problem = as_problem(FAMILIES[family](n, seed) * 10.0**seed, ROWS[kind](rng, n))
        values = np.where(problem.feasible(masks), problem.objective.values(masks), np.inf)
        slack = 1e-9 * max(1.0, np.abs(problem.objective.values(masks)).max())
        search = IntervalSearch(problem, Run(problem), options)
        best = values.min()
        for cutoff in (np.inf, best + 0.1 * abs(best) if np.isfinite(best) else 0.0):
            nodes = random_nodes(rng, n, 30)
            for row in range(30):  # one by one, so that every way to step has its turn
                inside = between(masks, nodes["I"][row], nodes["U"][row])
                minimum = values[inside].min()
                node = take(nodes, [row])
                search._prepare(node, search.bounds)
                for bound in search.bounds:
                    tightened = bound.tighten(node, cutoff)
                    node = tightened.nodes
                    assert tightened.closed >= cutoff - slack
                    if len(node["lower"]) == 0:
                        assert minimum >= cutoff - slack
                        break
                    assert node["lower"][0] <= minimum + slack
                    search._move(node, tightened.include, tightened.exclude)
                    left = between(masks, node["I"][0], node["U"][0])
                    if minimum < cutoff - slack:
                        assert values[inside & left].min(initial=np.inf) <= minimum + slack


@pytest.mark.parametrize("family", NAMES)
def test_the_four_minorants(family):
    n, rng = 7, np.random.default_rng(1)
    problem = as_problem(FAMILIES[family](n, 1), [ds.Cardinality(max=3)])
    search = IntervalSearch(problem, Run(problem), BranchAndBound(bounds=("modular",)))
    masks, nodes = all_masks(n), random_nodes(rng, n, 10)
    search._prepare(nodes, search.bounds)
    search.material.ends.refresh(nodes)
    values = problem.objective.values(masks)
    for pairing in PAIRINGS:
        constants, d = minorant(nodes, *pairing)
        for row in range(10):
            inside = between(masks, nodes["I"][row], nodes["U"][row])
            below = constants[row] + (masks[inside] & ~nodes["I"][row]) @ d[row]
            assert (below <= values[inside] + 1e-9 * max(1.0, np.abs(values).max())).all()


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("family", NAMES)
def test_optima_under_rows(family, kind):
    for seed in range(3):
        rng = np.random.default_rng([seed, 5])
        n = int(rng.integers(1, 11))
        objective, constraints = FAMILIES[family](n, seed), ROWS[kind](rng, n)
        feasible = as_problem(objective, constraints).feasible(all_masks(n))
        for solver in (None, BranchAndBound(), BranchAndBound(starts=0, leaf=0, batch=3, unit=9)):
            result = ds.minimize(objective, solver, constraints=constraints)
            if feasible.any():
                assert result.certified
                check_result(result, objective, feasible)
            else:
                assert result.status == "infeasible"


def test_shares_of_a_gap():
    before, after = np.array([-np.inf, 0.0, 0.0, 0.5]), np.array([1.0, 0.5, 3.0, 0.2])
    assert shares(before, after, 1.0).tolist() == [0.0, 0.5, 1.0, 0.0]


def test_influence_is_bounded_by_its_best_gains():
    rng = np.random.default_rng(0)
    weights = rng.random((60, 40)) * (rng.random((60, 40)) < 0.1)
    g = ds.ConcaveOfModular(weights, concave=(lambda t: 1 - np.exp(-t), lambda t: np.exp(-t)))
    gains = np.sort(g.marginals(np.zeros((1, 40), dtype=bool))[0])[-4:].sum()
    objective = ds.Modular(np.zeros(40)) - g
    result = ds.minimize(objective, BranchAndBound(), constraints=[ds.Cardinality(max=4)], node_limit=0)
    assert -gains - 1e-6 <= result.lower_bound
