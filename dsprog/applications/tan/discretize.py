"""Discretisation by entropy and description length (Fayyad and Irani, 1993).

A column is cut where the classes are told apart best, and each side is cut again, as long as a cut pays for its
description. With N rows and entropy H of the classes, split into N_1 and N_2 rows with entropies H_1, H_2 (in bits)
and k, k_1, k_2 classes present, the best cut of a part is accepted if

    H - (N_1 H_1 + N_2 H_2) / N  >  (log₂(N - 1) + log₂(3^k - 2) - (k H - k_1 H_1 - k_2 H_2)) / N.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dsprog.core.validation import Floats, Ints


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers to intervals 0, 1, ..., with as few cuts as the classes justify.

    Attributes
    ----------
    edges_ : list of arrays
        For each column the cuts in rising order, half way between neighbouring values; a value equal to a cut
        belongs to the interval above. A column that tells nothing about the class has none.

    Examples
    --------
    >>> from dsprog.applications import MDLDiscretizer
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [7.0], [8.0], [9.0], [10.0]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> discretizer = MDLDiscretizer().fit(X, y)
    >>> discretizer.edges_
    [array([5.5])]
    >>> discretizer.transform([[5.0], [6.0]]).ravel()
    array([0, 1])
    """

    def fit(self, X: Any, y: Any) -> MDLDiscretizer:
        """Find the cuts of every column."""
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        classes = np.unique(y, return_inverse=True)[1]
        self.edges_ = [edges_of(column, classes) for column in X.T]
        return self

    def transform(self, X: Any) -> Ints:
        """The interval of every value."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        columns = [np.searchsorted(edges, column, side="right") for edges, column in zip(self.edges_, X.T)]
        return np.column_stack(columns).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        """It needs the classes, and gives whole numbers."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def edges_of(column: Floats, classes: Ints) -> Floats:
    """The cuts of one column in rising order."""
    values, place = np.unique(column, return_inverse=True)
    counts = np.zeros((len(values), classes.max() + 1))
    np.add.at(counts, (place, classes), 1.0)
    below = np.vstack([np.zeros(counts.shape[1]), counts.cumsum(axis=0)])  # class counts of the values before each
    middles = values[:-1] + np.diff(values) / 2
    return middles[np.array(accepted(below, 0, len(values)), dtype=np.int64) - 1]


def accepted(below: Floats, low: int, high: int) -> list[int]:
    """The places to cut the distinct values low .. high-1 at, in order: a cut at k puts k first above it."""
    if high - low < 2:
        return []
    cuts = np.arange(low + 1, high)
    left, right = below[cuts] - below[low], below[high] - below[cuts]
    whole = left[:1] + right[:1]
    N, N1, N2 = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    H, H1, H2 = entropy(whole), entropy(left), entropy(right)
    gains = H - (N1 * H1 + N2 * H2) / N
    best = int(gains.argmax())
    k, k1, k2 = ((part > 0).sum(axis=1) for part in (whole, left[[best]], right[[best]]))
    price = np.log2(N - 1) + np.log2(3.0**k - 2) - (k * H - k1 * H1[best] - k2 * H2[best])
    if not gains[best] > price[0] / N:
        return []
    cut = int(cuts[best])
    return [*accepted(below, low, cut), cut, *accepted(below, cut, high)]


def entropy(counts: Floats) -> Floats:
    """Entropy in bits of each row of class counts."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
