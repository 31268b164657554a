"""The searches for incumbents of quadratic functions: never worse than where they began, and good."""

import networkx as nx
import numpy as np
import pytest

import dsprog as ds
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.exact.quadratic.forest_search import forest_search, has_forests
from dsprog.exact.quadratic.path_relinking import between, crossover, path_relinking
from dsprog.functions.quadratic_energies import ising
from dsprog.functions.table import all_masks
from tests.helpers.quadratic import minimum, random_form


def torus(side, seed):
    """An Ising model with normal couplings on a torus."""
    rng = np.random.default_rng(seed)
    graph = nx.grid_2d_graph(side, side, periodic=True)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = rng.normal()
    return ising(np.zeros(side * side), graph).quadratic_form()


@pytest.mark.parametrize("seed", range(20))
def test_forests_never_lose(seed):
    form, rng = random_form(seed), np.random.default_rng(seed)
    starts = rng.random((4, form.n)) < 0.5
    masks, values = forest_search(form, starts, rng)
    np.testing.assert_allclose(values, form.values(masks))
    assert (values <= form.values(starts) + 1e-9 * form.scale).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_forest_is_solved_at_once(seed):
    rng = np.random.default_rng(seed)
    tree = nx.random_labeled_tree(12, seed=seed)
    P = nx.to_numpy_array(tree) * rng.integers(-5, 6, (12, 12))
    form = QuadraticForm.dense(rng.normal(size=12), np.triu(P) + np.triu(P).T)
    assert forest_search(form, rng.random((1, 12)) < 0.5, rng, rounds=1)[1][0] == pytest.approx(minimum(form))


@pytest.mark.parametrize("seed", range(20))
def test_crossover_is_no_worse_than_either(seed):
    form, rng = (random_form(seed) if seed % 2 else torus(4, seed)), np.random.default_rng(seed)
    start, goal = rng.random((2, form.n)) < 0.5
    child = crossover(form, start, goal)
    value, before = form.values(child[None])[0], form.values(np.stack([start, goal]))
    assert value <= before.min() + 1e-9 * form.scale
    assert ((child == start) | (child == goal)).all()


def test_walks_stay_between():
    form, rng = torus(5, 0), np.random.default_rng(0)
    start, goal = rng.random((2, 25)) < 0.5
    middle = between(form, start, goal)
    assert ((middle == start) | (middle == goal)).all()
    assert 0 < (middle != start).sum() < (start != goal).sum()


@pytest.mark.parametrize("seed", range(6))
def test_relinking_finds_the_minimum_of_small_forms(seed):
    form, rng, best = random_form(seed), np.random.default_rng(seed), []
    starts = rng.random((5, form.n)) < 0.5

    def offer(masks, values):
        np.testing.assert_allclose(values, form.values(masks))
        best.append(values.min())
        return False

    path_relinking(form, starts, rng, 30, offer)
    assert min(best) == pytest.approx(form.values(all_masks(form.n)).min(), abs=1e-9 * max(1.0, form.scale))


def test_relinking_stops_when_told():
    form, rng, calls = torus(6, 1), np.random.default_rng(0), []
    assert has_forests(form)
    path_relinking(form, rng.random((4, 36)) < 0.5, rng, 1000, lambda masks, values: calls.append(1) or len(calls) == 3)
    assert len(calls) == 3


def test_a_torus_has_its_optimum_before_the_search():
    f = ising(np.zeros(64), nx.from_scipy_sparse_array(torus(8, 3).pairs))
    first = ds.minimize(f, ds.QuadraticBranchAndBound(trial=0), node_limit=1)
    assert first.value == pytest.approx(ds.minimize(f).value)
