"""The data sets have the shapes that their sources state."""

import numpy as np
import pytest

pytest.importorskip("pandas")
import dsprog as ds
from dsprog.applications import TANClassifier, explaining_away, load_census, load_chess, load_german, load_hepatitis
from dsprog.experiments.data_folder import data_folder
from dsprog.functions.table import all_masks
from dsprog.testing import check_result
from tests.helpers.packages import needs_data

CENSUS = data_folder() / "uci" / "census-income-kdd"

SHAPES = {
    load_chess: (3196, 36, 0, {"won": 1669, "nowin": 1527}, 3196),
    load_german: (1000, 20, 7, {"1": 700, "2": 300}, 1000),
    load_hepatitis: (155, 19, 6, {"1": 32, "2": 123}, 80),
}


@pytest.mark.parametrize("load", SHAPES, ids=lambda load: load.__name__)
def test_shapes(load):
    rows, attributes, numeric, classes, complete = SHAPES[load]
    data = load()
    assert data.X.shape == (rows, attributes)
    assert data.X.select_dtypes("number").shape[1] == numeric
    assert dict(zip(*np.unique(data.y, return_counts=True))) == classes
    assert len(data.complete().y) == complete


def test_a_missing_census_is_a_clear_message(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"has no census-income\.data"):
        load_census(tmp_path)
    import sklearn.datasets

    def offline(**options):
        raise OSError("no network")

    monkeypatch.delenv("DSPROG_CENSUS", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(FileNotFoundError, match=r"DSPROG_CENSUS.*no network"):
        load_census()


@needs_data("uci", "census-income-kdd")
def test_census():
    train, test = load_census(CENSUS)
    assert (train.X.shape, test.X.shape) == ((199_523, 40), (99_762, 40))
    assert train.X.select_dtypes("number").shape[1] == 7
    assert (train.X["hispanic"] == "NA").sum() == 874
    few = train.rows(np.arange(0, 199_523, 50)).complete()
    residual = explaining_away(few.X.to_numpy(dtype=object)[:, :12], few.y)
    sizes = all_masks(12).sum(axis=1)
    result = ds.minimize(residual, ds.BranchAndBound(starts=2), constraints=[ds.Cardinality(1, 11)])
    assert result.certified
    check_result(result, residual, (sizes > 0) & (sizes < 12))
    classifier = TANClassifier(method="pairwise", missing="category").fit(train.X, train.y)
    recalls = [np.mean(classifier.predict(test.X)[test.y == label] == label) for label in classifier.classes_]
    assert np.mean(recalls) > 0.8
