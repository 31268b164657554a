"""Fayyad and Irani's discretisation against cases worked by hand."""

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")
from dsprog.applications import MDLDiscretizer
from dsprog.applications.tan.discretize import edges_of

CASES = {
    # N = 8, H = 1: gain 1 > (log₂7 + log₂7 - 2) / 8 = 0.452
    "two pure halves": (range(8), [0, 0, 0, 0, 1, 1, 1, 1], [3.5]),
    # N = 2: gain 1 > (log₂1 + log₂7 - 2) / 2 = 0.404
    "two rows": ([1.0, 4.0], [0, 1], [2.5]),
    # N = 4: the best gain, of a single row at an end, is 1 - 3/4 0.918 = 0.311 < (log₂3 + log₂7 - (2 - 2 0.918)) / 4
    "alternating": (range(4), [0, 1, 0, 1], []),
    # N = 9, k = 3: gain 0.918 > (log₂8 + log₂25 - (3 1.585 - 2)) / 9 = 0.543; then N = 6: 1 > (log₂5 + log₂7 - 2) / 6
    "three classes": (range(9), [0, 0, 0, 1, 1, 1, 2, 2, 2], [2.5, 5.5]),
    # N = 5: gain 0.722 > (log₂4 + log₂7 - 2 0.722) / 5 = 0.673
    "one against four": (range(5), [1, 0, 0, 0, 0], [0.5]),
    # N = 4: gain 0.811 > (log₂3 + log₂7 - 2 0.811) / 4 = 0.692
    "one against three": (range(4), [1, 0, 0, 0], [0.5]),
    # equal values stay together: classes are mixed inside each value
    "no cut inside a value": ([1, 1, 2, 2], [0, 1, 0, 1], []),
    "a constant": ([3, 3, 3], [0, 1, 0], []),
    "one class": (range(5), [0, 0, 0, 0, 0], []),
}


@pytest.mark.parametrize("name", CASES)
def test_cases_worked_by_hand(name):
    values, classes, edges = CASES[name]
    found = edges_of(np.array(values, dtype=float), np.array(classes))
    np.testing.assert_allclose(found, edges)


def recursive(values, classes):
    """The definition, written out with sets of rows."""

    def entropy(part):
        share = np.bincount(part)[np.bincount(part) > 0] / len(part)
        return -(share * np.log2(share)).sum()

    points = np.unique(values)
    best = None
    for low, high in itertools.pairwise(points):
        T = (low + high) / 2
        left, right = classes[values < T], classes[values > T]
        rest = (len(left) * entropy(left) + len(right) * entropy(right)) / len(classes)
        if best is None or rest < best[0] - 1e-12:
            best = rest, T, left, right
    if best is None:
        return []
    rest, T, left, right = best
    k, k1, k2 = (len(np.unique(part)) for part in (classes, left, right))
    delta = np.log2(3**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(classes) - rest <= (np.log2(len(classes) - 1) + delta) / len(classes):
        return []
    below = values < T
    return [*recursive(values[below], classes[below]), T, *recursive(values[~below], classes[~below])]


@pytest.mark.parametrize("seed", range(6))
def test_random_columns_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=200).round(1)
    classes = (values + rng.normal(scale=0.3, size=200) > 0).astype(int) + (values > 1)
    found = edges_of(values, classes)
    assert len(found)
    np.testing.assert_allclose(found, recursive(values, classes))


def test_transform_keeps_order_and_takes_new_values():
    X = np.arange(8.0)[:, None]
    discretizer = MDLDiscretizer().fit(X, ["a"] * 4 + ["b"] * 4)
    assert discretizer.transform([[-5.0], [3.5], [99.0]]).ravel().tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="NaN"):
        discretizer.transform([[np.nan]])
