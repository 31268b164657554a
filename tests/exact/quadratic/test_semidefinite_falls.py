"""Estimates of falls against what fixing each vertex really does to the bound."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_falls import best_fall
from dsprog.exact.quadratic.semidefinite_path import CentralPath, InteriorPoint
from dsprog.exact.quadratic.semidefinite_search import Merged
from tests.helpers.quadratic import random_form

NO_CUTS = InteriorPoint(violation=-np.inf, pentagons=0)


def followed(C, gap):
    """The path without cuts, to where the bound can fall by this share of it and no more."""
    path = CentralPath(NO_CUTS, SemidefinitePoint.diagonally_dominant(C), -np.inf, lambda: False)
    while path.gap > gap * path.point().value:
        assert path.step(path.point().bound())
    return path


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gap", [0.1, 0.01])
def test_falls_are_near_those_of_the_bounds(seed, gap):
    draws = np.random.default_rng(seed).integers(-9, 10, (14, 14))
    C = np.triu(draws, 1) + np.triu(draws, 1).T + 0.0
    best, estimated = followed(C, 1e-7).point().value, followed(C, gap).falls()
    real = np.zeros((2, len(C)))
    for row, sign in enumerate((1, -1)):
        for j in range(1, len(C)):
            signs = np.append(1, np.zeros(len(C) - 1, dtype=np.int64))
            signs[j] = sign
            child = Merged.of(C, 0.0, signs)
            real[row, j] = best + child.k - followed(child.C, 1e-7).point().value
    assert spearmanr(estimated[:, 1:].ravel(), real[:, 1:].ravel())[0] > 0.85
    assert 0.2 < np.median(estimated[:, 1:] / np.maximum(real[:, 1:], 1e-3 * best)) < 3


@pytest.mark.parametrize("scale", [1e-60, 1e-6, 1e8, 1e60])
def test_falls_scale(scale):
    C = random_form(41, largest=10).spin_matrix()[0]
    np.testing.assert_allclose(followed(scale * C, 0.05).falls(), scale * followed(C, 0.05).falls(), rtol=0.02)


def test_the_best_fall_is_the_best_of_both_sides():
    falls = np.array([[9.0, 2.0, 9.0, 1.0], [9.0, 2.0, 0.1, 3.0]])
    assert best_fall(falls, np.array([1, 2, 3]), np.inf) == 1
    assert best_fall(falls, np.array([2, 3]), 1.0) == 3
    assert best_fall(np.zeros((2, 4)), np.array([2, 3]), 1.0) == 2
