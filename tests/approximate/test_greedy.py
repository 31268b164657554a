"""Lazy greedy is greedy, and asks less."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import FAMILIES


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("family", ["concave", "coverage", "facility", "logdet", "entropy"])
def test_lazy_greedy_is_greedy(direction, family):
    objective = FAMILIES[family](14, 3)
    mask = np.full(14, direction == "backward")
    while True:
        marginals = objective.marginals(mask[None, :])[0]
        changes = np.where(mask, -marginals, marginals)
        changes[mask == (direction == "forward")] = np.inf
        if not changes.min() < -1e-9:
            break
        mask[changes.argmin()] ^= True
    result = ds.minimize(objective, ds.Greedy(direction))
    assert result.value == pytest.approx(objective(mask), abs=1e-9)


def test_lazy_greedy_asks_less():
    rng = np.random.default_rng(0)
    objective = ds.Modular(0.5 + rng.random(60)) - ds.Coverage(rng.random((80, 60)) < 0.1, rng.random(80))
    hidden = ds.FromCallable(objective, 60) - 0.0
    lazy, eager = ds.minimize(objective, ds.Greedy()), ds.minimize(hidden, ds.Greedy())
    assert lazy.S == eager.S
    assert len(lazy.S) > 5
    assert lazy.oracle_calls < eager.oracle_calls / 2
