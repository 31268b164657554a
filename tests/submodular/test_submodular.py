"""Submodular minimisers agree with enumeration, with each other and with networkx."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse

import dsprog as ds
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, random_graph
from dsprog.submodular.min_norm_point import nearest_base
from dsprog.submodular.persistency import persistency

SIDES = [(name, side) for name in FAMILIES for side in ("f", "g")]


def check_against_enumeration(f, result, tolerance=1e-7):
    masks = all_masks(f.n)
    values = f.values(masks)
    slack = tolerance * max(1.0, np.abs(values).max())
    assert result.value == pytest.approx(values.min(), abs=slack)
    assert result.value == pytest.approx(f(result.S), abs=1e-12 * max(1.0, abs(result.value)))
    assert result.lower_bound <= values.min() + slack
    assert result.certified
    minimisers = masks[values <= values.min() + 1e-9 * max(1.0, np.abs(values).max())]
    assert set(result.minimal) == set(np.flatnonzero(minimisers.all(axis=0)))
    assert set(result.maximal) == set(np.flatnonzero(minimisers.any(axis=0)))


@pytest.mark.parametrize("n", [0, 1, 2, 6, 8])
@pytest.mark.parametrize(("name", "side"), SIDES)
def test_min_norm_point(name, side, n):
    rng = np.random.default_rng(n)
    f = getattr(FAMILIES[name](n, 1), side)
    spread = np.abs(f.values(all_masks(n))).max() / max(1, n)
    for shift in (0.0, 1.0):
        tilted = f + ds.Modular(-shift * spread * rng.random(n), 5.0)
        check_against_enumeration(tilted, ds.minimize_submodular(tilted, "min_norm_point"))


@pytest.mark.parametrize("seed", range(30))
def test_max_flow_min_norm_point_and_networkx_agree(seed):
    rng = np.random.default_rng(seed)
    n = 9
    weights = random_graph(rng, n, 0.4) if seed % 2 else rng.integers(0, 4, (n, n)) * np.triu(np.ones((n, n)), 1)
    adjacency = weights + weights.T
    linear = rng.normal(size=n) * 2 if seed % 2 else rng.integers(-5, 6, n).astype(float)
    f = ds.Cut(sparse.csr_array(adjacency)) + ds.Modular(linear, -1.0)
    by_flow = ds.minimize_submodular(f, "max_flow")
    check_against_enumeration(f, by_flow)
    by_point = ds.minimize_submodular(f, "min_norm_point")
    assert by_flow.value == pytest.approx(by_point.value, abs=1e-8)
    assert by_flow.minimal == by_point.minimal
    assert by_flow.maximal == by_point.maximal
    graph = nx.DiGraph()
    graph.add_nodes_from(["s", "t"])
    for i in range(n):
        graph.add_edge("s" if linear[i] < 0 else i, i if linear[i] < 0 else "t", capacity=abs(linear[i]))
        for j in range(n):
            if adjacency[i, j]:
                graph.add_edge(i, j, capacity=adjacency[i, j])
    cut, _ = nx.minimum_cut(graph, "s", "t")
    assert by_flow.value == pytest.approx(cut + np.minimum(linear, 0).sum() - 1.0, abs=1e-8)


@pytest.mark.parametrize("seed", range(10))
def test_max_flow_on_directed_cuts_and_submodular_pairwise(seed):
    rng = np.random.default_rng(seed)
    f = ds.Cut(rng.random((7, 7)), directed=True) + ds.Pairwise(-rng.random((7, 7)), rng.normal(size=7) * 4)
    check_against_enumeration(f, ds.minimize_submodular(f))
    assert ds.minimize_submodular(f).method == "max-flow"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_max_flow_over_scales(scale):
    rng = np.random.default_rng(3)
    f = scale * (ds.Cut(random_graph(rng, 8)) + ds.Modular(rng.normal(size=8)))
    check_against_enumeration(f, ds.minimize_submodular(f, "max_flow"))
    check_against_enumeration(f, ds.minimize_submodular(f, "min_norm_point"))


@pytest.mark.parametrize("seed", range(15))
def test_queyranne(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    X, y = rng.integers(0, 2, (20, n)), rng.integers(0, 2, 20)
    for f in (ds.MutualInformation(X), ds.MutualInformation(X, given=y), ds.Cut(random_graph(rng, n))):
        result = ds.minimize_submodular(f, "queyranne")
        values = f.values(all_masks(n)[1:-1])
        assert result.value == pytest.approx(values.min(), abs=1e-9)
        assert 0 < len(result.S) < n
        assert result.certified


def test_integral_bounds_are_rounded_up():
    f = ds.MatroidRank.graphic([(0, 1), (1, 2), (2, 0), (2, 3)]) + ds.Modular([-1.0, -1.0, -1.0, 0.0])
    result = ds.minimize_submodular(f)
    assert (result.value, result.lower_bound, result.gap) == (-1.0, -1.0, 0.0)


def test_warm_start_needs_fewer_iterations():
    rng = np.random.default_rng(0)
    f = ds.ConcaveOfModular(rng.random((20, 40))) - ds.Modular(rng.random(40) * 3)
    f = f.f
    cold = ds.minimize_submodular(f)
    warm = ds.minimize_submodular(f, start=cold.base)
    assert warm.value == pytest.approx(cold.value)
    assert warm.iterations <= cold.iterations


def test_what_is_not_known_to_be_submodular_is_not_certified():
    result = ds.minimize_submodular(ds.FromCallable(lambda S: len(S) ** 0.5 - 0.9 * len(S), 6))
    assert not result.certified
    assert result.lower_bound == -np.inf
    assert result.value == pytest.approx(6**0.5 - 5.4)


@pytest.mark.parametrize(
    ("f", "method", "sentence"),
    [
        (ds.Pairwise([[0, 1], [0, 0]]), "auto", "f must be submodular, but it is not submodular: "),
        (ds.Table([0, 0, 0, 1]), "auto", "f must be submodular, but it is not submodular: "),
        (ds.FromCallable(lambda S: len(S) ** 2, 4, submodular=True), "auto", "f must be submodular, but it is not"),
        (ds.CardinalityConcave(3), "max_flow", "max_flow needs a sum of cuts"),
        (ds.CardinalityConcave(3), "queyranne", "known to be symmetric"),
        (ds.Cut([[0.0]]), "queyranne", "at least two elements"),
        (ds.CardinalityConcave(3), "simplex", "method must be auto, min_norm_point, max_flow or queyranne"),
        (len, "auto", "f must be a SetFunction"),
    ],
)
def test_bad_arguments(f, method, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        ds.minimize_submodular(f, method)


@pytest.mark.parametrize(("name", "side"), SIDES)
def test_persistency_fixes_only_what_all_minimisers_share(name, side):
    rng = np.random.default_rng(7)
    f, masks = getattr(FAMILIES[name](7, 1), side), all_masks(7)
    spread = max(1.0, np.abs(f.values(masks)).max() / 7)
    fixed_any = False
    for rise in (0.0, spread / 4):
        for _ in range(4):
            tilted = f + ds.Modular(spread * rng.normal(size=7))
            fixed = persistency(tilted, rise)
            assert sorted([*fixed.inside, *fixed.outside, *fixed.free]) == list(range(7))
            for slope in (0.0, rise / 2, rise):
                values = tilted.values(masks) + slope * masks.sum(axis=1)
                minimisers = masks[values <= values.min() + 1e-9 * spread]
                assert minimisers[:, fixed.inside].all()
                assert not minimisers[:, fixed.outside].any()
            fixed_any |= len(fixed.free) < 7
    assert fixed_any


def test_persistency_leaves_unknown_functions_alone():
    assert len(persistency(ds.FromCallable(lambda S: float(len(S)), 4)).free) == 4


@pytest.mark.parametrize("seed", range(5))
def test_nearest_base_is_nearest(seed):
    rng = np.random.default_rng(seed)
    f = ds.ConcaveOfModular(rng.random((6, 9))) + ds.Modular(-rng.random(9) * 2)
    x = nearest_base(f, 1e-12, start=rng.normal(size=9))
    assert x.sum() == pytest.approx(f(range(9)) - f([]))
    assert (all_masks(9) @ x <= f.values(all_masks(9)) - f([]) + 1e-8).all()
    vertices = ds.greedy_vertices(f, rng.normal(size=(200, 9)))
    assert (vertices @ x >= x @ x - 1e-8).all()


@pytest.mark.parametrize("seed", range(40))
def test_extreme_minimisers_of_degenerate_functions(seed):
    """Integer data tie often: the smallest and the largest minimiser must be those of the lattice of all."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    weights = np.triu(rng.integers(0, 3, (n, n)), 1)
    rank = ds.MatroidRank.partition(rng.integers(0, 3, n), rng.integers(0, 3, 3))
    functions = [
        ds.Cut(weights + weights.T) + ds.Modular(rng.integers(-2, 3, n)),
        ds.Coverage(rng.integers(0, 2, (4, n))) + ds.Modular(-rng.integers(0, 3, n)),
        rank + ds.Modular(-rng.integers(0, 2, n)),
        ds.Pairwise(-weights, rng.integers(-1, 3, n)),
        ds.CardinalityConcave(n, np.minimum(np.arange(n + 1), 2)) + ds.Modular(-rng.integers(0, 2, n)),
    ]
    for f in functions:
        for method in ("min_norm_point", "auto"):
            check_against_enumeration(f, ds.minimize_submodular(f, method))


def test_a_constant_changes_nothing():
    f = ds.CardinalityConcave(3, [0, 1e-4, 1e-4, 0]) + ds.Modular([-3e-4, 1e-4, 2e-4])
    for constant in (0.0, 1e6, 1e9):
        result = ds.minimize_submodular(f + constant)
        assert result.S == (0,)
        assert result.certified == (result.gap <= 1e-5)
        assert (
            ds.minimize(f - ds.CardinalityConcave(3, "log1p") + constant).S
            == ds.minimize(f - ds.CardinalityConcave(3, "log1p")).S
        )


def test_mixed_scales():
    for method in ("max_flow", "min_norm_point"):
        result = ds.minimize_submodular(ds.Modular([-1e9, -1e-5, 1e-5]), method)
        assert result.S == (0, 1)
        assert result.maximal == (0, 1)
