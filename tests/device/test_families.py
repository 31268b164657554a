"""Functions on a device against those of the host, by the sources of the CUDA kernels."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.oracle import count_oracle_calls
from dsprog.device.batched import on_device
from dsprog.exact.interval.shared_curvature import SharedCurvature
from dsprog.generators import FAMILIES, discrete_data, feature_kernel
from tests.device.machines import COMPILER, Emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++ to compile the kernels for the host")


def concave(name, parameter=None):
    def make(rng, n):
        W = rng.random((2 * n, n)) * (rng.random((2 * n, n)) < 0.5)
        return ds.ConcaveOfModular(W, rng.random(2 * n), name, parameter)

    return make


def shared_curvature(rng, n):
    Q = rng.random((n, n))
    Q = Q + Q.T
    np.fill_diagonal(Q, 0.0)
    return SharedCurvature(Q, 0.7)


def pairwise(rng, n):
    return ds.Pairwise(rng.normal(size=(n, n)), rng.normal(size=n), 2.0)


def entropy(rng, n):
    return ds.Entropy(discrete_data(rng, 50, n)[0])


def conditional_entropy(rng, n):
    return ds.ConditionalEntropy(*discrete_data(rng, 50, n))


def wide_entropy(rng, n):
    """Rows of more than one word."""
    return ds.Entropy(rng.integers(0, 1 << 20, (40, n)) // (1 << 18) * (1 << 18))


MADE = {
    "sqrt": concave("sqrt"),
    "log1p": concave("log1p"),
    "power": concave("power", 0.3),
    "truncate": concave("truncate", 1.5),
    "coverage": lambda rng, n: ds.Coverage((rng.random((40, n)) < 0.2).astype(float), rng.random(40)),
    "facility": lambda rng, n: ds.FacilityLocation(rng.random((25, n)) * (rng.random((25, n)) < 0.8)),
    "cardinality": lambda rng, n: ds.CardinalityConcave(n, "log1p"),
    "cut": lambda rng, n: ds.Cut(np.triu(rng.random((n, n)), 1) + np.triu(rng.random((n, n)), 1).T * 0, directed=True),
    "pairwise": pairwise,
    "curvature": shared_curvature,
    "log det": lambda rng, n: ds.LogDet(feature_kernel(rng, n, max(1, n // 2))),
    "steep log det": lambda rng, n: ds.LogDet(1e6 * feature_kernel(rng, n, max(1, n // 2))),
    "relabelled": lambda rng, n: pairwise(rng, n).relabel(rng.permutation(n)),
    "gaussian": lambda rng, n: ds.GaussianEntropy(feature_kernel(rng, n, n) + 0.1 * np.eye(n)),
    "entropy": entropy,
    "wide entropy": wide_entropy,
    "conditional entropy": conditional_entropy,
    "information": lambda rng, n: ds.MutualInformation(discrete_data(rng, 40, n)[0]),
    "modular": lambda rng, n: ds.Modular(rng.normal(size=n), 3.0),
    "sum": lambda rng, n: concave("sqrt")(rng, n) + 2.0 * shared_curvature(rng, n) - ds.Modular(rng.normal(size=n)),
    "restricted": lambda rng, n: concave("sqrt")(rng, n + 3).restrict([0, n + 1], range(n + 2)),
    "complement": lambda rng, n: ds.Coverage((rng.random((20, n)) < 0.3).astype(float)).complement(),
}


def batch(rng, f, count=12):
    """Intervals, points and orders of their free elements."""
    I = rng.random((count, f.n)) < 0.3
    U = I | (rng.random((count, f.n)) < 0.7)
    I[0], U[0], U[1] = False, True, I[1]
    orders = np.full((count, f.n), -1)
    for b in range(count):
        free = rng.permutation(np.flatnonzero(U[b] & ~I[b]))
        orders[b, : len(free)] = free
    x = np.where(U & ~I, rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], size=I.shape), I.astype(float))
    return I, U, orders, x


@pytest.mark.parametrize("n", [1, 7, 13])
@pytest.mark.parametrize("name", MADE)
def test_primitives_equal_those_of_the_host(name, n):
    rng = np.random.default_rng(n)
    f = MADE[name](rng, n)
    there = on_device(f, Emulated())
    I, U, orders, x = batch(rng, f)
    close = {"rtol": 1e-10, "atol": 1e-7 if name == "steep log det" else 1e-11}
    np.testing.assert_allclose(there.values(U), f.values(U), **close)
    free = U & ~I
    for ends in (I, U):
        found = np.where(free, there.marginals(ends, free), 0.0)
        np.testing.assert_allclose(found, np.where(free, f.marginals(ends, free), 0.0), **close)
    found = there.chains(orders.astype(np.int32), I)
    np.testing.assert_allclose(found, f.chains(orders, I), **close)
    if f.has_concave_extension:
        (constants, slopes), (here, lines) = there.tangents(x), f.tangents(x)
        at_x, expected = constants + (slopes * x).sum(axis=1), here + (lines * x).sum(axis=1)
        np.testing.assert_allclose(at_x, expected, **close)


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("curvature", "sum")])
def test_tangents_lie_above(name):
    rng = np.random.default_rng(3)
    f = MADE[name](rng, 8)
    if not f.has_concave_extension:
        pytest.skip("no concave extension")
    x = batch(rng, f)[3]
    constants, slopes = on_device(f, Emulated()).tangents(x)
    masks = (np.arange(256)[:, None] >> np.arange(8)) & 1 == 1
    lines = constants[:, None] + slopes @ masks.T
    assert (lines >= f.values(masks) - 1e-9).all()


def test_nearly_nothing_left_is_summed_up_again():
    f = ds.ConcaveOfModular([[1e8, 1e-9, 2e-9, 0.0]])
    mask, everyone = np.array([[True, True, True, False]]), np.ones((1, 4), dtype=bool)
    found = on_device(f, Emulated()).marginals(mask, everyone)
    np.testing.assert_allclose(found, f.marginals(mask), rtol=1e-9)


@pytest.mark.parametrize("family", ["rank", "callable", "polynomial"])
def test_a_family_without_code_is_named(family):
    objective = FAMILIES[family](6, 0)
    with pytest.raises(ValueError, match=r"has no code for device='emulated'"):
        on_device(objective, Emulated())


def test_a_callable_of_the_user_is_refused():
    f = ds.ConcaveOfModular([[1.0, 2.0]], concave=lambda t: np.sqrt(t + 1.0))
    with pytest.raises(ValueError, match="ConcaveOfModular has no code"):
        on_device(f, Emulated())


def test_oracle_calls_are_counted_once():
    rng = np.random.default_rng(0)
    f = ds.MutualInformation(*discrete_data(rng, 30, 5)) - ds.Modular(np.ones(5))
    masks = rng.random((7, 5)) < 0.5
    there = on_device(f, Emulated())
    with count_oracle_calls() as tally:
        there.values(masks)
        there.marginals(masks, ~masks)
    assert tally.calls == 7 + (~masks).sum()
