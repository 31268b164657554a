"""n_jobs in scikit-learn's sense: the same answers by several processes."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from dsprog.applications import SubmodularFeatureSelector, TANClassifier
from dsprog.experiments.progress import run_missing
from dsprog.experiments.saved_rows import SavedRows


def classes(n=6, rows=200):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (rows, n))
    return X, (X[:, 0] + X[:, 2] * X[:, 3] > 2).astype(int)


@pytest.mark.parametrize("tree", ["bipartition", "separator"])
def test_a_classifier(tree):
    X, y = classes()
    one, two = (TANClassifier(categorical="all", tree=tree, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.tree_, two.tree_)
    assert two.certified_


def test_a_selector():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, 2] - X[:, 5] + 0.1 * rng.normal(size=60)
    one, two = (SubmodularFeatureSelector([0.3, 0.02], cv=3, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    assert one.lam_ == two.lam_
    np.testing.assert_array_equal(one.support_, two.support_)


def test_rows_of_an_experiment(tmp_path):
    rows = SavedRows(tmp_path / "rows.csv", key=["group", "k"])
    cells = [{"group": group, "k": k} for group in range(3) for k in range(3)]

    def measure(cell):  # each needs the row before it in its group
        before = [row["sum"] for row in rows.rows if row["group"] == cell["group"] and row["k"] == cell["k"] - 1]
        return {"sum": cell["k"] + sum(before)}

    said = []
    run_missing(rows, cells, measure, said.append, n_jobs=2, together=["group"])
    assert sorted((row["group"], row["k"], row["sum"]) for row in rows.rows) == [
        (group, k, k * (k + 1) // 2) for group in range(3) for k in range(3)
    ]
    assert len(said) == 9
    run_missing(rows, cells, measure, said.append, n_jobs=2, together=["group"])
    assert said[-1] == "9 of 9 rows are there already, with the limits of their run"
