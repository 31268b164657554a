"""Quadratic functions: bounds, searches and the solver against enumeration, over random signs and densities."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.quadratic_form import Steps
from dsprog.exact.quadratic.form_search import FormSearch
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound, as_it_is
from dsprog.exact.quadratic.roof_search import roof_search
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.presolve.quadratic import problem_of
from dsprog.run.driver import Bundle
from dsprog.run.run import Run
from dsprog.testing import check_result
from tests.helpers.instances import block_diagonal
from tests.helpers.quadratic import agreeing, minimum, random_form


@pytest.mark.parametrize("seed", range(80))
def test_roof_search(seed):
    form = random_form(seed)
    start = np.random.default_rng(seed).random(form.n) < 0.5
    mask, value, _, closed = roof_search(form, start, Steps.of(form), 0.0, 10_000)
    assert closed
    assert value == pytest.approx(minimum(form))
    assert value == pytest.approx(form.values(mask[None])[0])
    _, early, used, _ = roof_search(form, start, Steps.of(form), 0.0, 1)
    assert used <= 1
    assert early >= minimum(form) - 1e-9 * form.scale


@pytest.mark.parametrize("seed", range(40))
def test_semidefinite_bound_is_valid_at_every_point(seed):
    form = random_form(seed)
    C, k = form.spin_matrix()
    best, before = minimum(form), -np.inf
    for most in (0, 1, 3, 10, 60):
        outcome = InteriorPoint(most=most).run(SemidefinitePoint.diagonally_dominant(C), k - best)
        assert k - outcome.bound <= best + 1e-9 * form.scale
        assert np.linalg.eigvalsh(outcome.point.Z()).min() >= -1e-9 * max(form.scale, 1.0)
        assert (outcome.point.cuts.gamma >= 0).all()
        before = max(before, k - outcome.bound)
    assert before >= best - 0.2 * max(form.scale, 1.0)


@pytest.mark.parametrize("seed", range(60))
def test_odd_cycle_bound(seed):
    form = random_form(seed)
    best = minimum(form)
    bound = OddCycleBound(form, np.random.default_rng(0))
    lower = bound.run(np.inf, lambda z: (False, np.inf))
    assert lower <= best + 1e-9 * form.scale
    assert bound.labels().shape == (form.n,)
    if form.submodular:
        assert lower == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("sparse", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(30))
def test_children_are_never_below_their_parents_and_hold_the_minimum(seed, sparse):
    form = random_form(seed)
    run, options = Run(problem_of(form)), QuadraticBranchAndBound(sparse=sparse)
    search = FormSearch(run, form, Steps.of(form), np.random.default_rng(0), options, as_it_is)
    best, slack = minimum(form), 1e-8 * max(1.0, form.scale)

    def check(bundle: Bundle) -> float:
        """The least value found or closed under a node."""
        inside = form.values(agreeing(bundle["labels"][0], form.n)).min()
        assert bundle["lower"][0] <= inside + slack
        found = search.expand(bundle, best)
        assert found.closed >= bundle["lower"][0] - slack
        assert (found.values >= best - slack).all()
        for child in found.bundles:
            assert child["lower"][0] >= bundle["lower"][0] - slack
        return min([found.closed, found.values.min(), *(check(child) for child in found.bundles)])

    assert check(search.root()) == pytest.approx(best, abs=slack)


@pytest.mark.parametrize("trial", [0, 50])
@pytest.mark.parametrize("sparse", [0.0, 1.0])
@pytest.mark.parametrize("probing", [False, True])
def test_the_solver_against_enumeration(trial, sparse, probing):
    for seed in range(12):
        form = random_form(seed + 100, largest=16)
        objective = problem_of(form).objective
        result = ds.minimize(objective, QuadraticBranchAndBound(trial=trial, sparse=sparse, probing=probing))
        assert result.status == "optimal"
        check_result(result, objective)


@pytest.mark.parametrize("family", ["cut", "pairwise"])
def test_families_shifted_and_scaled(family):
    for n in range(9):
        plain = FAMILIES[family](n, n)
        for objective in (plain, plain + 1000.0, plain.f - plain.f, 1e-6 * plain, 1e6 * plain):
            result = ds.minimize(objective, QuadraticBranchAndBound(trial=0))
            assert result.status == "optimal"
            check_result(result, objective)


def test_the_default_for_quadratic_objectives():
    result = ds.minimize(FAMILIES["pairwise"](12, 0))
    assert result.solver == "QuadraticBranchAndBound"
    assert result.lower_bound == result.value == round(result.value)
    constrained = ds.minimize(FAMILIES["pairwise"](8, 0), constraints=[ds.Cardinality(max=3)])
    assert constrained.solver == "BranchAndBound"
    with pytest.raises(ValueError, match="needs a sum of cuts, Pairwise and modular functions; use another solver"):
        ds.minimize(FAMILIES["concave"](5, 0), QuadraticBranchAndBound())


def test_separate_blocks_are_solved_one_by_one():
    rng = np.random.default_rng(1)
    blocks = [np.triu(rng.integers(-9, 10, (n, n)), 1) for n in (6, 9, 12)]
    P, u = block_diagonal(*blocks), rng.integers(-9, 10, 27)
    result = ds.minimize(ds.Pairwise(P, u))
    parts = [ds.Pairwise(P[a:z, a:z], u[a:z]).values(all_masks(z - a)).min() for a, z in ((0, 6), (6, 15), (15, 27))]
    assert result.certified
    assert result.value == sum(parts)


def test_limits_checkpoints_and_interruption(tmp_path):
    rng = np.random.default_rng(4)
    objective = ds.Pairwise(np.triu(rng.integers(-50, 51, (55, 55))))
    whole = ds.minimize(objective)
    assert whole.certified
    assert "semidefinite" in whole.proof
    path = tmp_path / "run.npz"
    first = ds.minimize(objective, node_limit=1003, checkpoint=path)
    assert first.status == "node_limit"
    assert first.lower_bound <= whole.value
    again = ds.minimize(objective, checkpoint=path)
    assert (again.value, again.lower_bound, again.certified) == (whole.value, whole.lower_bound, True)
    stopped = ds.minimize(objective, time_limit=0.0)
    assert stopped.status == "time_limit"
    assert stopped.lower_bound <= whole.value <= stopped.value
    near = ds.minimize(objective, gap=0.5)
    assert near.status in ("gap", "optimal")
    assert near.lower_bound <= whole.value


def test_tabu_search_reports_true_values():
    form = random_form(3, largest=12)
    rng = np.random.default_rng(0)
    masks, values = tabu_search(form, random_starts(form.n, 5, rng), rng)
    np.testing.assert_allclose(values, form.values(masks))
    assert values.min() == pytest.approx(minimum(form))


def test_a_set_within_rounding_of_an_odd_cycle_bound_is_optimal():
    rng = np.random.default_rng(0)
    for seed in range(12):
        n = 13
        P = np.triu(rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < 0.7), 1).astype(float)
        objective = ds.Pairwise(P, np.round(rng.normal(size=n), 2))
        result = ds.minimize(objective, QuadraticBranchAndBound(trial=3, sparse=1.0, large=8))
        assert result.status == "optimal", seed
        check_result(result, objective)
