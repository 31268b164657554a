"""Blocks, rows and products of a Gram matrix that is made piece by piece are those of the whole."""

import numpy as np
import pytest

from dsprog.exact.regression import wide_gram
from dsprog.exact.regression.wide_gram import WideGram


def pieces(rows, n, seed=0):
    rng = np.random.default_rng(seed)
    X, scale, R = rng.normal(size=(rows, n)), 0.5 + rng.random(n), 0.1 + rng.random(n)
    A = X * scale
    return WideGram(X, scale, R, rng.permutation(n)), A.T @ A + np.diag(R), rng


@pytest.mark.parametrize("most", [3, 12, 1000])
@pytest.mark.parametrize(("rows", "n"), [(1, 20), (4, 30), (9, 30)])
def test_in_any_order_and_with_little_room(most, rows, n, monkeypatch):
    monkeypatch.setattr(wide_gram, "MOST", most)
    gram, G, rng = pieces(rows, n)
    for _ in range(40):
        some, others = (rng.permutation(n)[: rng.integers(0, 8)] for _ in range(2))
        assert gram.block(some, others) == pytest.approx(G[np.ix_(some, others)])
        assert gram.block(some, some) == pytest.approx(G[np.ix_(some, some)])
        assert gram.rows(some) == pytest.approx(G[some])
        w = np.zeros(n)
        w[some] = rng.normal(size=len(some))
        assert gram.product(some, w[some]) == pytest.approx(G @ w)


def test_what_is_returned_is_a_copy():
    gram, G, _ = pieces(5, 12)
    some = np.array([3, 1, 7])
    for make in (lambda: gram.block(some, some), lambda: gram.rows(some), lambda: gram.product(some, np.ones(3))):
        make()[:] = np.nan
    assert gram.block(some, np.arange(12)) == pytest.approx(G[some])
    assert gram.rows(some) == pytest.approx(G[some])


def test_no_more_rows_are_kept_than_X_has():
    gram, _, _ = pieces(4, 30)
    for j in range(30):
        gram.rows(np.array([j]))
        assert len(gram.row_of) <= 4
