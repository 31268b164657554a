"""Labellings, bounds and certificates against enumeration."""

import itertools
import os
import signal

import networkx as nx
import numpy as np
import pytest

from dsprog.applications import alpha_expansion, minimize_labels
from dsprog.applications.labels import label_run
from dsprog.applications.labels.label_problem import as_label_problem
from dsprog.applications.labels.proposals import FAMILIES
from dsprog.applications.vision import grid_pairs


def energies(unary, weights, distance):
    """E of all labellings, from the definition."""
    n, count = unary.shape
    weights = np.asarray(weights)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return {
        x: sum(unary[i, x[i]] for i in range(n)) + sum(weights[i, j] * distance[x[i], x[j]] for i, j in pairs)
        for x in itertools.product(range(count), repeat=n)
    }


def random_problem(seed, n=None, count=None, whole=None, density=0.7):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6)) if n is None else n
    count = int(rng.integers(1, 5)) if count is None else count
    weights = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < density), 1)
    distance, unary = rng.normal(size=(count, count)), rng.normal(size=(n, count))
    if (seed % 3 == 0) if whole is None else whole:
        weights, distance, unary = np.round(3 * weights), np.round(distance), np.round(3 * unary)
    return unary, weights + weights.T, distance + distance.T


def check(unary, weights, distance, best, **options):
    """Bound <= brute force <= energy, and a certificate only of the minimum."""
    found = minimize_labels(unary, weights, distance, **options)
    rounding = 1e-10 * (1.0 + abs(best) + np.abs(unary).sum())
    assert found.lower_bound <= best + rounding
    assert best <= found.energy + rounding
    assert found.energy == pytest.approx(as_label_problem(unary, weights, distance).energy(found.labels))
    assert found.lower_bound <= found.energy
    if found.certified and not options.get("gap"):
        assert found.energy <= best + rounding
    return found


@pytest.mark.parametrize("seed", range(40))
def test_brute_force_agrees(seed):
    unary, weights, distance = random_problem(seed)
    best = min(energies(unary, weights, distance).values())
    found = check(unary, weights, distance, best)
    assert found.certified
    assert found.status == "optimal"
    assert found.message.startswith("Proved optimal")
    first = check(unary, weights, distance, best, time_limit=0)
    assert first.rounds == first.nodes == 0
    assert np.isfinite(first.lower_bound)
    loose = check(unary, weights, distance, best, gap=0.3)
    assert loose.certified
    assert loose.gap <= 0.3 * (1 + 1e-9) or loose.status == "optimal"


@pytest.mark.parametrize("shift", [1e6, -3.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
def test_shifted_and_scaled(shift, scale):
    for seed in range(6):
        unary, weights, distance = random_problem(seed, n=4, count=3)
        moved = (unary + shift) * scale, weights * scale, distance
        found = check(*moved, min(energies(*moved).values()))
        assert found.certified


def test_ties_and_relabelled_sites():
    unary, weights, distance = np.zeros((5, 4)), np.ones((5, 5)) - np.eye(5), np.ones((4, 4))
    assert check(unary, weights, distance, 10.0).certified
    unary, weights, distance = random_problem(3, n=5, count=3)
    order = np.random.default_rng(0).permutation(5)
    turned = minimize_labels(unary[order], weights[np.ix_(order, order)], distance)
    assert turned.energy == pytest.approx(minimize_labels(unary, weights, distance).energy)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (1, 1), (4, 1), (4, 3)])
def test_no_edges(shape):
    unary = np.random.default_rng(0).normal(size=shape)
    found = minimize_labels(unary, np.zeros((shape[0], shape[0])), np.eye(shape[1]))
    assert found.certified
    assert found.energy == pytest.approx(unary.min(axis=1).sum())
    assert found.gap == pytest.approx(0.0, abs=1e-12)
    assert minimize_labels(unary, np.zeros((shape[0], shape[0])), np.eye(shape[1]), time_limit=0).labels.shape == (
        shape[0],
    )


@pytest.mark.parametrize("moves", [*FAMILIES, ()])
def test_every_family_of_moves(moves):
    for seed in range(4):
        unary, weights, distance = random_problem(seed, n=5, count=4, density=1.0)
        best = min(energies(unary, weights, distance).values())
        assert check(unary, weights, distance, best, moves=moves, seed=seed).certified


def test_it_does_not_lose_to_expansion():
    rng = np.random.default_rng(1)
    levels = np.digitize(np.mgrid[:12, :15][1], [4, 9]) + 0.6 * rng.normal(size=(12, 15))
    unary = (levels.ravel()[:, None] - np.arange(3)) ** 2
    graph, distance = grid_pairs((12, 15), 0.7), 1.0 - np.eye(3)
    found = minimize_labels(unary, graph, distance)
    assert found.certified
    expanded = alpha_expansion(unary, graph, distance)
    assert found.energy <= expanded.energy + 1e-9
    assert minimize_labels(unary, graph, distance, initial=expanded.labels, time_limit=0).energy == pytest.approx(
        expanded.energy
    )


