"""The diagonal below a Gram matrix: raised by coordinates, proved once, and kept where nodes become smaller."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression.diagonal import proved_part, raised_diagonal
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.relaxation import Loss, Relaxation
from dsprog.run.run import Run


def gram(rng, n, rows=None):
    X = rng.normal(size=(rows or 2 * n, n)) @ (0.3 * np.eye(n) + 0.7)
    G = X.T @ X
    units = np.sqrt(G.diagonal())
    return G / units / units[:, None]


def raised_by_definition(G, D, S, mu, floor):
    """Each coordinate maximises S_j D_j + μ log det(G - 2D), with a fresh inverse for every move."""
    D = D.copy()
    for j in range(len(D)):
        room = 1.0 / np.linalg.inv(G - 2.0 * np.diag(D))[j, j]
        D[j] += 0.5 * min(max(room - 2.0 * mu / max(S[j], 1e-300), 2.0 * (floor - D[j])), 0.999 * room)
    return D


@pytest.mark.parametrize("n", [1, 2, 5, 17])
@pytest.mark.parametrize("seed", range(3))
def test_coordinate_moves_are_those_of_the_definition(n, seed):
    rng = np.random.default_rng(seed)
    G = gram(rng, n)
    least = np.linalg.eigvalsh(G)[0]
    D, S = np.full(n, 0.3 * least), rng.random(n) * (rng.random(n) < 0.8)
    raised = raised_diagonal(G, D, S, 0.01, 0.005 * least, 1e-12)
    assert raised == pytest.approx(raised_by_definition(G, D, S, 0.01, 0.005 * least), rel=1e-9)
    assert np.linalg.eigvalsh(G - 2.0 * np.diag(raised))[0] > 0


def test_of_a_diagonal_that_is_too_large_a_part_is_proved():
    G = gram(np.random.default_rng(0), 12)
    D = proved_part(G, np.full(12, 0.6 * np.linalg.eigvalsh(G)[0]), 1e-12)
    assert np.linalg.eigvalsh(G - 2.0 * np.diag(D))[0] > 0
    assert pytest.approx(0.5 * np.linalg.eigvalsh(G)[0], rel=0.02) == D


def search_of(X, y, ridge):
    problem = as_problem(ds.LeastSquares(X, y, ridge) + 0.01 * ds.Modular(np.ones(X.shape[1])), [])
    return PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound())


@pytest.mark.parametrize("columns", ["far apart", "close"])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_diagonal_needs_no_factorisation_at_any_node(columns, seed):
    """G' - 2D of every node, as it is computed, is positive semidefinite, also where columns are nearly dependent."""
    rng = np.random.default_rng(seed)
    n = 30
    X = rng.normal(size=(45, n))
    if columns == "close":
        X[:, ::2] = X[:, 1::2] + 0.02 * rng.normal(size=(45, n // 2))
    loss = Loss.of(as_problem(ds.LeastSquares(X, X[:, 0] + rng.normal(size=45)), []).objective)
    D = loss.first_diagonal
    assert D.min() > 0.9 * 0.499 * np.linalg.eigvalsh(loss.G)[0]
    for _ in range(40):
        role = rng.integers(0, 3, n)
        chosen, free = np.flatnonzero(role == 0), np.flatnonzero(role == 1)
        G = loss.eliminated(loss.c, chosen, free)[0]
        assert np.linalg.eigvalsh(G - 2.0 * np.diag(D[free])).min(initial=1.0) > 0


@pytest.mark.parametrize("seed", range(6))
def test_a_node_that_lost_features_is_the_node_made_anew(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 20))
    method = search_of(X, X[:, 3] - X[:, 5] + rng.normal(size=60), 0.1)
    node = {key: value[0].copy() for key, value in method.root().items()}
    node["I"][rng.choice(20, 3, replace=False)] = True
    known = method.below.relaxation(node, method.at_empty, method.budget)
    known.solve(np.inf)
    known.raise_diagonal(known.lower + 0.1)
    known.store(node)
    node["U"][rng.random(20) < 0.4 * ~node["I"]] = False
    again = method.below.relaxation(node, method.at_empty, method.budget, known)
    anew = Relaxation.of(method.below, node, method.at_empty, method.budget)
    for name in ("G", "b", "c", "d", "D", "w", "free", "chosen"):
        np.testing.assert_allclose(getattr(again, name), getattr(anew, name), atol=1e-12)
    node["I"][np.flatnonzero(node["U"] & ~node["I"])[0]] = True  # another set of chosen features is made anew
    other = method.below.relaxation(node, method.at_empty, method.budget, known)
    np.testing.assert_array_equal(other.G, Relaxation.of(method.below, node, method.at_empty, method.budget).G)


def test_of_two_proofs_of_a_diagonal_neither_covers_the_larger_parts_of_both():
    """D is taken as proved if it is below one diagonal that is, not if each D_j is below one of several."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 10))
    method = search_of(X, X[:, 3] + rng.normal(size=40), 0.0)
    node = {key: value[0].copy() for key, value in method.root().items()}
    known = method.below.relaxation(node, method.at_empty, method.budget)
    least = 2.0 * method.below.first_diagonal[0]
    known.D = np.where(np.arange(10) < 5, 1e-3 * least, 0.5 * least)  # proved, smaller in places than the first one
    node["D"] = 0.5 * np.full(10, 5.0 * least)
    node["D"][:5], node["D"][5:] = method.below.first_diagonal[:5] * 1.5, known.D[5:]
    taken = method.below.relaxation(node, method.at_empty, method.budget, known)
    assert np.linalg.eigvalsh(taken.G - 2.0 * np.diag(taken.D))[0] > 0
