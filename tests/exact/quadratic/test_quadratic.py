"""Quadratic functions: bounds, searches and the solver against enumeration, over random signs and densities."""

from itertools import combinations, product

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.exact.quadratic import semidefinite_path
from dsprog.exact.quadratic.form_search import FormSearch
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound, as_it_is
from dsprog.exact.quadratic.roof_search import roof_search
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint, is_positive_definite
from dsprog.exact.quadratic.semidefinite_cuts import (
    OddCuts,
    best_pairs_kernel,
    violated_kernel,
    violated_pentagons,
    violated_triangles,
)
from dsprog.exact.quadratic.semidefinite_path import CentralPath, InteriorPoint
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.presolve.quadratic import form_of, problem_of
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
    result = ds.minimize(FAMILIES["pairwise"](20, 0))
    assert result.solver == "QuadraticBranchAndBound"
    assert result.lower_bound == result.value == round(result.value)
    knapsack = [ds.Knapsack(np.arange(1.0, 21.0), 60.0)]
    assert ds.minimize(FAMILIES["pairwise"](20, 0), constraints=knapsack).solver == "BranchAndBound"
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
    rng = np.random.default_rng(6)
    objective = ds.Pairwise(np.triu(rng.integers(-50, 51, (70, 70))))
    whole = ds.minimize(objective)
    assert whole.certified
    assert "semidefinite" in whole.proof
    path = tmp_path / "run.npz"
    solver = QuadraticBranchAndBound(trial=0)
    first = ds.minimize(objective, solver, node_limit=3, checkpoint=path)
    assert first.status == "node_limit"
    assert first.lower_bound <= whole.value
    again = ds.minimize(objective, solver, checkpoint=path)
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


def random_cuts(rng, N, count):
    """Whole numbers with an odd sum on three or five vertices, with weights."""
    A = np.zeros((count, N))
    for row in A:
        entries = 5 if N >= 5 and rng.random() < 0.5 else 3
        row[rng.choice(N, entries, replace=False)] = rng.choice([-1.0, 1.0], entries)
    return OddCuts.dense(A, rng.random(count))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("seed", range(12))
