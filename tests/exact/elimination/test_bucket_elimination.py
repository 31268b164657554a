"""Bucket elimination against enumeration, the quadratic solver and published optima."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.elimination.bucket_elimination import order_of
from dsprog.exact.elimination.elimination_order import elimination_order
from dsprog.generators import autocorrelation, random_monomials

PUBLISHED = {  # MINLPLib's autocorr_bern n-R: bounds that several solvers of other authors agree on
    (20, 5): -416, (25, 3): -92, (25, 6): -960, (30, 4): -324, (40, 5): -936, (45, 5): -1068,
}  # fmt: skip
ENERGIES = {1: 0, 2: 1, 3: 1, 7: 3, 11: 5, 13: 6, 16: 24, 20: 26}  # optima of one window, Packebusch and Mertens (2016)


def energy(n, window, signs):
    """The formula, in plain loops."""
    total = 0
    for i in range(n - window + 1):
        for d in range(1, window):
            total += sum(signs[j] * signs[j + d] for j in range(i, i + window - d)) ** 2
    return total


@pytest.mark.parametrize(("n", "window"), [(1, 1), (5, 2), (6, 3), (9, 5), (8, 8)])
def test_windows_follow_their_formula(n, window):
    rng = np.random.default_rng(n)
    objective = autocorrelation(n, window)
    for mask in rng.random((20, n)) < 0.5:
        assert objective(mask) == energy(n, window, 1 - 2 * mask) - energy(n, window, np.ones(n, dtype=int))


@pytest.mark.parametrize("size", PUBLISHED)
def test_published_windows(size):
    result = ds.minimize(autocorrelation(*size))
    assert result.value == result.lower_bound == PUBLISHED[size]
    assert result.certified


@pytest.mark.parametrize("n", ENERGIES)
def test_one_window_is_the_classical_problem(n):
    result = ds.minimize(autocorrelation(n, n))
    assert result.certified
    assert result.value == ENERGIES[n] - (n - 1) * n * (2 * n - 1) // 6


@pytest.mark.slow
@pytest.mark.parametrize(("size", "value"), [((35, 18), -31168), ((40, 20), -50576), ((45, 23), -85504)])
def test_wide_windows(size, value):
    result = ds.minimize(autocorrelation(*size))
    assert result.value == result.lower_bound == value
    assert result.certified
    assert result.solver == "BucketElimination"


def test_solver_kit():
    ds.testing.check_solver(ds.BucketElimination(), largest=6, seeds=(0,))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e7])
def test_random_polynomials(seed, scale):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    f = ds.PseudoBoolean(n, random_monomials(rng, n, 3 * n), scale * rng.normal(size=3 * n))
    ds.testing.check_result(ds.minimize(f, ds.BucketElimination()), f)
    ds.testing.check_result(ds.minimize(f + 1e3 * scale), f + 1e3 * scale)


def band(n, width, seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(size=(n, n)), 1) * (np.subtract.outer(np.arange(n), np.arange(n)) >= -width)
    order = rng.permutation(n)
    return ds.Pairwise(weights[np.ix_(order, order)], rng.normal(size=n))


@pytest.mark.parametrize("seed", range(3))
def test_a_band_in_any_order_agrees_with_the_quadratic_solver(seed):
    f = band(40, 5, seed)
    narrow, other = ds.minimize(f), ds.minimize(f, ds.QuadraticBranchAndBound())
    assert narrow.certified
    assert other.certified
    assert "BucketElimination" in narrow.solver
    assert narrow.value == pytest.approx(other.value, abs=1e-9)


def test_groups_are_enough():
    """Gains come from marginals where a family has none of its own."""
    rng = np.random.default_rng(0)
    W = np.array([[rng.random() * (abs(i - j) <= 2) for j in range(14)] for i in range(14)])
    f = ds.ConcaveOfModular(W) - ds.ConcaveOfModular(rng.random((14, 14)) * (W > 0))
    found = ds.minimize(f, ds.BucketElimination())
    ds.testing.check_result(found, f)
    assert found.certified
    assert as_problem(f, ()).derived(order_of).width <= 4


def test_what_is_not_known_to_be_submodular_is_proved_too():
    table = ds.Table(np.random.default_rng(1).normal(size=1 << 9))
    f = ds.FromCallable(lambda S: table(sorted(S)), 9)
    result = ds.minimize(f, ds.BucketElimination())
    assert result.status == "optimal"
    assert result.value == table.table.min()


def test_degenerate():
    for n in (0, 1, 3):
        result = ds.minimize(ds.PseudoBoolean(n, [()], [2.5]), ds.BucketElimination())
        assert result.value == 2.5
        assert result.certified
    with pytest.raises(ValueError, match="at most 25 neighbours"):
        ds.minimize(ds.CardinalityConcave(40), ds.BucketElimination())
    with pytest.raises(ValueError, match="without constraints"):
        ds.minimize(ds.Modular([1.0]), ds.BucketElimination(), constraints=[ds.Cardinality(1)])


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"node_limit": 3}])
def test_limits_leave_a_set_and_a_bound(limit):
    objective = autocorrelation(30, 12)
    result = ds.minimize(objective, ds.BucketElimination(), **limit)
    assert result.status == next(iter(limit))
    assert not result.certified
    optimum = ds.minimize(objective).value
    assert -np.inf < result.lower_bound < optimum <= result.value


def width_of(n, edges, order):
    """By its definition."""
    near, width = {i: set() for i in range(n)}, 0
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)
    for i in order:
        width = max(width, len(near[i]))
        for j in near[i]:
            near[j] = (near[j] | near[i]) - {i, j}
    return width


@pytest.mark.parametrize("seed", range(6))
def test_widths(seed):
    rng = np.random.default_rng(seed)
    n = 7
    edges = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.4]
    found = elimination_order(n, [np.array(edge) for edge in edges], n)
    assert found.width == width_of(n, edges, found.order)
    assert sorted(found.order) == list(range(n))
    best = min(width_of(n, edges, order) for order in itertools.permutations(range(n)))
    assert best <= found.width <= best + 1
    if best:
        assert elimination_order(n, [np.array(edge) for edge in edges], best - 1) is None