def test_tables_for_edges():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        unary, tables = rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
        edges = [(0, 1), (2, 1), (2, 3), (3, 0)]  # some against the order of the sites
        weights = np.zeros((4, 4))
        for i, j in edges:
            weights[i, j] = weights[j, i] = 1.0 + i
        found = minimize_labels(unary, weights, dict(zip(edges, tables)))
        best = min(
            sum(unary[range(4), x]) + sum(weights[i, j] * t[x[i], x[j]] for (i, j), t in zip(edges, tables))
            for x in itertools.product(range(3), repeat=4)
        )
        assert found.certified
        assert found.energy == pytest.approx(best)
        assert found.lower_bound <= best + 1e-9


def test_names():
    pandas = pytest.importorskip("pandas")
    graph = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c")])
    costs = pandas.DataFrame([[0, 1.0], [1, 1], [3, 0.1]], columns=["red", "blue"])
    found = minimize_labels(costs, graph, {("b", "a"): np.eye(2), ("b", "c"): [[0, 1], [5, 0]]})
    assert found.assignment == {"a": "red", "b": "blue", "c": "blue"}
    assert "proved" in found._repr_html_()
    assert "Proved optimal" in str(found)
    assert minimize_labels([[0, 1.0]], [[0]], np.eye(2)).assignment == {0: 0}


def hard_problem():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.normal(size=(60, 60)), 1)
    return rng.normal(size=(60, 5)), weights + weights.T, 1 - np.eye(5)


def test_limits_leave_a_labelling_and_a_bound():
    found = minimize_labels(*hard_problem(), time_limit=0.2)
    assert found.status == "time_limit"
    assert not found.certified
    assert -np.inf < found.lower_bound < found.energy
    assert "time limit" in found.message
    assert found.energy < minimize_labels(*hard_problem(), time_limit=0).energy


@pytest.mark.parametrize("place", ["move", "settle", "bound"])
def test_an_interruption_leaves_a_labelling_and_a_bound(place, monkeypatch):
    def raising(*arguments):
        raise KeyboardInterrupt

    owner = {"move": label_run.LabelRun, "settle": label_run.LabelSearch, "bound": label_run.Dual}[place]
    monkeypatch.setattr(owner, place, raising)
    found = minimize_labels(*hard_problem())
    assert found.status == "interrupted"
    assert not found.certified
    assert found.lower_bound < found.energy < np.inf
    assert np.isfinite(found.lower_bound) == (place != "bound")


def test_a_signal_ends_the_search_with_what_it_found(monkeypatch):
    decide = label_run.LabelSearch.decide

    def pressed(search, *arguments):
        if search.nodes == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return decide(search, *arguments)

    monkeypatch.setattr(label_run.LabelSearch, "decide", pressed)
    found = minimize_labels(*hard_problem())
    assert found.status == "interrupted"
    assert 5 <= found.nodes < 100
    assert -np.inf < found.lower_bound < found.energy


def test_a_search_that_is_too_deep_says_so(monkeypatch):
    monkeypatch.setattr("dsprog.applications.labels.search.DEEPEST", 1)
    found = minimize_labels(*hard_problem())
    assert found.status == "finished"
    assert not found.certified
    assert -np.inf < found.lower_bound < found.energy


GOOD = {"unary": np.zeros((2, 2)), "graph": np.array([[0, 1.0], [1, 0]]), "distance": np.eye(2)}


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"unary": np.zeros((2, 0))}, "unary must have a column for each label"),
        ({"unary": [0.0, 1.0]}, "unary must have shape"),
        ({"unary": [[np.nan, 0], [0, 0]]}, "unary must be finite"),
        ({"graph": np.zeros((3, 3))}, "graph must have 2 sites"),
        ({"graph": [[0, 1], [2, 0]]}, "graph must be symmetric"),
        ({"distance": np.zeros((3, 3))}, "distance must have shape"),
        ({"distance": [[0, 1], [2, 0]]}, "distance must be symmetric"),
        ({"distance": {(0, 1): [[0, 1], [2, np.inf]]}}, "must be finite"),
        ({"distance": {}}, r"a table for each edge, got none for \(0, 1\)"),
        ({"distance": {(0, 5): np.eye(2)}}, "pairs of sites as keys"),
        ({"distance": {(0, 1): np.eye(3)}}, "must have shape"),
        ({"distance": {(0, 1): np.eye(2), (1, 0): np.eye(2)}}, "each edge once"),
        ({"graph": np.array([[0, 1e200], [1e200, 0]]), "distance": 1e200 * np.eye(2)}, "products"),
        ({"initial": [0, 2]}, "initial must have labels from 0 to 1"),
        ({"initial": [0]}, "initial must have shape"),
        ({"moves": ["jumps"]}, "moves must be among"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"gap": -1}, "gap must be"),
    ],
)
def test_bad_input_is_refused(bad, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimize_labels(**{**GOOD, **bad})
