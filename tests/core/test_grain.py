"""Grains: whole numbers, decimals, none."""

import numpy as np
import pytest

from dsprog.core.grain import grain_of


@pytest.mark.parametrize("q", [1.0, 0.1, 0.01, 0.001])
def test_decimals_have_a_grain(q):
    rng = np.random.default_rng(0)
    numbers = np.append(rng.integers(-500, 500, (40, 50)).astype(float) * q, q)
    assert grain_of(numbers, np.zeros(3)) == q
    assert grain_of(numbers.round(3)) == q


def test_others_have_none():
    assert grain_of(np.random.default_rng(0).random(2000)) == 0.0
    assert grain_of(np.append(np.ones(5000), np.pi)) == 0.0  # beyond what is looked at first
    assert grain_of(np.array([1e9])) == 0.0  # sums of such numbers lose the digits
