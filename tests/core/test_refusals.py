"""What is no input is refused with one sentence: words and dates as numbers, sums that overflow, wrong shapes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

import dsprog as ds
from dsprog.applications.energy import max_cut
from dsprog.core.validation import as_flag, as_seed, as_whole
from dsprog.core.views import Relabelled, Restriction

F = ds.CardinalityConcave(3)
DATES = np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]")
FOUR = np.full((4, 4), 1e308)


class Returns(ds.SetFunction):
    """A family of three elements whose values are made by a user's function."""

    def __init__(self, make):
        self.make, self.n, self.knows = make, 3, ds.Knowledge(submodular=True)

    def _values(self, masks):
        return self.make(masks.sum(axis=1) * 1.0)


def directed_graph(forth, back):
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=forth)
    graph.add_edge("b", "a", weight=back)
    return graph


WRONG_SHAPE = "_values of Returns must return real numbers of shape"
CASES = {
    "a word for a truth value": (
        lambda: F.declare(submodular="no"),
        "submodular must be True, False or None, got 'no'",
    ),
    "a claim of words": (lambda: ds.FromCallable(len, 3, submodular="no"), "submodular must be True, False or None"),
    "knowledge of words": (lambda: ds.Knowledge(increasing="yes"), "increasing must be True, False or None"),
    "dates as numbers": (lambda: ds.NuclearNorm(DATES), "X must be an array of numbers, got an array of datetime64[D]"),
    "words that look like numbers": (lambda: ds.Modular(["1", "2"]), "weights must be an array of numbers, got list"),
    "complex objects": (lambda: ds.Modular(np.array([1j], dtype=object)), "weights must be an array of numbers"),
    "many digits": (lambda: ds.Modular([10**400]), "weights must be an array of numbers, got list"),
    "complex sparse": (lambda: ds.Cut(sparse.eye_array(2) * 1j), "adjacency must be a matrix of real numbers"),
    "complex codes": (lambda: ds.Entropy([[1j]]), "X must be an array of real numbers without gaps"),
    "complex codes as objects": (lambda: ds.Entropy(np.array([[1j]], dtype=object)), "X must be discrete values"),
    "dates as codes": (lambda: ds.Entropy(DATES), "X must be discrete values such as whole numbers or words"),
    "no time": (lambda: ds.Entropy(pd.DataFrame({"a": [pd.NaT]}, dtype=object)), "X must have no missing values"),
    "pandas' NA": (lambda: ds.Entropy(pd.DataFrame({"a": [1, pd.NA]})), "X must have no missing values"),
    "masked codes": (lambda: ds.Entropy(np.ma.array([[1, 2]], mask=[[0, 1]])), "without gaps"),
    "lists as codes": (lambda: ds.Entropy(np.array([[{}], [{}]], dtype=object)), "discrete values must be numbers"),
    "two directions": (lambda: max_cut(directed_graph(1.0, 2.0)), "graph must be undirected, or give each edge in one"),
    "is it submodular, without n": (lambda: ds.testing.is_submodular(lambda S: 0.0), "or a callable with n=..."),
    "is it submodular, other n": (lambda: ds.testing.is_submodular(F, n=4), "n must be left out, or be that of f, 3"),
    "values in a column": (lambda: Returns(lambda v: v[:, None])([0]), f"{WRONG_SHAPE} (1,), got shape (1, 1)"),
    "a value too few": (lambda: Returns(lambda v: v[1:]).values(np.eye(3)), f"{WRONG_SHAPE} (3,), got shape (2,)"),
    "values as a list": (lambda: Returns(list)([0]), f"{WRONG_SHAPE} (1,), got list"),
    "complex values": (lambda: Returns(lambda v: v * 1j)([0]), f"{WRONG_SHAPE} (1,), got dtype complex128"),
    "marginals of a list": (lambda: Returns(list).marginals(np.eye(3)), f"{WRONG_SHAPE} (9,), got list"),
    "minimum of a column": (lambda: ds.minimize(Returns(lambda v: v[:, None]) - F), WRONG_SHAPE),
    "other elements in a sum": (
        lambda: ds.Sum(3, [(1.0, ds.CardinalityConcave(4))]),
        "terms must be functions of 3 elements, got one of 4",
    ),
    "NaN in a sum": (lambda: ds.Sum(3, [(np.nan, F)]), "the coefficient of a term must be finite, got nan"),
    "a product of coefficients": (lambda: 1e200 * (1e200 * F), "the coefficient of a term must be finite, got inf"),
    "no pairs in a sum": (lambda: ds.Sum(3, [F]), "terms must be pairs of a number and a SetFunction"),
    "nothing in a sum": (lambda: ds.Sum(3, None), "terms must be pairs of a number and a SetFunction, got None"),
    "divided by infinity": (lambda: F / np.inf, "divisor must be finite, got inf"),
    "an array minus a function": (lambda: np.ones(3) - F, "term must be a SetFunction or a number, got ndarray"),
    "a view of nothing": (lambda: ds.ConcaveOf(None), "function must be a SetFunction, got NoneType"),
    "no permutation": (lambda: Relabelled(F, [0, 0, 1]), "permutation must be a permutation of 0..2"),
    "included and free": (lambda: Restriction(F, [0], [0, 1]), "include and free must have no element in common"),
    "directed": (lambda: ds.Cut([[0, 1], [1, 0]], directed="no"), "directed must be True or False, got 'no'"),
    "pairs that overflow": (lambda: ds.Pairwise(FOUR, [-1e308] * 4), "quadratic must have absolute values that add up"),
    "a cut that overflows": (lambda: ds.Cut(FOUR), "adjacency must have absolute values that add up to at most 1e+300"),
    "weights that overflow": (lambda: ds.Modular([1e308, 1e308]), "weights must have absolute values that add up"),
    "groups that overflow": (lambda: ds.ConcaveOfModular(FOUR), "W must have absolute values that add up"),
    "products that overflow": (lambda: ds.ConcaveOfModular([[1e299]], [1e299]), "weights times concave(W) must"),
    "coverage that overflows": (lambda: ds.Coverage([[1], [1]], [1e308, 1e308]), "weights must have absolute values"),
    "facilities that overflow": (lambda: ds.FacilityLocation(FOUR), "similarity must have absolute values"),
    "squares that overflow": (lambda: ds.NuclearNorm(FOUR), "values that add up to at most 1e+150"),
    "a row that overflows": (lambda: ds.LinearConstraint(FOUR), "A must have absolute values that add up"),
    "a large constant": (lambda: ds.Modular([1.0], 1e301), "constant must be at most 1e+300 in absolute value"),
    "large n": (lambda: ds.CardinalityConcave(10**400), "n must be at most"),
    "seed": (lambda: as_seed(-1), "seed must be at least 0, got -1"),
    "seed of words": (lambda: as_seed("x"), "seed must be a whole number, got 'x'"),
    "flag": (lambda: as_flag(1, "reduce"), "reduce must be True or False, got 1"),
    "half a block": (lambda: as_whole([0.7], "blocks", shape=(None,)), "blocks must be whole numbers below 2**53"),
    "a block beyond counting": (lambda: as_whole([1e30], "blocks", shape=(None,)), "got 1e+30"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_clear_sentence(case):
    action, sentence = CASES[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        action()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_input():
    """Read-only, Fortran order, pandas, lists and small types mean the same."""
    W = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]])
    masks = np.eye(3, dtype=bool)
    wanted = ds.ConcaveOfModular(W).values(masks)
    for given in (
        np.asfortranarray(W),
        np.broadcast_to(W, W.shape),
        pd.DataFrame(W),
        pd.DataFrame(W, dtype=object),
        W.tolist(),
        W.astype(np.float32),
        W.astype(">i2"),
        tuple(map(tuple, W)),
    ):
        np.testing.assert_array_equal(ds.ConcaveOfModular(given).values(masks), wanted)
    assert F.declare(submodular=np.bool_(True)).knows.submodular is True
    assert (np.float64(2.0) * F)([0]) == 2.0 * F([0])


def test_directed_graphs_with_one_weight_for_each_edge():
    expected = max_cut([[0, 3], [3, 0]])
    one_way = nx.DiGraph()
    one_way.add_edge(0, 1, weight=3.0)
    for graph in (one_way, directed_graph(3.0, 3.0), one_way.to_undirected()):
        np.testing.assert_array_equal(max_cut(graph).values(np.eye(2)), expected.values(np.eye(2)))


def test_is_submodular_of_a_callable():
    assert ds.testing.is_submodular(lambda S: min(len(S), 2), n=4)
    assert not ds.testing.is_submodular(lambda S: len(S) ** 2, n=4)


def test_edges_between_few_of_many_vertices():
    """Only vertices that edges touch take memory."""
    rank = ds.MatroidRank.graphic([(0, 10**12), (10**12, 5), (5, 0)])
    assert rank([0, 1, 2]) == 2.0
