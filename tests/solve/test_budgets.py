"""Budgets are safe everywhere: every solver that accepts a problem keeps its rows, and proves what it says."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.testing import check_result

N = 7
EXACT = {
    "default": None,
    "interval": ds.BranchAndBound(),
    "compact": ds.CompactModel(),
    "brute": ds.BruteForce(),
    "race": ds.Race(),
}
APPROXIMATE = {
    "greedy": ds.Greedy(restarts=2),
    "local": ds.LocalSearch(restarts=2),
    "tabu": ds.LocalSearch("tabu", restarts=2, steps=10),
    "mod-mod": ds.ModMod(restarts=2),
    "sup-sub": ds.SupSub(restarts=2),
    "ssp": ds.SSP(restarts=2),
}
BUDGETS = {
    "none": [ds.Cardinality(0, 0)],
    "one": [ds.Cardinality(1, 1)],
    "half": [ds.Cardinality(3, 3)],
    "but one": [ds.Cardinality(N - 1, N - 1)],
    "all": [ds.Cardinality(N, N)],
    "weights": [ds.Knapsack([2, 3, 1, 4, 2, 0, 5], 6)],
    "blocks": [ds.Partition([0, 0, 1, 1, 2, 2, 2], [1, 1, 2]), ds.Cardinality(2)],
    "half with one": [ds.Cardinality(3, 3), ds.Include([2]), ds.Exclude([4])],
}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_solver_under_a_budget(family, budget):
    objective, constraints = FAMILIES[family](N, 2), BUDGETS[budget]
    feasible = as_problem(objective, constraints).feasible(all_masks(N))
    optimum = objective.values(all_masks(N)[feasible]).min()
    exact = EXACT if family in ("concave", "facility", "rank") else {"default": None, "interval": EXACT["interval"]}
    for name, solver in exact.items():
        result = ds.minimize(objective, solver, constraints=constraints, seed=0)
        check_result(result, objective, feasible)
        assert result.certified or not objective.is_certifiable, name
        assert result.value == pytest.approx(optimum, abs=1e-7), name
    for name, solver in APPROXIMATE.items():
        result = ds.minimize(objective, solver, constraints=constraints, seed=0)
        check_result(result, objective, feasible)
        assert result.status == "local", name


@pytest.mark.parametrize("budget", BUDGETS)
def test_prisms_and_least_squares_under_a_budget(budget):
    constraints, rng = BUDGETS[budget], np.random.default_rng(0)
    loss = ds.LeastSquares(rng.normal(size=(20, N)), rng.normal(size=20))
    for objective, solver in (
        (FAMILIES["concave"](N, 0), ds.Prismatic(subdivision="optimum", no_goods=True)),
        (loss + ds.Modular(np.full(N, 0.1)), ds.PerspectiveBranchAndBound()),
    ):
        result = ds.minimize(objective, solver, constraints=constraints)
        check_result(
            result, as_problem(objective, ()).objective, as_problem(objective, constraints).feasible(all_masks(N))
        )
        assert result.certified