def test_any_feasible_point_bounds_every_cut(seed, scale):
    """Random y and γ, moved into the cone as little as a factorisation allows."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(3, 11))
    C = np.triu(rng.normal(size=(N, N)), 1)
    C = scale * (C + C.T)
    point = SemidefinitePoint(C, scale * rng.normal(size=N), random_cuts(rng, N, int(rng.integers(0, 8))))
    point.cuts.gamma *= scale
    point.y += max(0.0, -float(np.linalg.eigvalsh(point.Z())[0]))
    while not is_positive_definite(point.Z()):
        point.y += 1e-13 * scale
    signs = 1.0 - 2.0 * all_masks(N)
    values = np.einsum("bi,ij,bj->b", signs, C, signs)
    assert values.max() <= point.bound()
    assert point.rounding <= 1e-9 * (np.abs(C).sum() + np.abs(point.y).sum() + point.cuts.sums(N).sum())
    X = np.linalg.inv(point.Z() + 1e-6 * scale * np.eye(N))
    for target in np.quantile(values, [0.3, 0.9, 1.0]):
        implied = point.implied(X, float(target))
        better = signs[values > target] * signs[values > target][:, :1]
        assert (better[:, implied != 0] == implied[implied != 0]).all()


@pytest.mark.parametrize("seed", range(10))
def test_cuts_are_valid_violated_and_counted_once(seed):
    rng = np.random.default_rng(seed)
    N = 9
    X = unit_gram(rng, N)
    signs = 1.0 - 2.0 * all_masks(N)
    triangles = violated_triangles(X, 40, -0.02, 2)
    pentagons = violated_pentagons(X, violated_triangles(X, 300, 0.5, 300), 40, -0.02)
    for cuts in (triangles, pentagons, triangles.extended(pentagons)):
        A = np.zeros((len(cuts), N))
        np.add.at(A, (np.arange(len(cuts))[:, None], cuts.vertices), cuts.signs)
        assert (np.abs(signs @ A.T) >= 1).all()
        np.testing.assert_allclose(np.einsum("ki,ij,kj->k", A, X, A), cuts.gram(X), atol=1e-12)
        assert (cuts.gram(X) < 1.0).all()
        assert len(np.unique(cuts.keys())) == len(cuts)
    assert (np.diff(triangles.extended(pentagons).signs[:, 3] != 0) >= 0).all()


def unit_gram(rng, N):
    """The Gram matrix of unit vectors in space."""
    V = rng.normal(size=(N, 3))
    V /= np.linalg.norm(V, axis=1)[:, None]
    return V @ V.T


@pytest.mark.parametrize("seed", range(5))
def test_separation_finds_all_triangles_and_the_best_pairs(seed):
    N, threshold = 8, -0.1
    X = unit_gram(np.random.default_rng(seed), N)

    def excess(vertices, signs):
        return 0.5 * (np.array(signs) @ X[np.ix_(vertices, vertices)] @ np.array(signs) - 1.0)

    every = [(v, (*s, 1.0)) for v in combinations(range(N), 3) for s in product((1.0, -1.0), repeat=2)]
    expected = {triangle: excess(*triangle) for triangle in every if excess(*triangle) < threshold}
    vertices, signs, violation = np.zeros((500, 5), dtype=np.int64), np.zeros((500, 5)), np.empty(500)
    count = violated_kernel(X, threshold, vertices, signs, violation)
    found = {(tuple(v), tuple(s)): e for v, s, e in zip(vertices[:count, :3], signs[:count, :3], violation)}
    assert count == len(found)
    assert found == pytest.approx(expected)

    pairs, turns, least = np.zeros((count, 2), dtype=np.int64), np.zeros((count, 2)), np.zeros(count)
    best_pairs_kernel(X, vertices[:count], signs[:count], pairs, turns, least)
    for t, (v, s) in enumerate(found):
        others = combinations([i for i in range(N) if i not in v], 2)
        best = min(excess((*v, *ij), (*s, *e)) for ij in others for e in product((1.0, -1.0), repeat=2))
        assert excess((*v, *pairs[t]), (*s, *turns[t])) == pytest.approx(best)
        assert violation[t] + 1.0 + least[t] == pytest.approx(best)


def test_more_violated_triangles_than_there_is_room_for():
    """The worst of all are found; and some are where all are equal."""
    X = unit_gram(np.random.default_rng(0), 60)
    assert violated_kernel(X, -0.1, *(np.zeros((5000, 5), t) for t in (int, float)), np.empty(5000)) == 5000
    i, j, k = np.array(list(combinations(range(60), 3))).T
    sides = product((1.0, -1.0), repeat=2)
    worst = min((1.0 + p * X[i, j] + q * X[i, k] + p * q * X[j, k]).min() for p, q in sides)
    assert 0.5 * (violated_triangles(X, 10, -0.1).gram(X)[0] - 1.0) == pytest.approx(worst)
    equal = np.where(np.eye(40) > 0, 1.0, -0.5)
    assert len(violated_triangles(equal, 10, -0.2, 1)) == 10


@pytest.mark.parametrize("scale", [1e-60, 1e-6, 1.0, 1e8, 1e60])
@pytest.mark.parametrize("pentagons", [0, 10])
def test_the_bound_scales_and_pentagons_tighten_it(scale, pentagons):
    form = random_form(41, largest=10)
    C = form.spin_matrix()[0]
    signs = 1.0 - 2.0 * all_masks(len(C))
    best = np.einsum("bi,ij,bj->b", signs, C, signs).max()
    path = InteriorPoint(pentagons=pentagons)
    outcome = path.run(SemidefinitePoint.diagonally_dominant(scale * C), scale * best)
    assert outcome.bound >= scale * best
    assert outcome.bound <= scale * best + 0.05 * scale * form.scale


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("X", ["the last", "no matrix of signs", "indefinite"])
def test_the_bound_is_valid_wherever_the_primal_iterate_begins(seed, X):
    form = random_form(seed, largest=11)
    C, k = form.spin_matrix()
    best, point = minimum(form), SemidefinitePoint.diagonally_dominant(C)
    first = InteriorPoint(most=10).run(point, k - best)
    N = len(C)
    start = {"the last": first.X, "no matrix of signs": 1e-3 * np.eye(N), "indefinite": 2.0 * np.eye(N) - 1.0}[X]
    outcome = InteriorPoint().run(first.point, k - best, X=start)
    assert k - outcome.bound <= best + 1e-9 * form.scale
    assert k - outcome.bound >= best - 0.2 * max(form.scale, 1.0)
    assert np.linalg.eigvalsh(outcome.point.Z()).min() >= -1e-9 * max(form.scale, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_path_is_followed_to_its_end_in_double_precision(seed):
    """Far beyond what single precision resolves: steps change to double."""
    C = random_form(50 + seed, largest=10).spin_matrix()[0]
    loose = InteriorPoint(violation=-np.inf, pentagons=0)  # no cuts
    point = SemidefinitePoint.diagonally_dominant(C)
    path = CentralPath(loose, point, -np.inf, lambda: False)
    while path.gap > 1e-11 * path.point().value and path.iterations < 100 and path.step(path.point().bound()):
        path.iterations += 1
    assert not path.single
    assert path.gap <= 1e-9 * path.point().value
    assert is_positive_definite(path.point().Z())


def test_a_step_restores_of_the_primal_rows_what_it_asks_for():
    """Rows are linear: what X misses shrinks by the share that was asked for, times the length of the step."""
    draws = np.triu(np.random.default_rng(0).integers(-9, 10, (20, 20)), 1)
    C = draws + draws.T + 0.0
    path = CentralPath(InteriorPoint(), SemidefinitePoint.diagonally_dominant(C), -np.inf, lambda: False)
    for step in range(12):
        if step == 5:
            assert path.exchange_cuts(path.gap / path.size)
        before, asked = path.residual(), max(semidefinite_path.RESTORED, path.lengths[0])
        assert path.step(path.point().bound())
        expected = (1.0 - path.lengths[0] * asked) * before
        np.testing.assert_allclose(path.residual(), expected, atol=1e-4 * (1 + np.abs(before).max()))


def test_a_correction_that_overflows_is_left_out(monkeypatch):
    C = random_form(60, largest=10).spin_matrix()[0]
    path = CentralPath(InteriorPoint(), SemidefinitePoint.diagonally_dominant(C), -np.inf, lambda: False)
    exact, corrections = path.newton_system, []

    def overflowing(over):
        solve, asked = exact(over), []

        def answer(rhs):
            asked.append(1)
            corrections.extend(asked[1:])
            return np.full(len(rhs), np.inf) if len(asked) > 1 else solve(rhs)

        return answer

    monkeypatch.setattr(path, "newton_system", overflowing)
    monkeypatch.setattr(semidefinite_path, "CORRECTED", (-np.inf, np.inf))
    for _ in range(10):
        assert path.step(path.point().bound())  # and no warning, which would be an error here
    assert len(corrections) > 2
    assert is_positive_definite(path.point().Z())


def test_the_half_of_the_newton_system_that_is_never_written_may_hold_anything(monkeypatch):
    """Memory that is not a number, and says so whenever it is touched: a warning would be an error here."""
    fill, filled = semidefinite_path.newton_kernel, []

    def fill_after_garbage(*args):
        args[-1].view(np.uint64)[...] = 0x7FF0000000000001  # signalling
        fill(*args)
        filled.append(np.isnan(args[-1]).any())

    monkeypatch.setattr(semidefinite_path, "newton_kernel", fill_after_garbage)
    C = random_form(41, largest=10).spin_matrix()[0]
    signs = 1.0 - 2.0 * all_masks(len(C))
    best = np.einsum("bi,ij,bj->b", signs, C, signs).max()
    assert InteriorPoint().run(SemidefinitePoint.diagonally_dominant(C), best).bound >= best
    assert any(filled)


def test_bounds_are_rounded_up_to_values_that_exist():
    """Max-cut of a graph whose degrees are even: cuts differ by two, so a bound within two of a cut proves it."""
    ring = np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), 2, axis=1)
    objective = -1.0 * ds.Cut(ring + ring.T)
    form = form_of(problem_of(QuadraticForm.of(objective)))
    assert Steps.of(form).size == 2.0
    result = ds.minimize(objective, QuadraticBranchAndBound(trial=0))
    check_result(result, objective)
    assert result.lower_bound == result.value


@pytest.mark.parametrize("seed", range(20))
def test_reduced_costs_of_the_odd_cycle_bound_keep_every_better_set(seed):
    form = random_form(seed + 300)
    bound = OddCycleBound(form, np.random.default_rng(0))
    bound.run(np.inf, lambda z: (False, np.inf))
    masks = all_masks(form.n)
    values = form.values(masks)
    for needed in np.quantile(values, [0.0, 0.1, 0.5]):
        labels = bound.implied(np.full(form.n, -1), float(needed) + 1e-6)
        better = masks[values <= needed]
        assert (better[:, labels >= 0] == (labels[labels >= 0] == 1)).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_programme_limited_to_labels_bounds_the_sets_that_agree(seed):
    form = random_form(seed + 500)
    rng = np.random.default_rng(seed)
    bound = OddCycleBound(form, rng)
    bound.towards(rng.random(form.n) < 0.5)
    for _ in range(4):
        labels = rng.integers(-1, 2, form.n)
        bound.fix(labels)
        lower = bound.run(np.inf, lambda z: (False, np.inf))
        assert lower <= form.values(agreeing(labels, form.n)).min() + 1e-9 * max(1.0, form.scale)
