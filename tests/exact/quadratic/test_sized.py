"""Quadratic functions over the sets of some sizes, and lists of their best sets, against enumeration."""

import networkx as nx
import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.core.quadratic_form import Steps
from dsprog.exact.quadratic import sized_search
from dsprog.exact.quadratic.exchange_tabu import exchange_tabu, resized
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_cuts import OddCuts
from dsprog.exact.quadratic.sized_search import SizedSearch, around, completions, sizes_of, with_size
from dsprog.functions.quadratic_energies import max_cut
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from dsprog.testing import check_result
from tests.helpers.quadratic import random_form

QUADRATIC = ds.QuadraticBranchAndBound()


@pytest.fixture(params=[1, 30])
def few(request, monkeypatch):
    """Nodes that are enumerated: hardly any, so that bounds must close small problems, or small ones."""
    monkeypatch.setattr(sized_search, "FEW", request.param)


def kinds(n, seed):
    """Cuts, dense and sparse energies, submodular and linear ones, none at all, and large and small scales."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < 0.5, 1).astype(float)
    W = np.triu(rng.normal(size=(n, n)), 1)
    return {
        "max-cut": max_cut(A + A.T),
        "subgraph": ds.Pairwise(-A),
        "energy": ds.Pairwise(W, rng.normal(size=n), 2.0),
        "large": ds.Pairwise(1e6 * W * A),
        "small": ds.Pairwise(1e-6 * W * A),
        "cut": ds.Cut(A + A.T),
        "linear": ds.Pairwise(np.zeros((n, n)), rng.normal(size=n)),
        "nothing": ds.Pairwise(np.zeros((n, n))),
    }


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", kinds(3, 0))
@pytest.mark.parametrize("sizes", [(4, 4), (0, 3), (5, 8), (0, 0), (9, 9), (1, 9)])
def test_sizes(kind, sizes):
    f = kinds(9, 3)[kind]
    size = all_masks(9).sum(axis=1)
    result = ds.minimize(f, QUADRATIC, constraints=[ds.Cardinality(*sizes)])
    check_result(result, f, (size >= sizes[0]) & (size <= sizes[1]))
    assert result.status == "optimal"


@pytest.mark.parametrize("seed", range(4))
def test_sizes_with_other_rows_that_say_no_more(seed):
    f, rng = kinds(12, seed)["energy"], np.random.default_rng(seed)
    kept = [ds.Include([3]), ds.Exclude([5, 7]), ds.LinearConstraint(np.full(12, 2.0), hi=10.5), ds.Cardinality(min=2)]
    masks = all_masks(12)
    result = ds.minimize(f, QUADRATIC, constraints=kept, seed=int(rng.integers(9)))
    check_result(result, f, as_problem(f, kept).feasible(masks))
    assert result.certified


def test_what_is_refused():
    f = kinds(6, 0)["energy"]
    with pytest.raises(ValueError, match="no constraints but on the size"):
        ds.minimize(f, QUADRATIC, constraints=[ds.Knapsack([1, 2, 1, 1, 1, 1], 3)])
    assert ds.minimize(f, QUADRATIC, constraints=[ds.Cardinality(min=4), ds.Cardinality(max=3)]).status == "infeasible"
    assert sizes_of(as_problem(f, [ds.Cardinality(2, 4)])) == (2, 4)
    assert sizes_of(as_problem(f, [ds.LinearConstraint(-np.ones(6), lo=-3)])) is None
    assert sizes_of(as_problem(f, [ds.LinearConstraint(np.full(6, 0.1), hi=0.3)])) == (0, 3)
    assert sizes_of(as_problem(f, [ds.LinearConstraint(np.ones(6), hi=3 - 5e-9)])) == (0, 2)
    assert sizes_of(as_problem(ds.Modular([]), [ds.Cardinality(0, 0)])) == (0, 0)


@pytest.mark.parametrize("seed", range(10))
def test_the_term_of_sizes(seed):
    form = random_form(seed)
    masks, k = all_masks(form.n), form.n // 2
    there = masks.sum(axis=1) == k
    penalised = with_size(form, k, 7.0)
    np.testing.assert_allclose(penalised.values(masks[there]), form.values(masks[there]), atol=1e-9 * form.scale)
    problem = as_problem(ds.Pairwise(np.triu(form.pairs.toarray()), form.u), [ds.Cardinality(k, k)])
    search = SizedSearch(problem, Run(problem), form, Steps.of(form), np.random.default_rng(0), (k, k))
    C, constant = with_size(form, k, search.weight).spin_matrix()
    point = SemidefinitePoint(C, search.first_point(k), OddCuts())
    assert np.linalg.eigvalsh(point.Z()).min() >= -1e-9 * max(1.0, form.scale)
    assert constant - point.bound() <= form.values(masks[there]).min() + 1e-9 * form.scale


@pytest.mark.parametrize("seed", range(10))
def test_exchanges(seed):
    form, rng = random_form(seed), np.random.default_rng(seed)
    low, high = sorted(rng.integers(0, form.n + 1, 2).tolist())
    starts = resized(form, (low, high), rng.random((6, form.n)) < 0.5)
    masks, values = exchange_tabu(form, (low, high), starts, rng)
    for sets in (starts, masks):
        assert (sets.sum(axis=1) >= low).all()
        assert (sets.sum(axis=1) <= high).all()
    np.testing.assert_allclose(values, form.values(masks))
    assert (values <= form.values(starts) + 1e-9 * form.scale).all()


def test_small_helpers():
    labels = np.array([1, -1, -1, 0, -1])
    found = completions(labels, np.flatnonzero(labels < 0), 1, 2)
    assert len(np.unique(found, axis=0)) == len(found) == 6
    assert found[:, 0].all()
    assert not found[:, 3].any()
    near = around(np.array([True, False, False]))
    assert len(np.unique(near, axis=0)) == len(near) == 6


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", kinds(3, 0))
@pytest.mark.parametrize("k", [1, 4, 30])
def test_lists(kind, k):
    f = kinds(8, 5)[kind]
    values = np.sort(f.values(all_masks(8)))
    best = ds.enumerate_best(f, k, solver=QUADRATIC)
    assert best.certified
    assert len(set(best.sets)) == k
    np.testing.assert_allclose(best.values, values[:k], atol=1e-9 * max(1.0, np.abs(values).max()))


@pytest.mark.usefixtures("few")
def test_all_optima_are_counted_both_halves_of_a_cut_too():
    cycle = max_cut(nx.cycle_graph(7))  # seven maximum cuts, each as S and as V∖S
    best = ds.enumerate_best(cycle, 100, within=0.0, solver=QUADRATIC)
    assert len(best) == 14
    assert best.certified
    assert {tuple(sorted(set(range(7)) - set(S))) for S in best.sets} == set(best.sets)


@pytest.mark.usefixtures("few")
def test_lists_of_some_sizes():
    f = kinds(9, 1)["max-cut"]
    masks = all_masks(9)
    values = np.sort(f.values(masks[masks.sum(axis=1) == 4]))
    best = ds.enumerate_best(f, 25, solver=QUADRATIC, constraints=[ds.Cardinality(4, 4)])
    assert best.certified
    assert best.values == tuple(values[:25])


@pytest.mark.parametrize("shape", ["cut", "subgraph"])
def test_a_graph_of_sixty_vertices_is_closed(shape):
    graph = nx.gnm_random_graph(60, 300, seed=0)
    f, k = (max_cut(graph), 30) if shape == "cut" else (ds.Pairwise(-np.triu(nx.to_numpy_array(graph))), 20)
    result = ds.minimize(f, constraints=[ds.Cardinality(k, k)])
    assert result.certified
    assert result.solver == "QuadraticBranchAndBound"
    assert result.value == {"cut": -216.0, "subgraph": -69.0}[shape]


def test_limits_leave_a_set_and_a_bound():
    f = max_cut(nx.gnm_random_graph(70, 900, seed=0))
    for limit in ({"node_limit": 1}, {"time_limit": 0.0}):
        result = ds.minimize(f, constraints=[ds.Cardinality(20, 50)], **limit)
        assert result.status == next(iter(limit))
        assert len(result.S) in range(20, 51)
        assert -1800 <= result.lower_bound <= result.value
        assert result.lower_bound >= -900 or "time_limit" in limit
