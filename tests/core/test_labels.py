"""Names of elements: taken from the user or from pandas and networkx, carried through algebra, files and results."""

import inspect

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dsprog as ds
from dsprog.applications.energy import max_cut

NAMES = ("a", "b", "c")


def coverage(**options):
    return ds.Coverage(np.eye(3), **options)


@pytest.mark.parametrize(
    "f",
    [
        coverage(labels=NAMES),
        coverage().labelled("abc"),
        coverage(labels="abc") - ds.Modular([1, 2, 3]),
        2 * coverage(labels=list(NAMES)) + 1,
        ds.Modular(pd.Series([1.0, 2.0, 3.0], index=NAMES)) + 1,
        ds.Modular([1.0, 2.0, 3.0], labels=NAMES) - 1.0,
        ds.ConcaveOfModular(pd.DataFrame(np.ones((2, 3)), columns=NAMES)),
        ds.FromCallable(len, 3, labels=NAMES),
        ds.MatroidRank.uniform(3, 1).labelled(NAMES),
        max_cut(nx.path_graph(list(NAMES))),
    ],
    ids=repr,
)
def test_names_are_kept(f):
    assert f.element_labels == NAMES
    assert f.restrict([0]).element_labels == ("b", "c")
    assert f.relabel([2, 0, 1]).element_labels == ("c", "a", "b")
    assert f.complement().element_labels == NAMES


def test_names_change_nothing():
    named, plain = coverage(labels=NAMES), coverage()
    assert named == plain
    assert named.parameters().keys() == plain.parameters().keys()
    masks = np.random.default_rng(0).random((5, 3)) < 0.5
    assert np.array_equal(named.values(masks), plain.values(masks))
    assert plain.element_labels is None
    assert ds.ConcaveOfModular(pd.DataFrame(np.ones((2, 3)))).element_labels is None  # 0, 1, 2 are no names


def test_a_signature_shows_them():
    assert list(inspect.signature(ds.Coverage).parameters) == ["members", "weights", "labels"]


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_files_keep_them(tmp_path, suffix):
    path = tmp_path / f"named.{suffix}"
    (coverage(labels=NAMES) - ds.Modular([0.5, 0.5, 2.0])).save(path, [ds.Cardinality(max=1)])
    problem = ds.load(path)
    assert problem.labels == NAMES
    assert ds.maximize(problem).labels in (("a",), ("b",))


def test_results_carry_them():
    objective = ds.Modular([1.0, -2.0, -1.0])
    result = ds.minimize(ds.Problem(objective - 0.0, (ds.Cardinality(max=1),), labels=NAMES))
    assert (result.S, result.labels, result.n) == ((1,), ("b",), 3)
    assert "{b}" in str(result)
    assert ds.enumerate_best(objective.labelled(NAMES), 2).labels == (("b", "c"), ("b",))
    assert ds.minimize(objective).labels == (1, 2)


@pytest.mark.parametrize(
    ("labels", "kind", "words"),
    [
        (["a", "b"], ValueError, "one name for each of 3 elements, got 2"),
        (["a", "a", "b"], ValueError, "different from one another"),
        (3, TypeError, "labels must be a list of names"),
        ([[], [], []], TypeError, "labels must be a list of names"),
    ],
)
def test_bad_names(labels, kind, words):
    with pytest.raises(kind, match=words):
        coverage(labels=labels)


def test_names_must_agree():
    with pytest.raises(ValueError, match="the same labels in one order"):
        coverage(labels="abc") - ds.Modular([1, 2, 3], labels="cba")
