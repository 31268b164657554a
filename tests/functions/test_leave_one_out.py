"""Marginals of dependent columns are differences of values."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.set_function import SetFunction

DESIGNS = {
    "more than rows": lambda rng: rng.normal(size=(5, 12)),
    "pairs": lambda rng: np.repeat(rng.normal(size=(20, 6)), 2, axis=1),
    "one pair": lambda rng: np.column_stack([rng.normal(size=(20, 11)), np.zeros(20)]) @ np.eye(12)[:, [*range(11), 3]],
    "zeros": lambda rng: rng.normal(size=(20, 12)) * (rng.random(12) < 0.5),
    "lengths": lambda rng: np.repeat(rng.normal(size=(20, 6)), 2, axis=1) * 10.0 ** rng.integers(-6, 7, 12),
    "centred": lambda rng: (X := rng.normal(size=(12, 12))) - X.mean(axis=0),
    "low rank": lambda rng: rng.normal(size=(20, 4)) @ rng.normal(size=(4, 12)),
}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("seed", range(4))
def test_marginals_are_differences_of_values(design, seed):
    rng = np.random.default_rng(seed)
    X = DESIGNS[design](rng)
    f = ds.LeastSquares(X, rng.normal(size=len(X)))
    masks = np.vstack([np.ones(12, dtype=bool), rng.random((6, 12)) < 0.7])
    np.testing.assert_allclose(f.marginals(masks), SetFunction._marginals(f, masks), atol=1e-10)
    np.testing.assert_allclose(f.marginals(np.repeat(masks, 5, axis=0))[::5], f.marginals(masks), atol=1e-10)


@pytest.mark.parametrize("rows", [40, 290, 400])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_values_and_marginals_of_large_sets(rows, ridge):
    """More than so many members go another way, alone or among many sets, dependent or not."""
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 300)), rng.normal(size=rows)
    X[:, 7] = X[:, 3]
    f = ds.LeastSquares(X, y, ridge)
    masks = rng.random((3, 300)) < 0.95
    masks[:, [3, 7]] = True
    assert masks.sum(axis=1).min() > 256
    rows_below = np.sqrt(ridge * rows) * np.eye(300)
    for mask, value in zip(masks, f.values(masks)):
        A, b = np.vstack([X, rows_below])[:, mask], np.append(y, np.zeros(300))
        residual = b - A @ np.linalg.lstsq(A, b, rcond=1e-12)[0]
        assert value == pytest.approx(residual @ residual / (2 * rows), rel=1e-9, abs=1e-12)
    outsider, member = np.flatnonzero(~masks[0])[0], np.flatnonzero(masks[0])[5]
    flips = np.array([masks[0], masks[0], masks[0]])
    flips[1, outsider], flips[2, member] = True, False
    here, more, less = f.values(flips)
    assert f.marginals(masks[:1])[0, [outsider, member]] == pytest.approx([more - here, here - less], abs=1e-10)
