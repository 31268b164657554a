"""Every family keeps its promises: overrides, extensions, knowledge."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import FAMILIES
from dsprog.testing import check_set_function
from tests.helpers.families import NAMES, build


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("name", NAMES)
def test_family(name, n):
    check_set_function(build(name, n))


@pytest.mark.parametrize("name", NAMES)
def test_family_transformed(name):
    f = build(name, 6, seed=1)
    check_set_function(f.complement())
    check_set_function(f.relabel([3, 0, 5, 1, 2, 4]))
    check_set_function(f.restrict(include=[1, 4], within=[0, 1, 3, 4, 5]))
    check_set_function(2.5 * f + ds.Modular(np.arange(6.0)))
    check_set_function(f.declare(**{}))


@pytest.mark.parametrize("name", NAMES)
def test_transforms_follow_their_definition(name):
    f, permutation = build(name, 6, seed=2), np.array([3, 0, 5, 1, 2, 4])
    S = [0, 2, 5]
    assert f.complement()(S) == pytest.approx(f([1, 3, 4]), abs=1e-9)
    assert f.relabel(permutation)(S) == pytest.approx(f(permutation[S]), abs=1e-9)
    assert f.restrict([1], [0, 1, 4])([1]) == pytest.approx(f([1, 4]), abs=1e-9)
    assert f.restrict([1], [0, 1, 4]).n == 2


@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("name", NAMES)
def test_extremes_hold_nothing_everything_and_singles(name, n):
    f = build(name, n, seed=3)
    for function in (f, -2.5 * f, f + ds.Modular(np.arange(float(n)))):
        told = function.extremes()
        values = function.values(np.vstack([np.zeros((1, n)), np.ones((1, n)), np.eye(n)]).astype(bool))
        rounding = 1e-9 * (1.0 + np.abs(values).max())
        assert told.min() - rounding <= values.min() <= values.max() <= told.max() + rounding


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_generated_objectives(family, n):
    objective = FAMILIES[family](n, 0)
    check_set_function(objective)
    check_set_function(objective.f)
    check_set_function(objective.g)
    masks = ds.testing.random_masks(np.random.default_rng(0), 20, n)
    np.testing.assert_allclose(
        objective.f.values(masks) - objective.g.values(masks), objective.values(masks), atol=1e-9
    )
    assert objective.is_certifiable


def test_relabelled_data_gives_relabelled_functions():
    rng = np.random.default_rng(3)
    W, permutation = rng.random((4, 6)), rng.permutation(6)
    direct = ds.ConcaveOfModular(W[:, permutation])
    masks = ds.testing.random_masks(rng, 30, 6)
    np.testing.assert_allclose(direct.values(masks), ds.ConcaveOfModular(W).relabel(permutation).values(masks))


@pytest.mark.parametrize(
    ("family", "broken"), [("sqrt", "_marginals"), ("coverage", "_chains"), ("facility", "_tangents")]
)
def test_the_kit_catches_a_wrong_override(family, broken):
    class Wrong(type(build(family, 5))):
        pass

    def wrong(self, *args):
        right = getattr(super(Wrong, self), broken)(*args)
        return (right[0] - 1.0, right[1]) if isinstance(right, tuple) else right + 1e-3

    setattr(Wrong, broken, wrong)
    f = build(family, 5)
    f.__class__ = Wrong
    with pytest.raises(AssertionError):
        check_set_function(f)


def test_the_kit_catches_a_false_claim():
    with pytest.raises(AssertionError, match="claims to be submodular"):
        check_set_function(ds.FromCallable(lambda S: len(S) ** 2, 5, submodular=True))


def test_nearly_dependent_columns():
    t = np.linspace(0, 1, 30)
    timestamps = ds.LeastSquares(np.column_stack([np.ones(30), 1.7e9 + t]), t)
    assert timestamps([0, 1]) == pytest.approx(0.0, abs=1e-9)
    assert timestamps([0, 1]) <= timestamps([1])
    check_set_function(ds.LeastSquares(np.vander(np.linspace(0, 1, 20), 9), np.sin(np.arange(20.0))))


def test_steep_functions_over_many_scales():
    weights = np.array([[1e9, 1e-6, 3.0, 1e3], [1e-6, 1e9, 1e-3, 0.0]])
    for concave, parameter in (("sqrt", None), ("power", 0.1), ("log1p", None)):
        f = ds.ConcaveOfModular(weights, concave=concave, parameter=parameter)
        masks = ds.functions.table.all_masks(4)
        np.testing.assert_allclose(f.marginals(masks), ds.SetFunction._marginals(f, masks), rtol=1e-9, atol=1e-12)


def test_zero_and_extreme_matrices():
    check_set_function(ds.NuclearNorm(np.zeros((3, 4))))
    check_set_function(ds.NuclearNorm(np.zeros((0, 3))))
    check_set_function(ds.Cut([[1e17, 1.0], [1.0, 1e17]]))
    assert ds.Cut([[1e17, 1.0], [1.0, 1e17]])([0]) == 1.0
    for seed in (105, 113, 471):
        check_set_function(build("nuclear", 3, seed))


def test_wide_data_need_several_words():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5000, (300, 12)), rng.integers(0, 3, 300)
    X[:150] = X[150:]
    for f in (ds.Entropy(X), ds.ConditionalEntropy(X, y), ds.MutualInformation(X, y), ds.MutualInformation(X, given=y)):
        check_set_function(f, samples=10)
    groups = {tuple(row) for row in X[:, [0, 5, 11]]}
    counts = np.array([(X[:, [0, 5, 11]] == g).all(axis=1).sum() for g in groups]) / 300
    assert ds.Entropy(X)([0, 5, 11]) == pytest.approx(-(counts * np.log(counts)).sum())


@pytest.mark.parametrize("name", NAMES)
def test_empty_batches(name):
    f = build(name, 4)
    nothing = np.zeros((0, 4), dtype=bool)
    assert f.values(nothing).shape == (0,)
    assert f.marginals(nothing).shape == (0, 4)
    assert f.chains(np.zeros((0, 4), dtype=int)).shape == (0, 4)
    if f.has_concave_extension:
        assert f.tangents(np.zeros((0, 4)))[1].shape == (0, 4)


@pytest.mark.parametrize(("rows", "n", "spread"), [(30, 20, 0.0), (30, 20, 2.5), (20, 30, 0.0), (30, 20, 9.0)])
def test_nuclear_norm_is_the_sum_of_singular_values(rows, n, spread):
    """With and without a spectrum: X'X of the second design has a condition of 1e5, the last two are singular."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, n)) * 10.0 ** rng.uniform(-spread / 2, spread / 2, n)
    f, masks = ds.NuclearNorm(X), rng.random((40, n)) < 0.4
    expected = [np.linalg.svd(X[:, mask], compute_uv=False).sum() for mask in masks]
    np.testing.assert_allclose(f.values(masks), expected, rtol=1e-10)
    without = f.values(masks & (np.arange(n) != 3))
    with_it = f.values(masks | (np.arange(n) == 3))
    np.testing.assert_allclose(f.marginals(masks)[:, 3], with_it - without, atol=1e-9 * max(expected))


def test_least_squares_of_columns_of_very_different_lengths_have_values():
    """By rounding, I + XX'/(m ridge) is not definite for some of these."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        f = ds.LeastSquares(rng.normal(size=(10, 14)) * 10.0 ** rng.uniform(-6, 6, 14), rng.normal(size=10), 1e-7)
        assert np.isfinite(f(range(14)))
