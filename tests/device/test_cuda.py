"""The card itself, where there is one: primitives and searches against the host."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.device.batched import on_device
from dsprog.device.machine import machine_named
from dsprog.exact.interval.node_kernels import DeviceKernels, HostKernels
from dsprog.generators import FAMILIES
from tests.device.test_families import MADE, batch
from tests.device.test_search import NAMES, ROWS


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
    close = {"rtol": 1e-9, "atol": 1e-10}
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


@pytest.mark.parametrize("rows", ROWS)
def test_kernels(cuda, rows):
    rng = np.random.default_rng(0)
    limits = ds.Problem(ds.Modular(np.zeros(9)) - 0.0, tuple(ROWS[rows])).rows
    here, there = HostKernels(limits), DeviceKernels(limits, cuda)
    I = rng.random((500, 9)) < 0.2
    U = I | (rng.random((500, 9)) < 0.8)
    nodes = {"I": I, "U": U, "x": rng.choice([0.0, 0.3, 0.7, 1.0], size=I.shape)}
    copies = {key: cuda.send(array) for key, array in nodes.items()}
    *expected, feasible = here.propagate(nodes)
    *found, possible = (cuda.fetch(a) for a in there.propagate(copies))
    assert (possible == feasible).all()
    for ours, theirs in zip(found, expected):
        assert (ours == theirs)[feasible].all()
    d, constants = np.where(U & ~I, np.round(rng.normal(size=I.shape), 1), 0.0), rng.normal(size=500)
    bound, reduced = (cuda.fetch(a) for a in there.relax(copies, cuda.send(constants), cuda.send(d)))
    right, costs = here.relax(nodes, constants, d)
    np.testing.assert_allclose(bound, right, atol=1e-12)
    np.testing.assert_allclose(reduced[np.isfinite(bound)], costs[np.isfinite(bound)], atol=1e-12)
    assert (cuda.fetch(there.feasible(copies["U"])) == here.feasible(U)).all()


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
