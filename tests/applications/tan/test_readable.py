"""A fitted network in words: graph, tables, weights."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")
from dsprog.applications import TANClassifier, load_hepatitis


@pytest.fixture(scope="module")
def fitted():
    data = load_hepatitis().complete()
    return TANClassifier(method="pairwise").fit(data.X, data.y)


def test_graph(fitted):
    graph = fitted.to_networkx()
    names = list(fitted.feature_names_in_)
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.successors("class")) == set(names)
    for child, parent in zip(names, fitted.tree_):
        assert set(graph.predecessors(child)) - {"class"} == ({names[parent]} if parent >= 0 else set())


def test_tables(fitted):
    for i, name in enumerate(fitted.feature_names_in_):
        table = fitted.probability_table(name)
        assert table.equals(fitted.probability_table(i))
        assert list(table.columns) == [str(c) for c in fitted.classes_]
        sums = table.groupby(level=0).sum() if fitted.tree_[i] >= 0 else table.sum()
        assert np.allclose(sums, 1.0)
    for bad in ("nobody", -1, 99, 1.5, True):
        with pytest.raises(ValueError, match="feature must be a column of X"):
            fitted.probability_table(bad)


def test_weights_repeat_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (60, 4)).astype(str), columns=list("abcd"))
    y, weights = rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    weighted = TANClassifier().fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = TANClassifier().fit(X.iloc[rows], y[rows])
    assert np.array_equal(weighted.tree_, repeated.tree_)
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    for bad in (np.ones(3), np.full(60, 0.5), -np.ones(60), np.zeros(60), ["a"] * 60):
        with pytest.raises(ValueError, match="sample_weight must"):
            TANClassifier().fit(X, y, sample_weight=bad)


def test_picture_has_the_class(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axis = fitted.plot()
    assert {"class", *fitted.feature_names_in_} == {text.get_text() for text in axis.texts if text.get_text()}
    matplotlib.pyplot.close(axis.figure)
