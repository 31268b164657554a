"""The steps at nodes on a device against those of the host."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.validation import all_masks
from dsprog.exact.interval.descent import Minorants
from dsprog.exact.interval.node_kernels import DeviceKernels, HostKernels
from tests.device.machines import COMPILER, Emulated

LIMITS = {
    "free": lambda n: [],
    "at most": lambda n: [ds.Cardinality(max=n // 3)],
    "exactly": lambda n: [ds.Cardinality(exactly=n // 2)],
    "knapsack": lambda n: [ds.Knapsack(np.arange(1.0, n + 1), 1.2 * n)],
    "partition": lambda n: [ds.Partition(np.arange(n) % 3, [1, n // 4, 2])],
    "two rows": lambda n: [ds.LinearConstraint(np.stack([np.arange(n) % 5 - 1.0, np.arange(n) % 3 + 0.0]), 1, n // 2)],
}


def agree(constraints, machine, n, count):
    """Compare all of them on random nodes."""
    rng = np.random.default_rng(n)
    rows = ds.Problem(ds.Modular(np.zeros(n)) - 0.0, tuple(constraints)).rows
    here, there = HostKernels(rows), DeviceKernels(rows, machine)
    nodes = random_nodes(rng, count, n)
    copies = {key: machine.send(array.astype(np.int32) if key == "orders" else array) for key, array in nodes.items()}

    *fixed, feasible = here.propagate(nodes)
    *found, possible = (machine.fetch(a) for a in there.propagate(copies))
    assert (possible == feasible).all()
    for ours, theirs in zip(found, fixed):
        assert (ours == theirs)[feasible].all()
    free = nodes["U"] & ~nodes["I"]
    constants = rng.normal(size=count)
    for with_ties in (False, True):
        d = rng.normal(size=free.shape)
        d = np.where(free, np.round(d, 1) if with_ties else d, 0.0)
        bound, reduced = (machine.fetch(a) for a in there.relax(copies, machine.send(constants), machine.send(d)))
        right, costs = here.relax(nodes, constants, d)
        np.testing.assert_allclose(bound, right, atol=1e-11)
        if with_ties or not rows.disjoint:  # the last place decides between equal elements or rows: either is valid
            check_reduced_costs(constraints, nodes, constants, d, bound, reduced)
            check_multipliers(rows, nodes, constants, d, bound, reduced)
        else:
            np.testing.assert_allclose(reduced[np.isfinite(bound)], costs[np.isfinite(bound)], atol=1e-11)
    assert (machine.fetch(there.feasible(copies["U"])) == here.feasible(nodes["U"])).all()
    for _ in range(2):
        descend(rng, here, there, machine, nodes, copies)


def check_reduced_costs(constraints, nodes, constants, d, bound, reduced):
    """A feasible S of [I, U] costs at least bound + Σ_{j∈S} max(0, r_j) + Σ_{j∉S} max(0, -r_j), j free."""
    if d.shape[1] > 9:
        return
    sets = all_masks(d.shape[1])
    sets = sets[ds.Problem(ds.Modular(np.zeros(d.shape[1])) - 0.0, tuple(constraints)).feasible(sets)]
    for I, U, constant, slopes, least, r in zip(nodes["I"], nodes["U"], constants, d, bound, reduced):
        inside = sets[(sets >= I).all(axis=1) & (sets <= U).all(axis=1)]
        if len(inside) == 0:
            continue
        free = U & ~I
        rise = np.maximum(r[free], 0.0), np.maximum(-r[free], 0.0)
        assert (
            constant + inside @ slopes >= least + inside[:, free] @ rise[0] + ~inside[:, free] @ rise[1] - 1e-9
        ).all()


def check_multipliers(rows, nodes, constants, d, bound, reduced):
    """Some λ, of all rows or of one, explains both: r = d + λ A and bound = c + λ (A I - limit) + Σ_j min(0, r_j)."""
    lo, hi = rows.relaxed
    for I, U, constant, slopes, least, r in zip(nodes["I"], nodes["U"], constants, d, bound, reduced):
        if not np.isfinite(least):
            continue
        free, explained = U & ~I, False
        for chosen in [slice(None), *(slice(i, i + 1) for i in range(len(rows)))]:
            A = rows.A[chosen]
            multipliers = np.linalg.lstsq(A[:, free].T, (r - slopes)[free], rcond=None)[0]
            multipliers[abs(multipliers) < 1e-12] = 0.0
            limits = np.where(multipliers > 0, hi[chosen], lo[chosen])
            used = multipliers != 0  # a limit may be infinite where it is not in force
            raised = multipliers[used] @ (A[used] @ I - limits[used])
            explained = np.allclose((slopes + multipliers @ A)[free], r[free], atol=1e-9) and np.isclose(
                constant + raised + np.minimum(r[free], 0.0).sum(), least, atol=1e-9
            )
            if explained:
                break
        assert explained


def random_nodes(rng, count, n):
    """Intervals, with points that have no ties, so that there is one order."""
    I = rng.random((count, n)) < 0.2
    U = I | (rng.random((count, n)) < 0.8)
    x = np.where(U & ~I, rng.random((count, n)), I.astype(float))
    orders = np.tile(np.arange(n), (count, 1))
    nodes = {"I": I, "U": U, "x": x, "orders": orders, "count": np.ones(count, dtype=np.int64)}
    return nodes | {
        "lower": -rng.random(count),
        "mean_constant": rng.normal(size=count),
        "mean_d": np.zeros((count, n)),
    }


def descend(rng, here, there, machine, nodes, copies):
    """One round: order, average, step; from new points, since those at the ends of the cube have no one order."""
    nodes["x"][:] = np.where(nodes["U"] & ~nodes["I"], rng.random(nodes["x"].shape), nodes["x"])
    copies["x"] = machine.send(nodes["x"])
    here.sort_free(nodes)
    there.sort_free(copies)
    np.testing.assert_array_equal(machine.fetch(copies["orders"]), nodes["orders"])
    shape, count = nodes["x"].shape, len(nodes["x"])
    new = Minorants(
        nodes["orders"], rng.normal(size=shape), *(rng.normal(size=count) for _ in range(2)), rng.normal(size=shape)
    )
    sent = Minorants(copies["orders"], *(machine.send(a) for a in new[1:]))
    d, value = np.empty(shape), np.empty(count)
    d_there, value_there = machine.send(d), machine.send(value)
    here.average(new, nodes, d, value)
    there.average(sent, copies, d_there, value_there)
    here.step(d, value, nodes)
    there.step(d_there, value_there, copies)
    pairs = [(d_there, d), (value_there, value)]
    pairs += [(copies[key], nodes[key]) for key in ("mean_d", "mean_constant", "count", "x")]
    for ours, theirs in pairs:
        np.testing.assert_allclose(machine.fetch(ours), theirs, rtol=1e-10, atol=1e-11)


@pytest.mark.skipif(COMPILER is None, reason="needs g++ to compile the kernels for the host")
@pytest.mark.parametrize("n", [3, 9, 33])
@pytest.mark.parametrize("rows", LIMITS)
def test_kernels_equal_those_of_the_host(rows, n):
    agree(LIMITS[rows](n), Emulated(), n, 60)
