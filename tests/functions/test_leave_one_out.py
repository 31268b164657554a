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
