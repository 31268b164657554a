"""TAN classifiers: trees that their definitions demand, probabilities that a direct enumeration gives."""

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")
import networkx as nx
import pandas as pd

from dsprog.applications import TANClassifier
from dsprog.applications.tan.attribute_cuts import Cutter, bipartition, settled
from dsprog.applications.tan.explaining_away import explaining_away
from dsprog.applications.tan.likelihood import allowed_parents, climbed
from dsprog.applications.tan.picture import positions
from dsprog.applications.tan.tables import Counts, LogTables
from dsprog.functions.mutual_information import MutualInformation
from dsprog.functions.table import all_masks
from dsprog.generators import discrete_data


def dependent_data(seed, rows=300, n=6, values=3, classes=2):
    """Columns that depend on one another and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    X = rng.integers(0, values, (rows, n))
    for j in range(1, n):
        copies = rng.random(rows) < 0.5
        X[copies, j] = (X[copies, rng.integers(0, j)] + y[copies] * (j % 2)) % values
    return X, y


def counts_of(X, y):
    return Counts(X, X.max(axis=0) + 1, y, int(y.max()) + 1)


def edges(parents):
    return {frozenset((int(p), j)) for j, p in enumerate(parents) if p >= 0}


# -- pairs and spanning trees ---------------------------------------------------------------------------------------


def test_pair_measures_follow_their_definition():
    X, y = dependent_data(0)
    counts = counts_of(X, y)
    for i, j in itertools.combinations(range(6), 2):
        pair = X[:, [i, j]]
        assert counts.conditional_information[i, j] == pytest.approx(MutualInformation(pair, given=y)([0]), abs=1e-12)
        assert counts.information[i, j] == pytest.approx(MutualInformation(pair)([0]), abs=1e-12)
        assert counts.residual[j, i] == pytest.approx(explaining_away(pair, y)([0]), abs=1e-12)


@pytest.mark.parametrize("structure", ["generative", "discriminative"])
@pytest.mark.parametrize("seed", range(4))
def test_spanning_tree_equals_that_of_networkx(seed, structure):
    X, y = dependent_data(seed, n=8)
    counts = counts_of(X, y)
    weights = counts.conditional_information if structure == "generative" else counts.residual
    graph = nx.Graph()
    graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in itertools.combinations(range(8), 2))
    expected = {frozenset(edge) for edge in nx.maximum_spanning_tree(graph).edges}
    classifier = TANClassifier(structure=structure, tree="spanning", categorical="all").fit(X, y)
    assert edges(classifier.tree_) == expected
    assert edges(TANClassifier(structure=structure, method="pairwise", categorical="all").fit(X, y).tree_) == expected


# -- cuts and bipartition trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize("method", ["exact", "ssp", "prism"])
def test_every_cut_is_what_its_definition_says(method, generative, clock):
    clock.tick = 0.01
    X, y = dependent_data(3, n=7)
    limit = 2.0 if method == "prism" else None  # the others end by themselves
    cuts = bipartition(Cutter(X, y, generative, method, time_limit=limit), tuple(range(7)))
    assert len(cuts) == 6
    for cut in cuts:
        assert set(cut.part) | set(cut.rest) == set(cut.block)
        assert cut.part
        assert cut.rest
        block = X[:, list(cut.block)]
        measure = MutualInformation(block, given=y) if generative else explaining_away(block, y)
        values = measure.values(all_masks(len(cut.block))[1:-1])
        assert cut.value == pytest.approx(measure([cut.block.index(j) for j in cut.part]), abs=1e-9)
        assert cut.lower_bound <= values.min() + 1e-9
        if method == "exact" or generative:
            assert cut.certified
        if cut.certified:
            assert cut.value == pytest.approx(values.min(), abs=1e-9)


@pytest.mark.parametrize(("structure", "join"), [("generative", "cmi"), ("discriminative", "ear")])
def test_parts_are_joined_by_their_heaviest_pair(structure, join):
    X, y = dependent_data(5, n=7)
    classifier = TANClassifier(structure=structure, join=join, categorical="all").fit(X, y)
    counts = counts_of(X, y)
    weights = counts.conditional_information if join == "cmi" else counts.residual
    expected = {
        frozenset(max(itertools.product(cut.part, cut.rest), key=lambda pair: weights[pair]))
        for cut in classifier.cuts_
    }
    assert edges(classifier.tree_) == expected
    assert nx.is_tree(nx.Graph([tuple(edge) for edge in edges(classifier.tree_)]))
    assert classifier.certified_


def test_cuts_can_be_joined_again():
    X, y = dependent_data(6)
    first = TANClassifier(categorical="all", join="ear").fit(X, y)
    again = TANClassifier(categorical="all", join="cmi", cuts=first.cuts_).fit(X, y)
    fresh = TANClassifier(categorical="all", join="cmi").fit(X, y)
    assert edges(again.tree_) == edges(fresh.tree_)


def test_ties_prefer_independent_parts_then_equal_sizes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = np.zeros((80, 6), dtype=int)  # constant columns: every cut has residual 0
    residual, dependence = explaining_away(X, y), MutualInformation(X, given=y)
    assert settled(residual, dependence, np.array([1, 0, 0, 0, 0, 0], dtype=bool)).sum() == 3
    cut = Cutter(X, y)(tuple(range(6)))
    assert len(cut.part) == 3
    assert cut.value == pytest.approx(0.0, abs=1e-9)


def test_separator_tree_finds_a_chain():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 3000)
    X = rng.integers(0, 2, (3000, 5))
    for j in range(1, 5):
        X[:, j] = np.where(rng.random(3000) < 0.85, X[:, j - 1], 1 - X[:, j - 1])
    classifier = TANClassifier(structure="generative", tree="separator", categorical="all").fit(X, y)
    assert edges(classifier.tree_) == {frozenset((j, j + 1)) for j in range(4)}
    discriminative = TANClassifier(tree="separator", categorical="all").fit(X, y)
    assert len(edges(discriminative.tree_)) == 4
    assert len(discriminative.cuts_) == 5 * 3
    assert discriminative.certified_


# -- probabilities --------------------------------------------------------------------------------------------------


def enumerated(X, y, parents, smoothing):
    """P(x, c) for every cell of the joint table, from counts of rows."""
    sizes, classes = X.max(axis=0) + 1, int(y.max()) + 1
    table = np.zeros((*sizes, classes))
    for cell in itertools.product(*map(range, sizes), range(classes)):
        x, c = cell[:-1], cell[-1]
        probability = np.mean(y == c)
        for i, parent in enumerate(parents):
            context = (y == c) & ((X[:, parent] == x[parent]) if parent >= 0 else True)
            seen = (context & (X[:, i] == x[i])).sum()
            total = context.sum() + smoothing * sizes[i]
            probability *= (seen + smoothing) / total if total > 0 else 0.0
        table[cell] = probability
    return table


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("structure", ["naive", "generative", "discriminative"])
def test_probabilities_equal_enumeration_of_the_joint_table(structure, smoothing):
    X, y = dependent_data(2, rows=60, n=4, classes=3)
    classifier = TANClassifier(structure=structure, smoothing=smoothing, categorical="all").fit(X, y)
    joint = enumerated(X, y, classifier.tree_, smoothing)
    if smoothing:
        assert joint.sum() == pytest.approx(1.0)
    cells = np.array(list(itertools.product(*map(range, X.max(axis=0) + 1))))
    mass = joint.reshape(len(cells), -1)
    prior = np.bincount(y) / len(y)
    with np.errstate(invalid="ignore"):
        expected = np.where(mass.sum(axis=1, keepdims=True) > 0, mass / mass.sum(axis=1, keepdims=True), prior)
    np.testing.assert_allclose(classifier.predict_proba(cells), expected, atol=1e-12)
    guess = classifier.predict(cells)
    np.testing.assert_allclose(expected[np.arange(len(cells)), guess], expected.max(axis=1), atol=1e-12)


def test_hill_climbing_raises_the_conditional_likelihood_and_keeps_a_tree():
    X, y = dependent_data(4, n=7, classes=3)
    plain = TANClassifier(method="pairwise", categorical="all").fit(X, y)
    for criterion in ("conditional_likelihood", "accuracy"):
        climber = TANClassifier(method="pairwise", criterion=criterion, categorical="all").fit(X, y)
        graph = nx.empty_graph(7)
        graph.add_edges_from(map(tuple, edges(climber.tree_)))
        assert nx.is_forest(graph)
        if criterion == "accuracy":
            assert climber.score(X, y) >= plain.score(X, y)
        else:
            rows = np.arange(len(y))
            after, before = (c.predict_log_proba(X)[rows, y].sum() for c in (climber, plain))
            assert after >= before
    top = climbed(LogTables(counts_of(X, y), 1.0), climber.tree_, "accuracy")
    np.testing.assert_array_equal(top, climber.tree_)


def test_a_parent_never_hangs_below_its_child():
    parents = np.array([-1, 0, 1, 1, 0])
    assert allowed_parents(parents, 1) == [0, 4]
    assert allowed_parents(parents, 0) == []


# -- columns --------------------------------------------------------------------------------------------------------


def mixed_table(rows=120):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    table = {"size": rng.normal(size=rows) + 3 * y, "colour": rng.choice(["red", "blue"], rows), "flag": y == 1}
    return pd.DataFrame(table).astype({"colour": "category"}), np.where(y == 1, "yes", "no")


def test_pandas_tables_with_numbers_and_categories():
    X, y = mixed_table()
    classifier = TANClassifier().fit(X, y)
    assert classifier.score(X, y) == 1.0
    assert classifier.feature_names_in_.tolist() == ["size", "colour", "flag"]
    assert len(classifier.columns_[0].edges) >= 1
    unseen = X.iloc[:2].assign(colour=["green", "red"])
    np.testing.assert_allclose(classifier.predict_proba(unseen).sum(axis=1), 1.0)


def test_row_order_and_labels_do_not_matter():
    X, y = mixed_table()
    order = np.random.default_rng(1).permutation(len(y))
    first = TANClassifier().fit(X, y).predict_proba(X)
    second = TANClassifier().fit(X.iloc[order], y[order]).predict_proba(X)
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_missing_values_by_choice():
    X, y = mixed_table()
    X.loc[:9, "colour"] = None
    X.loc[5:14, "size"] = np.nan
    with pytest.raises(ValueError, match="missing values, got NaN in column 0"):
        TANClassifier().fit(X, y)
    dropped = TANClassifier(missing="drop").fit(X, y)
    complete = TANClassifier().fit(X.iloc[15:], y[15:])
    np.testing.assert_allclose(dropped.predict_proba(X.iloc[15:]), complete.predict_proba(X.iloc[15:]))
    np.testing.assert_allclose(dropped.predict_proba(X).sum(axis=1), 1.0)
    assert TANClassifier(missing="category").fit(X, y).columns_[1].size == 3


def test_a_value_never_seen_says_nothing():
    X = np.array([["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]], dtype=object)
    y = [0, 0, 1, 1]
    classifier = TANClassifier(structure="naive").fit(X, y)
    np.testing.assert_allclose(classifier.predict_proba([["never", "u"]]), [[0.5, 0.5]])


def test_bad_options():
    X, y = dependent_data(0, rows=20)
    for options, message in [
        ({"method": "magic"}, "method must be one of exact, prism, ssp, pairwise, got 'magic'"),
        ({"smoothing": -1}, "smoothing must be at least 0"),
        ({"missing": "guess"}, "missing must be 'error', 'drop' or 'category'"),
        ({"categorical": "some"}, "categorical must be 'auto', 'all' or a list of columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            TANClassifier(**options).fit(X, y)


def test_the_picture(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = discrete_data(np.random.default_rng(0), 60, 6)
    classifier = TANClassifier(categorical="all").fit(X, y)
    places = positions(classifier.tree_)
    assert len({tuple(place) for place in places}) == 6
    axis = classifier.plot()
    assert sorted(text.get_text() for text in axis.texts if text.get_text()) == ["class", *(f"x{j}" for j in range(6))]
    axis.figure.savefig(tmp_path / "tree.png")
    matplotlib.pyplot.close(axis.figure)


def test_cuts_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="cuts must be a list of AttributeCut objects"):
        TANClassifier(cuts=[1]).fit([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
