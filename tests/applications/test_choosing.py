"""Recipes that choose k of n, against enumeration."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sparse

import dsprog as ds
from dsprog.applications import dominating_set, k_medoids


@pytest.mark.parametrize("seed", range(4))
def test_medoids_are_the_best(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((9, 2))
    d = np.linalg.norm(points[:, None] - points[None], axis=2)
    costs = {S: d[:, S].min(axis=1).sum() for S in itertools.combinations(range(9), 3)}
    found = k_medoids(points, 3)
    assert found.result.certified
    assert found.cost == pytest.approx(min(costs.values()))
    assert found.cost == pytest.approx(d[np.arange(9), np.array(found.medoids)[found.labels]].sum())
    assert k_medoids(d, 3, distances=True).cost == pytest.approx(found.cost)


def test_every_point_is_its_own_medoid():
    assert k_medoids([[0.0], [1.0], [5.0]], 3).cost == 0.0
    assert k_medoids([[2.0, 1.0]], 1).medoids == (0,)


def test_graphs_in_every_form():
    nx = pytest.importorskip("networkx")
    graph = nx.gnm_random_graph(12, 18, seed=1)
    A = nx.to_numpy_array(graph)
    reach = (A + np.eye(12)) > 0
    best = max(reach[:, list(S)].any(axis=1).sum() for S in itertools.combinations(range(12), 3))
    for form in (graph, A, sparse.csr_array(np.triu(A))):
        found = dominating_set(form, 3)
        assert found.result.certified
        assert found.dominated == best
        assert len(found.vertices) <= 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: k_medoids([[0.0], [1.0]], 3), "k must lie between 1 and the number of points"),
        (lambda: k_medoids([[0.0, 1.0]], 1, distances=True), "array of non-negative distances"),
        (lambda: dominating_set(np.zeros((2, 3)), 1), "square matrix"),
        (lambda: dominating_set(np.zeros((2, 2)), 3), "at most the number of vertices"),
        (lambda: ds.ProbabilisticCoverage([[0.5, 1.5]]), "between 0 and 1"),
        (lambda: ds.FacilityLocation(sparse.csr_array(np.array([[1.0, -1.0]]))), "non-negative"),
    ],
)
def test_bad_input_gets_one_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_sparse_benefits_are_the_dense_ones(tmp_path):
    s = np.random.default_rng(0).random((7, 9)) * (np.random.default_rng(1).random((7, 9)) < 0.4)
    dense, thin = ds.FacilityLocation(s), ds.FacilityLocation(sparse.csr_array(s))
    masks = np.random.default_rng(2).random((20, 9)) < 0.5
    np.testing.assert_allclose(dense.values(masks), thin.values(masks))
    np.testing.assert_allclose(dense.marginals(masks), thin.marginals(masks))
    results = [ds.minimize(-f, constraints=[ds.Cardinality(max=3)]) for f in (dense, thin)]
    assert results[0].value == pytest.approx(results[1].value)
    thin.save(tmp_path / "f.json")
    assert ds.read(tmp_path / "f.json") == thin
