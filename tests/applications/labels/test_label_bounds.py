"""The pieces of a labelling's proof: messages, rises, fusions, elimination, parts."""

import itertools

import numpy as np
import pytest

from dsprog.applications.labels.dual import Dual
from dsprog.applications.labels.fusion import fuse, fusion_form
from dsprog.applications.labels.label_problem import LabelProblem, as_label_problem
from dsprog.applications.labels.narrow import eliminate, narrow_order
from dsprog.applications.labels.proposals import FAMILIES
from dsprog.applications.labels.search import BestLabelling, components
from dsprog.core.validation import all_masks
from dsprog.functions.graph import Pairwise
from dsprog.presolve.roof import roof_duality


def random_problem(seed, n=5, count=3, density=0.7, scale=1.0, tables=1):
    """Weights of both signs, tables without any symmetry."""
    rng = np.random.default_rng(seed)
    first, second = np.nonzero(np.triu(rng.random((n, n)) < density, 1))
    m = len(first)
    return LabelProblem(
        scale * rng.normal(size=(n, count)),
        first.astype(np.int64),
        second.astype(np.int64),
        scale * rng.normal(size=m),
        rng.normal(size=(tables, count, count)),
        rng.integers(0, tables, m),
        scale * rng.normal(),
    )


def labellings(problem):
    return [np.array(x) for x in itertools.product(range(problem.count), repeat=problem.n)]


def everything(problem):
    return Dual(problem, np.ones(problem.unary.shape, dtype=bool))


def tree(seed, n, count):
    rng = np.random.default_rng(seed)
    weights = np.zeros((n, n))
    for j in range(1, n):
        i = int(rng.integers(0, j))
        weights[i, j] = weights[j, i] = rng.normal()
    distance = rng.normal(size=(count, count))
    return as_label_problem(rng.normal(size=(n, count)), weights, distance + distance.T)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(8))
def test_any_messages_give_a_bound_and_rises(seed, scale):
    problem = random_problem(seed, scale=scale, tables=1 + seed % 3)
    dual, rng = everything(problem), np.random.default_rng(seed)
    dual.messages[:] = scale * rng.normal(size=dual.messages.shape) * 10.0 ** rng.integers(-2, 6)
    found = dual.bound()
    for x in labellings(problem):
        energy = problem.energy(x)
        assert found.lower <= energy
        assert (found.lower + found.rises[np.arange(problem.n), x] <= energy + 1e-9 * scale).all()


@pytest.mark.parametrize("seed", range(12))
def test_sweeps_never_lower_the_bound(seed):
    problem = random_problem(seed, tables=1 + seed % 3)
    energies = [problem.energy(x) for x in labellings(problem)]
    dual, before = everything(problem), -np.inf
    for k in range(10):
        lower = dual.bound().lower
        assert before - 1e-12 <= lower <= min(energies)
        before = lower
        assert problem.energy(dual.sweep(forward=k % 2 == 0)) >= min(energies) - 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_a_removed_label_has_no_better_labelling(seed):
    problem = random_problem(seed, tables=2)
    energies = {tuple(x): problem.energy(x) for x in labellings(problem)}
    dual = everything(problem)
    for target in np.quantile(list(energies.values()), [0.3, 0.05, 0.01]):
        for k in range(4):
            dual.sweep(forward=k % 2 == 0)
        bound = dual.bound()
        dual.prune(bound, target)
        better = [x for x, energy in energies.items() if energy < target]
        assert all(dual.allowed[np.arange(problem.n), x].all() for x in better)
        if dual.is_empty:
            assert better == []
            assert dual.bound().lower == np.inf
            break
        left = [e for x, e in energies.items() if dual.allowed[np.arange(problem.n), x].all()]
        assert dual.bound().lower <= min(left)


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_exact(seed):
    problem = tree(seed, 6, 3)
    best = min(problem.energy(x) for x in labellings(problem))
    dual = everything(problem)
    for k in range(400):
        x = dual.sweep(forward=k % 2 == 0)
    assert dual.bound().lower == pytest.approx(best, abs=1e-6)
    assert problem.energy(x) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(8))
