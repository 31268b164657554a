"""Interval branch and bound against enumeration, and the bounds against their definitions."""

import pickle

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.interval.bound import free
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.run.driver import take
from dsprog.run.run import Run
from dsprog.testing import check_result, check_solver
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import between

SETTINGS = {
    "default": BranchAndBound(),
    "no extensions": BranchAndBound(extensions=False),
    "modular only": BranchAndBound(bounds=("modular",), leaf=0),
    "dual only": BranchAndBound(bounds=("dual",), leaf=0, batch=3),
    "tiny units": BranchAndBound(unit=5, batch=2, leaf=0, steps=2),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_kit(setting):
    check_solver(SETTINGS[setting], largest=6, seeds=[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_larger_instances(family):
    for seed in range(4):
        n = 9 + seed
        objective = FAMILIES[family](n, seed)
        result = ds.minimize(objective, BranchAndBound())
        assert result.status == "optimal"
        check_result(result, objective)


@pytest.mark.parametrize("family", FAMILIES)
def test_constraints(family):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 9))
        objective, constraints = FAMILIES[family](n, seed), random_constraints(rng, n)
        feasible = as_problem(objective, constraints).feasible(all_masks(n))
        result = ds.minimize(objective, BranchAndBound(), constraints=constraints)
        if feasible.any():
            assert result.status == "optimal"
            check_result(result, objective, feasible)
        else:
            assert result.status == "infeasible"


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_bound_is_below_the_minimum_of_its_interval(family, setting):
    """Also: children are never below their parents, and fixing loses nothing better than the cutoff."""
    rng = np.random.default_rng(3)
    n = 7
    for constraints in ([], [ds.Cardinality(2, 5)]):
        problem = as_problem(FAMILIES[family](n, 1), constraints)
        masks = all_masks(n)
        values = np.where(problem.feasible(masks), problem.objective.values(masks), np.inf)
        slack = 1e-8 * np.abs(problem.objective.values(masks)).max()
        search = IntervalSearch(problem, Run(problem), SETTINGS[setting])
        I = rng.random((20, n)) < 0.2
        U = I | (rng.random((20, n)) < 0.8)
        nodes = {"lower": np.full(20, -np.inf), "I": I, "U": U, "x": np.where(I, 1.0, np.where(U, 0.5, 0.0))}
        best = values.min()
        for cutoff in (np.inf, best + 0.1 * abs(best)):
            for row in range(20):
                inside = between(masks, I[row], U[row])
                minimum = values[inside].min()
                node = take(nodes, [row])
                search._prepare(node, search.bounds)
                for bound in search.bounds:
                    assert not len(node["lower"]) or node["lower"][0] <= minimum + slack
                    before = node["lower"].copy()
                    tightened = bound.tighten(node, cutoff)
                    node = tightened.nodes
                    assert tightened.closed >= cutoff - slack
                    if len(node["lower"]) == 0:
                        assert minimum >= cutoff - slack
                        break
                    assert node["lower"][0] <= minimum + slack
                    assert node["lower"][0] >= before[0]
                    search._move(node, tightened.include, tightened.exclude)
                    left = between(masks, node["I"][0], node["U"][0])
                    if minimum < cutoff - slack:
                        assert values[inside & left].min(initial=np.inf) <= minimum + slack
                else:
                    children = search._split(take(node, free(node).any(axis=1)))
                    assert (children["lower"] >= node["lower"].min(initial=np.inf)).all()


@pytest.mark.parametrize("constraints", [[], [ds.Cardinality(3, 6)]])
def test_without_a_first_incumbent(constraints):
    for seed in range(3):
        objective = FAMILIES["concave"](9, seed)
        result = ds.minimize(objective, BranchAndBound(starts=0, leaf=0), constraints=constraints)
        assert result.status == "optimal"
        check_result(result, objective, as_problem(objective, constraints).feasible(all_masks(9)))


def test_relabelling_changes_nothing_but_the_labels():
    for family in ("concave", "coverage", "facility"):
        rng = np.random.default_rng(7)
        objective, permutation = FAMILIES[family](14, 2), rng.permutation(14)
        plain, relabelled = ds.minimize(objective), ds.minimize(objective.relabel(permutation))
        assert relabelled.value == pytest.approx(plain.value)
        assert sorted(permutation[list(relabelled.S)]) == list(plain.S)


def test_runs_are_reproducible():
    objective = FAMILIES["concave"](24, 5)
    first, second = (ds.minimize(objective, BranchAndBound(unit=200)) for _ in range(2))
    assert (first.S, first.value, first.lower_bound, first.nodes) == (
        second.S,
        second.value,
        second.lower_bound,
        second.nodes,
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_scales(scale):
    for seed in range(5):
        objective = scale * FAMILIES["concave"](10, seed)
        result = ds.minimize(objective)
        assert result.certified
        assert result.value == pytest.approx(objective.values(all_masks(10)).min(), rel=1e-9)


def test_mixed_scales_and_near_ties():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = 10.0 ** rng.uniform(-6, 9, 9)
        objective = (ds.ConcaveOfModular(rng.random((4, 9)) * weights) + ds.Modular(rng.normal(size=9) * weights)) - (
            ds.ConcaveOfModular(rng.random((4, 9)) * weights)
        )
        check_result(ds.minimize(objective), objective)
    base = ds.Modular(np.zeros(8)) - ds.CardinalityConcave(8, np.minimum(np.arange(9.0), 4))
    for seed in range(10):
        objective = base + ds.Modular(1e-9 * np.random.default_rng(seed).normal(size=8))
        result = ds.minimize(objective)
        values = objective.values(all_masks(8))
        assert result.certified
        assert result.value <= values.min() + 1e-8
        assert result.lower_bound <= values.min() + 1e-15


def test_integral_data_round_their_bounds():
    result = ds.minimize(FAMILIES["pairwise"](12, 0))
    assert result.lower_bound == result.value == round(result.value)


def test_certified_only_by_what_the_functions_know():
    f, g = FAMILIES["concave"](9, 0).f, FAMILIES["concave"](9, 0).g
    unknown = ds.FromCallable(f, 9) - g
    result = ds.minimize(unknown, BranchAndBound())
    assert (result.status, result.certified, result.lower_bound) == ("finished", False, -np.inf)
    assert "f is not known to be submodular" in result.message
    assert result.value == pytest.approx(ds.minimize(f - g).value)
    with pytest.raises(ValueError, match="f must be submodular, but it is not submodular"):
        ds.minimize(ds.FromCallable(lambda S: len(S) ** 2, 9) - g, BranchAndBound())


def test_monotone_terms_are_certified_without_submodularity():
    rng = np.random.default_rng(0)
    loss = ds.LeastSquares(rng.normal(size=(15, 8)), rng.normal(size=15))
    objective = loss + ds.Modular(0.01 * np.ones(8))
    result = ds.minimize(objective, BranchAndBound(bounds=("monotone",)))
    assert result.certified
    assert "monotone" in result.proof
    check_result(result, objective)


def test_information_with_a_class_takes_the_monotone_bound():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (200, 10)), rng.integers(0, 2, 200)
    information = ds.MutualInformation(X, y)
    objective = information(range(10)) - information - information.complement()
    assert objective.knows.symmetric
    result = ds.minimize(objective, constraints=[ds.Cardinality(1, 9)])
    assert result.certified
    masks = all_masks(10)
    check_result(result, objective, (masks.sum(axis=1) > 0) & (masks.sum(axis=1) < 10))


def test_limits_give_valid_bounds(clock):
    clock.tick = 0.001
    objective = FAMILIES["concave"](30, 30)
    optimum = ds.minimize(objective).value
    for limits in ({"node_limit": 50}, {"node_limit": 300}, {"time_limit": 0.02}, {"gap": 0.2}):
        result = ds.minimize(objective, BranchAndBound(unit=64, batch=16), **limits)
        assert result.lower_bound <= optimum + 1e-9
        assert result.value >= optimum - 1e-9
        assert result.certified == (result.status in ("gap", "optimal"))
        if result.status == "gap":
            assert result.gap <= 0.2


@pytest.mark.parametrize("family", FAMILIES)
def test_no_time_at_all_still_leaves_a_bound_and_a_set(family):
    objective = FAMILIES[family](12, 0)
    result = ds.minimize(objective, BranchAndBound(), time_limit=0.0)
    assert np.isfinite([result.value, result.lower_bound]).all()
    assert result.lower_bound <= objective.values(all_masks(12)).min() + 1e-9


def test_bad_options():
    with pytest.raises(ValueError, match="bounds must be among modular, dual, monotone, pairs, got 'magic'"):
        BranchAndBound(bounds=("magic",))
    with pytest.raises(ValueError, match="bounds: monotone does not work with this problem: it needs an objective"):
        ds.minimize(
            ds.Cut(np.ones((3, 3)) - np.eye(3)) - ds.CardinalityConcave(3), BranchAndBound(bounds=("monotone",))
        )


@pytest.mark.parametrize("family", ["concave", "coverage", "facility", "rank", "entropy"])
def test_scip_agrees(family):
    pytest.importorskip("pyscipopt")
    for n, constraints in ((0, []), (1, []), (7, []), (9, [ds.Cardinality(2, 4)])):
        objective = FAMILIES[family](n, 2)
        ours = ds.minimize(objective, constraints=constraints)
        theirs = ds.minimize(objective, ds.Scip(), constraints=constraints)
        assert theirs.status == "optimal"
        assert theirs.value == pytest.approx(ours.value, abs=1e-5)


def test_a_unit_of_work_is_pure_data():
    """Pickled with its nodes, a search expands them elsewhere to the same nodes, sets and bounds."""
    problem = as_problem(FAMILIES["concave"](16, 3), [])
    search = IntervalSearch(problem, Run(problem), BranchAndBound(unit=30, batch=10))
    bundle = search.root()
    here = search.expand(bundle, 0.0)
    there = pickle.loads(pickle.dumps(search)).expand(pickle.loads(pickle.dumps(bundle)), 0.0)
    assert here.nodes == there.nodes
    assert here.closed == there.closed
    assert len(here.bundles) == len(there.bundles) > 0
    for ours, theirs in zip(here.bundles, there.bundles):
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])
