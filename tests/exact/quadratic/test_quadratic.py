"""Quadratic functions: reductions, bounds and the solver against enumeration, over random signs and densities."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.exact.quadratic.form_search import FormSearch
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound, as_it_is
from dsprog.exact.quadratic.roof_search import roof_search
from dsprog.exact.quadratic.semidefinite_bound import InteriorPoint, SemidefinitePoint
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.presolve.chain import presolve
from dsprog.presolve.quadratic import problem_of
from dsprog.presolve.roof import doubled, probe, roof_duality
from dsprog.presolve.step import Wishes
from dsprog.run.driver import Bundle
from dsprog.run.run import Run
from dsprog.testing import check_result


def random_form(seed: int, largest: int = 10) -> QuadraticForm:
    """Whole or real coefficients, all densities, sometimes symmetric under complement, sometimes of one sign."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    P = np.triu(rng.integers(-9, 10, (n, n)) * (rng.random((n, n)) < rng.random()), 1).astype(float)
    P = [P, P * rng.random(P.shape), np.abs(P), P][seed % 4]
    P = P + P.T
    u = -P.sum(axis=0) / 2 if seed % 5 == 0 else rng.integers(-9, 10, n) * rng.random()
    return QuadraticForm.dense(np.round(u) if seed % 2 else u, P, constant=3.0)


def minimum(form: QuadraticForm) -> float:
    return float(form.values(all_masks(form.n)).min())


def agreeing(labels, n):
    """The masks that agree with a partial labelling."""
    masks = all_masks(n)
    return masks[((masks == (labels == 1)) | (labels < 0)).all(axis=1)]


@pytest.mark.parametrize("seed", range(60))
def test_spins_and_steps(seed):
    form = random_form(seed)
    masks = all_masks(form.n)
    values, steps = form.values(masks), Steps.of(form)
    C, k = form.spin_matrix()
    s = np.hstack([np.ones((len(masks), 1)), 1.0 - 2 * masks])
    np.testing.assert_allclose(k - np.einsum("bi,ij,bj->b", s, C, s), values, atol=1e-9)
    assert not np.diag(C).any()
    if steps.size:
        np.testing.assert_allclose(np.round((values - 3) / steps.size), (values - 3) / steps.size)
        assert steps.rounded(values.min() - 0.5 * steps.size) == pytest.approx(values.min())
        assert steps.rounded(steps.needed(values.min()) + 1e-12) == pytest.approx(values.min())
    labels = np.random.default_rng(seed).integers(-1, 2, form.n)
    rest, free = form.fixed(labels)
    np.testing.assert_allclose(
        np.sort(rest.values(all_masks(rest.n))), np.sort(form.values(agreeing(labels, form.n))), atol=1e-9
    )
    assert len(free) == rest.n


@pytest.mark.parametrize("seed", range(80))
def test_roof_duality(seed):
    form = random_form(seed)
    masks, double = all_masks(form.n), doubled(form)
    assert double.submodular
    np.testing.assert_allclose(double.values(np.hstack([masks, ~masks])), form.values(masks), atol=1e-9)
    roof, best = roof_duality(form), minimum(form)
    assert roof.lower <= best + 1e-12 * form.scale
    assert form.values(agreeing(roof.labels, form.n)).min() == pytest.approx(best)
    if form.submodular:
        assert roof.lower == pytest.approx(best)
    _, labels = probe(form, best + 1e-6)
    assert form.values(agreeing(labels, form.n)).min() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(30))
def test_roof_duality_agrees_with_thinqpbo(seed):
    thinqpbo = pytest.importorskip("thinqpbo")
    form = random_form(4 * seed)
    graph = thinqpbo.QPBODouble()
    graph.add_node(form.n)
    for i in range(form.n):
        graph.add_unary_term(i, 0.0, form.u[i])
    upper = np.triu(form.pairs.toarray())
    for i, j in zip(*np.nonzero(upper)):
        graph.add_pairwise_term(int(i), int(j), 0.0, 0.0, 0.0, upper[i, j])
    graph.solve()
    theirs = np.array([graph.get_label(i) for i in range(form.n)])
    assert graph.compute_twice_lower_bound() / 2 + form.constant == pytest.approx(roof_duality(form).lower)
    ours = roof_duality(form).labels
    assert (ours[ours >= 0] == theirs[ours >= 0]).all()


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


@pytest.mark.parametrize("seed", range(80))
def test_presolve_keeps_the_minimum(seed):
    form = random_form(seed)
    smaller = presolve(problem_of(form), Wishes())
    masks, total = [], smaller.offset
    for part in smaller.parts:
        values = part.objective.values(all_masks(part.n))
        masks.append(all_masks(part.n)[values.argmin()])
        total += values.min()
    assert total == pytest.approx(minimum(form))
    assert form.values(smaller.lift(masks)[None])[0] == pytest.approx(minimum(form))


def test_trees_and_cycles_need_no_search():
    rng = np.random.default_rng(0)
    n = 200
    P = np.zeros((n, n))
    for j in range(1, n):
        P[j, rng.integers(0, j)] = rng.normal()
    P[0, n - 1] += 1.0
    assert presolve(problem_of(QuadraticForm.dense(rng.normal(size=n), P + P.T)), Wishes()).parts == ()


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


def test_the_form_is_seen_through_transformations():
    plain = FAMILIES["pairwise"](9, 1)
    changed = plain.complement().relabel([3, 1, 0, 2, 8, 7, 6, 5, 4]).restrict([2, 5], [0, 1, 2, 4, 5, 6, 8])
    form = QuadraticForm.of(changed + 2.0 * plain.restrict(within=range(5)).declare(integral=True))
    masks = all_masks(5)
    expected = changed.values(masks) + 2.0 * plain.values(np.hstack([masks, np.zeros((32, 4), dtype=bool)]))
    np.testing.assert_allclose(form.values(masks), expected, atol=1e-9)
    assert ds.minimize(changed).solver == "QuadraticBranchAndBound"


def test_separate_blocks_are_solved_one_by_one():
    rng = np.random.default_rng(1)
    blocks = [np.triu(rng.integers(-9, 10, (n, n)), 1) for n in (6, 9, 12)]
    P = np.zeros((27, 27))
    for start, block in zip((0, 6, 15), blocks):
        P[start : start + len(block), start : start + len(block)] = block
    u = rng.integers(-9, 10, 27)
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
