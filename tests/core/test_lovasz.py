"""The Lovász extension and modular bounds, against their definitions."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES

SUBMODULAR = [name for name in FAMILIES if name != "table"]


def by_definition(f, x):
    """f̂(x) as an integral over level sets: Σ (x_k - x_{k+1}) f(first k), the last weighted by the smallest x."""
    order = np.argsort(-x)
    levels = np.append(x[order], 0.0)
    value = f([])
    for k in range(len(x)):
        value += (levels[k] - levels[k + 1]) * (f(order[: k + 1]) - f([]))
    return value


@pytest.mark.parametrize("name", SUBMODULAR)
def test_extension(name):
    rng = np.random.default_rng(1)
    f, masks = FAMILIES[name](5, 0).f, all_masks(5)
    values, _ = ds.lovasz_extension(f, masks.astype(float))
    np.testing.assert_allclose(values, f.values(masks), atol=1e-9)
    x = rng.normal(size=(20, 5)) * 3
    values, subgradients = ds.lovasz_extension(f, x)
    np.testing.assert_allclose(values, [by_definition(f, row) for row in x], atol=1e-8)
    z = rng.normal(size=(20, 5)) * 3
    at_z, _ = ds.lovasz_extension(f, z)
    assert (at_z >= values + (subgradients * (z - x)).sum(axis=1) - 1e-8).all(), "convex, with that subgradient"
    one, gradient = ds.lovasz_extension(f, x[0])
    assert one == pytest.approx(values[0])
    np.testing.assert_allclose(gradient, subgradients[0])


@pytest.mark.parametrize("name", SUBMODULAR)
def test_modular_bounds(name):
    rng = np.random.default_rng(2)
    f, masks = FAMILIES[name](5, 3).f, all_masks(5)
    values = f.values(masks)
    for _ in range(5):
        order, S = rng.permutation(5), rng.random(5) < 0.5
        lower = ds.modular_lower_bound(f, order)
        assert (lower.values(masks) <= values + 1e-9).all()
        assert [lower(order[:k]) for k in range(6)] == pytest.approx([f(order[:k]) for k in range(6)])
        for kind in ("grow", "shrink"):
            upper = ds.modular_upper_bound(f, S, kind)
            assert (upper.values(masks) >= values - 1e-9).all()
            assert upper(S) == pytest.approx(f(S))


def test_bad_arguments():
    f = ds.CardinalityConcave(3)
    with pytest.raises(ValueError, match=r"order must be a permutation of 0\.\.2"):
        ds.modular_lower_bound(f, [0, 0, 1])
    with pytest.raises(ValueError, match="kind must be 'grow' or 'shrink', got 'up'"):
        ds.modular_upper_bound(f, [0], "up")
    with pytest.raises(ValueError, match="x must be finite"):
        ds.lovasz_extension(f, [0.0, np.nan, 1.0])
