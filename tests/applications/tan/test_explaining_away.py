"""The explaining-away residual: identity, symmetry, bound, and exact cuts against enumeration on real data."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications import explaining_away
from dsprog.exact.interval.monotone_bound import monotone_parts
from dsprog.functions.table import all_masks
from dsprog.generators import discrete_data
from dsprog.testing import check_result, check_set_function
from tests.helpers.enumeration import between


def entropy(*columns):
    """H of some columns together, from the definition."""
    counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1]
    share = counts / counts.sum()
    return -(share * np.log(share)).sum()


def information(A, B, *given):
    """I(A; B | given)."""
    return entropy(A, *given) + entropy(B, *given) - entropy(A, B, *given) - (entropy(*given) if given else 0.0)


def data(seed, rows=60, n=5):
    rng = np.random.default_rng(seed)
    X, y = discrete_data(rng, rows, n)
    return X, y, rng.integers(0, 3, rows)


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_values_follow_the_definition(seed, conditional):
    X, y, s = data(seed)
    given = (s,) if conditional else ()
    residual = explaining_away(X, y, s if conditional else None)
    for mask in all_masks(5)[1:-1]:
        A, B = X[:, mask], X[:, ~mask]
        assert residual(mask) == pytest.approx(information(A, B, y, *given) - information(A, B, *given), abs=1e-12)
    assert residual([]) == pytest.approx(0.0, abs=1e-12)
    assert residual(range(5)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("conditional", [False, True])
def test_symmetry_bound_and_sides(conditional):
    X, y, s = data(7, n=6)
    residual = explaining_away(X, y, s if conditional else None)
    check_set_function(residual)
    masks = all_masks(6)
    values = residual.values(masks)
    assert residual.knows.symmetric
    np.testing.assert_allclose(values, residual.values(~masks), atol=1e-12)
    assert residual.is_certifiable
    np.testing.assert_allclose(residual.f.values(masks) - residual.g.values(masks), values, atol=1e-12)
    p, q = monotone_parts(residual)
    rng = np.random.default_rng(0)
    for _ in range(50):  # on [I, U]: EAR >= J(V) + J(∅) - J(U) - J(V∖I)
        I = rng.random(6) < 0.3
        U = I | (rng.random(6) < 0.6)
        inside = between(masks, I, U)
        assert p(I) + q(U) <= values[inside].min() + 1e-12


def test_many_values_in_a_column_and_a_constant_one():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 500, 300), np.zeros(300, int), rng.integers(-3, 3, 300)])
    y = rng.integers(0, 4, 300)
    assert explaining_away(X, y)([1]) == pytest.approx(0.0, abs=1e-12)
    expected = information(X[:, [0]], X[:, 1:], y) - information(X[:, [0]], X[:, 1:])
    assert explaining_away(X, y)([0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["chess", "german", "hepatitis"])
@pytest.mark.parametrize("n", [6, 11, 14])
def test_exact_cuts_equal_enumeration(name, n):
    pytest.importorskip("pandas")
    from dsprog.applications import datasets

    table = getattr(datasets, f"load_{name}")().complete()
    residual = explaining_away(table.X.to_numpy(dtype=object)[:, :n], table.y)
    sizes = all_masks(n).sum(axis=1)
    result = ds.minimize(residual, ds.BranchAndBound(starts=2), constraints=[ds.Cardinality(1, n - 1)])
    assert result.certified
    check_result(result, residual, (sizes > 0) & (sizes < n))


def test_the_whole_of_chess():
    pytest.importorskip("pandas")
    from dsprog.applications import load_chess

    chess = load_chess()
    residual = explaining_away(chess.X.to_numpy(dtype=object), chess.y)
    result = ds.minimize(residual, ds.BranchAndBound(starts=4), constraints=[ds.Cardinality(1, 35)])
    assert result.certified
    assert result.value == pytest.approx(-0.3147602434, abs=1e-9)
    half = {8, 9, 10, 13, 16, 18, 20, 22, 27, 28, 31, 32}
    assert set(result.S) in (half, set(range(36)) - half)
