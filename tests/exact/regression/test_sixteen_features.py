"""All 65,536 sets of sixteen features, for every loss and every ready-made penalty, alone and within a budget."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications import group_penalty, tree_penalty
from dsprog.applications.features.penalties import PENALTIES, penalty_function

P = 16
READY_MADE = {
    **{name: (lambda X, name=name: penalty_function(X, name)) for name in PENALTIES},
    "groups": lambda X: group_penalty([range(first, min(first + 5, P)) for first in range(0, P, 4)], n=P),
    "tree": lambda X: tree_penalty([-1, *((j - 1) // 2 for j in range(1, P))]),
}
LOSSES = {
    "least squares": lambda X, y: ds.LeastSquares(X, y),
    "with a ridge": lambda X, y: ds.LeastSquares(X, y, 0.1),
    "logistic": lambda X, y: ds.LogisticLoss(X, np.sign(y), 0.05),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, P)) @ (0.6 * np.eye(P) + 0.4 * rng.normal(size=(P, P)) / 4)
    return X, X[:, [1, 6, 7, 12]] @ np.array([1.0, -0.8, 0.6, 0.4]) + rng.normal(size=40)


@pytest.mark.parametrize("loss", LOSSES)
def test_brute_force_agrees(loss):
    X, y = data()
    f = LOSSES[loss](X, y)
    masks = (np.arange(1 << P)[:, None] >> np.arange(P)) % 2 == 1
    losses = f.values(masks)
    for name, make in READY_MADE.items():
        penalty = make(X)
        prices = penalty.values(masks)
        for lam in (0.1 / prices.max(), 0.5 / prices.max()):
            for most in (P, 3):
                best = (losses + lam * prices)[masks.sum(axis=1) <= most].min()
                constraints = [] if most == P else [ds.Cardinality(max=most)]
                result = ds.minimize(f + lam * penalty, ds.PerspectiveBranchAndBound(), constraints=constraints)
                assert result.certified, (name, lam, most)
                assert result.value == pytest.approx(best, abs=1e-9), (name, lam, most)
                assert result.lower_bound <= best + 1e-9
