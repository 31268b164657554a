"""The K best sets against enumeration."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from tests.helpers.enumeration import check_best


@pytest.mark.parametrize("family", FAMILIES)
def test_k_best(family):
    for n in (1, 2, 5, 8):
        for k in (1, 2, 7, 300):
            objective = FAMILIES[family](n, n)
            check_best(ds.enumerate_best(objective, k), objective, k)


@pytest.mark.parametrize("family", FAMILIES)
def test_k_best_with_constraints_and_distance(family):
    n = 8
    for seed in range(3):
        objective, constraints = FAMILIES[family](n, seed), [ds.Cardinality(2, 5), ds.Exclude([1])]
        feasible = as_problem(objective, constraints).feasible(all_masks(n))
        check_best(ds.enumerate_best(objective, 12, constraints=constraints), objective, 12, feasible)
        values = np.sort(objective.values(all_masks(n)))
        within = float(values[9] - values[0]) * (1 + 1e-12)
        check_best(ds.enumerate_best(objective, 500, within), objective, 500, within=within)


def test_brute_force_lists_too():
    objective = FAMILIES["concave"](7, 0)
    check_best(ds.enumerate_best(objective, 9, solver=ds.BruteForce()), objective, 9)


def test_all_tied():
    best = ds.enumerate_best(ds.Modular(np.zeros(5)) - 1.0, 40)
    assert len(best) == 32
    assert best.certified
    again = ds.enumerate_best(ds.Modular(np.zeros(9)), 5)
    assert again.values == (0.0,) * 5
    assert again.sets == ds.enumerate_best(ds.Modular(np.zeros(9)), 5).sets


def test_stopped_lists_are_not_certified():
    best = ds.enumerate_best(FAMILIES["concave"](30, 30), 5, solver=ds.BranchAndBound(batch=8), node_limit=16)
    assert not best.certified
    assert best.status == "node_limit"
    assert 1 <= len(best) <= 5


def test_bad_arguments():
    f = ds.CardinalityConcave(3)
    for arguments, sentence in (
        ({"k": 0}, "k must be at least 1"),
        ({"within": -1.0}, "within must be at least 0"),
        ({"solver": "x"}, "solver must be a Solver object"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            ds.enumerate_best(f, **arguments)


def test_a_list_costs_little_more_than_one_set():
    for family in ("concave", "coverage", "facility", "logdet"):
        problem = as_problem(FAMILIES[family](20, 5), [ds.Cardinality(max=8)])
        one = ds.minimize(problem, ds.BranchAndBound())
        five = ds.enumerate_best(problem, 5, solver=ds.BranchAndBound())
        assert five.certified
        assert five.values[0] == pytest.approx(one.value)
        assert five.nodes <= 5 * one.nodes
