"""The card itself, where there is one: primitives and searches against the host."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.device.batched import on_device
from dsprog.device.machine import machine_named
from dsprog.generators import FAMILIES
from tests.device.test_families import MADE, batch
from tests.device.test_perspective import SETTINGS, check_nodes, hard
from tests.device.test_search import NAMES, ROWS
from tests.device.test_steps_at_nodes import LIMITS, agree


@pytest.fixture(scope="module")
def cuda():
    try:
        return machine_named("cuda")
    except (ImportError, RuntimeError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("n", [1, 7, 40, 70])
@pytest.mark.parametrize("name", MADE)
def test_primitives(cuda, name, n):
    rng = np.random.default_rng(n)
    f = MADE[name](rng, n)
    there = on_device(f, cuda)
    I, U, orders, x = batch(rng, f, 300)
    free = U & ~I
    at_I, at_U, on_free, points = (cuda.send(a) for a in (I, U, free, x))
    close = {"rtol": 1e-9, "atol": 1e-7 if name == "steep log det" else 1e-10}
    np.testing.assert_allclose(cuda.fetch(there.values(at_U)), f.values(U), **close)
    for ends, sets in ((at_I, I), (at_U, U)):
        found = np.where(free, cuda.fetch(there.marginals(ends, on_free)), 0.0)
        np.testing.assert_allclose(found, np.where(free, f.marginals(sets, free), 0.0), **close)
    found = cuda.fetch(there.chains(cuda.send(orders.astype(np.int32)), at_I))
    np.testing.assert_allclose(found, f.chains(orders, I), **close)
    if f.has_concave_extension:
        constants, slopes = (cuda.fetch(a) for a in there.tangents(points))
        here, lines = f.tangents(x)
        expected = here + (lines * x).sum(axis=1)
        np.testing.assert_allclose(constants + (slopes * x).sum(axis=1), expected, **close)
        sets = np.concatenate([I, U])
        if name not in ("curvature", "sum"):  # alone these are no upper bounds
            assert (constants[:, None] + slopes @ sets.T >= f.values(sets) - close["atol"] - 1e-9).all()


@pytest.mark.parametrize("n", [9, 33, 70])
@pytest.mark.parametrize("rows", LIMITS)
def test_kernels(cuda, rows, n):
    agree(LIMITS[rows](n), cuda, n, 500)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("family", NAMES)
def test_optimum(cuda, family, rows):
    for seed in range(2):
        objective = FAMILIES[family](9, seed)
        expected = ds.minimize(objective, ds.BruteForce(), constraints=ROWS[rows])
        solver = ds.BranchAndBound(starts=0, device="cuda")
        found = ds.minimize(objective, solver, constraints=ROWS[rows], reduce=False)
        assert found.certified
        assert found.value == pytest.approx(expected.value, abs=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_node_of_least_squares_loses_nothing(cuda, setting):
    for seed in range(3):
        check_nodes(cuda, setting, seed, n=10, count=40)


def test_least_squares_agree_with_the_host(cuda):
    for seed in range(3):
        here = ds.minimize(hard(60, seed), ds.PerspectiveBranchAndBound())
        there = ds.minimize(hard(60, seed), ds.PerspectiveBranchAndBound(device="cuda"))
        assert here.certified
        assert there.certified
        assert there.S == here.S