def test_two_labels_have_the_roof_bound(seed):
    """The relaxation's bound is that of roof duality; sweeps come up to it, never above."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(-4, 5, (8, 8)), 1).astype(float)
    unary = rng.integers(-9, 10, (8, 2)).astype(float)
    problem = as_label_problem(unary, weights + weights.T, [[0, 0], [0, 1]])
    form = Pairwise(weights, unary[:, 1] - unary[:, 0], float(unary[:, 0].sum())).quadratic_form()
    roof = roof_duality(form).lower
    assert form.values(all_masks(8)).min() == pytest.approx(min(problem.energy(x) for x in labellings(problem)))
    dual = everything(problem)
    for k in range(600):
        dual.sweep(forward=k % 2 == 0)
    assert dual.bound().lower <= roof + 1e-9
    assert dual.bound().lower == pytest.approx(roof, abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_fusions_are_mixtures_that_never_cost_more(seed):
    problem, rng = random_problem(seed, n=6, tables=2), np.random.default_rng(seed)
    for _ in range(10):
        x, y = rng.integers(0, problem.count, (2, problem.n))
        form, sites = fusion_form(problem, x, y)
        masks = all_masks(len(sites))
        mixtures = np.tile(x, (len(masks), 1))
        mixtures[:, sites] = np.where(masks, y[sites], x[sites])
        energies = np.array([problem.energy(z) for z in mixtures])
        np.testing.assert_allclose(form.values(masks) + problem.energy(x), energies, atol=1e-12)
        mixed, energy = fuse(problem, x, problem.energy(x), y)
        assert ((mixed == x) | (mixed == y)).all()
        assert energy == pytest.approx(problem.energy(mixed))
        assert energy <= problem.energy(x)
        if form.submodular:
            assert energy == pytest.approx(energies.min())


@pytest.mark.parametrize("name", FAMILIES)
def test_proposals_are_labellings(name):
    for problem in (random_problem(0, n=6, count=5), random_problem(1, n=4, density=0.0), random_problem(2, count=1)):
        best = BestLabelling.of(problem, np.zeros(problem.n, dtype=np.int64))
        for proposal in FAMILIES[name](problem, lambda best=best: best.x, np.random.default_rng(0)):
            assert proposal.shape == (problem.n,)
            assert ((proposal >= 0) & (proposal < problem.count)).all()
            before = best.energy
            assert best.fuse(proposal) == (best.energy < before)
            assert best.energy <= before


@pytest.mark.parametrize("seed", range(8))
def test_elimination_over_the_labels_left(seed):
    problem = random_problem(seed, n=6, density=0.5, tables=2)
    allowed = np.random.default_rng(seed).random((6, 3)) < 0.7
    allowed[~allowed.any(axis=1), 0] = True
    best = min(problem.energy(x) for x in labellings(problem) if allowed[np.arange(6), x].all())
    x, lower = eliminate(problem, allowed, narrow_order(problem, allowed))
    assert allowed[np.arange(6), x].all()
    assert lower <= best
    assert problem.energy(x) == pytest.approx(best)
    assert lower == pytest.approx(best)


def test_wide_problems_are_not_eliminated():
    assert narrow_order(random_problem(0, n=30, density=1.0), np.ones((30, 3), dtype=bool)) is None
    assert narrow_order(random_problem(0, n=10, count=6, density=1.0), np.ones((10, 6), dtype=bool)) is None


@pytest.mark.parametrize("seed", range(6))
def test_parts_add_up(seed):
    problem, rng = random_problem(seed, n=7, density=0.4, tables=3), np.random.default_rng(seed)
    free, x = np.flatnonzero(rng.random(7) < 0.6), rng.integers(0, 3, 7)
    parts = components(problem, free)
    assert sorted(np.concatenate([*parts, [-1]])) == [-1, *free]
    pieces = [problem.part(sites, x)[0] for sites in parts]
    fixed = problem.energy(x) - sum(piece.energy(x[sites]) for piece, sites in zip(pieces, parts))
    for _ in range(10):
        y = x.copy()
        y[free] = rng.integers(0, 3, len(free))
        total = fixed + sum(piece.energy(y[sites]) for piece, sites in zip(pieces, parts))
        assert problem.energy(y) == pytest.approx(total)


@pytest.mark.parametrize("seed", range(10))
def test_whole_costs_have_steps(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    weights = np.triu(rng.integers(-3, 4, (4, 4)), 1)
    distance = size * rng.integers(-2, 3, (3, 3))
    unary = size * rng.integers(-5, 6, (4, 3)) + rng.integers(0, 9, (4, 1))
    problem = as_label_problem(unary, weights + weights.T, distance + distance.T)
    steps = problem.steps
    energies = np.array(sorted({problem.energy(x) for x in labellings(problem)}))
    assert steps.size >= size or len(energies) == 1
    if steps.size:
        np.testing.assert_allclose((energies - steps.constant) % steps.size, 0)
        assert problem.target(energies[-1]) >= energies[-2]
    assert as_label_problem(unary + 0.5 * np.eye(4, 3), weights + weights.T, distance + distance.T).steps.size == 0
    response = problem.response(np.zeros(4, dtype=np.int64))
    for i, a in itertools.product(range(4), range(3)):
        moved = problem.energy(np.where(np.arange(4) == i, a, 0)) - problem.energy(np.zeros(4, dtype=np.int64))
        assert response[i, a] - response[i, 0] == pytest.approx(moved)
