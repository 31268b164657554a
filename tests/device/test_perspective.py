"""Penalised least squares on a device, by the kernel compiled for the host, against brute force."""

from itertools import product

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression import device_search
from dsprog.exact.regression.device_search import COMPLETE, FAILED, OPEN, DeviceSearch, NodeKernel
from dsprog.exact.regression.node_pool import NodePool
from dsprog.experiments import figure2
from dsprog.experiments.solvers import solver_on
from dsprog.run.run import Run
from tests.device.machines import COMPILER, Emulated, GuardedEmulated
from tests.helpers.interruption import interrupt_call

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
SETTINGS = ["plain", "scaled", "shifted", "ridge", "dependent with a ridge", "coverage", "free features", "ties"]


@pytest.fixture(params=[Emulated, GuardedEmulated])
def device(request, monkeypatch):
    machine = request.param()
    monkeypatch.setattr(device_search, "machine_named", lambda name: machine)
    return machine


def drawn(setting, n, seed):
    """An objective of least squares and a penalty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, n))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, :3] @ [1.0, -0.7, 0.4] + rng.normal(size=2 * n)
    if setting == "scaled":
        X, y = 1e3 * X, 1e-2 * y
        return 1e4 * ds.LeastSquares(X, y) + 0.05 * ds.NuclearNorm(X / 1e3)
    if setting == "shifted":
        return ds.LeastSquares(X, y) + 0.03 * ds.NuclearNorm(X) + ds.Modular(rng.normal(size=n) * 0.1, 5.0)
    if setting == "ridge":
        return ds.LeastSquares(X, y, ridge=0.2) + 0.02 * ds.NuclearNorm(X)
    if setting == "dependent with a ridge":
        X[:, 2] = X[:, 0]
        return ds.LeastSquares(X, y, ridge=0.05) + 0.05 * ds.CardinalityConcave(n, "sqrt")
    if setting == "coverage":
        return ds.LeastSquares(X, y) + 0.1 * ds.Coverage((rng.random((5, n)) < 0.4).astype(float))
    if setting == "free features":
        return ds.LeastSquares(X, y) + ds.Modular(np.where(np.arange(n) % 3, 0.05, 0.0))
    if setting == "ties":
        X, _ = np.linalg.qr(X)
        return ds.LeastSquares(X, X.sum(axis=1)) + ds.Modular(np.full(n, 0.5 / (2 * n)))
    return ds.LeastSquares(X, y) + 0.03 * ds.NuclearNorm(X)


@pytest.mark.parametrize("setting", SETTINGS)
def test_optimum(device, setting):
    for seed in range(4):
        objective = drawn(setting, 9, seed)
        expected = ds.minimize(objective, ds.BruteForce())
        found = ds.minimize(objective, ds.PerspectiveBranchAndBound(device="cuda"), reduce=False)
        assert found.certified
        assert found.value == pytest.approx(expected.value, abs=1e-9 * max(1, abs(expected.value)))
        assert found.lower_bound <= expected.value + 1e-9 * max(1, abs(expected.value))


def hard(n, seed):
    """Nearly as many features as rows, most of which hardly matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n // 3, n))
    y = X[:, :6] @ [2.0, -1.5, 1.0, 1.0, 0.7, 0.5] + 2.0 * rng.normal(size=len(X))
    return ds.LeastSquares(X, y) + 0.02 * ds.NuclearNorm(X)


def problem_and_kernel(setting, n, seed, machine):
    problem = as_problem(drawn(setting, n, seed), ())
    search = DeviceSearch(problem, Run(problem), ds.PerspectiveBranchAndBound(device="cuda"))
    search.machine = machine
    return problem, search, NodeKernel(machine, search.below, search.at_empty)


def coefficients(loss, mask):
    """Of least squares on a set, in the units of the loss."""
    w, S = np.zeros(len(mask)), np.flatnonzero(mask)
    w[S] = np.linalg.lstsq(loss.G[np.ix_(S, S)], loss.b[S], rcond=None)[0]
    return w


def check_nodes(machine, setting, seed, n=8, count=6):
    """Nothing below the cutoff is lost by bounds, fixing, boxes or branching at random nodes."""
    rng = np.random.default_rng(seed)
    problem, search, kernel = problem_and_kernel(setting, n, seed, machine)
    masks = np.array(list(product([False, True], repeat=n)))
    values = problem.objective.values(masks)
    root = search.root()
    nodes = {key: np.repeat(array, count, axis=0) for key, array in root.items()}
    nodes["I"] |= rng.random((count, n)) < 0.15
    nodes["U"] &= nodes["I"] | (rng.random((count, n)) < 0.85)
    pool = NodePool(machine, nodes)
    cutoff = float(np.quantile(values, rng.choice([0.02, 0.3, 1.0]))) + 1e-6
    for _ in range(2):  # the second time from what the first left
        before = {key: machine.fetch(pool.arrays[key]).copy() for key in ("I", "U")}
        looked = kernel(pool.arrays, machine.send(np.arange(count)), cutoff)
        after = {key: machine.fetch(array) for key, array in pool.arrays.items()}
        status, feature = machine.fetch(looked.status), machine.fetch(looked.feature)
        inside, outside, own = (machine.fetch(a) for a in (looked.inside, looked.outside, looked.own))
        slack = 1e-8 * max(1.0, np.abs(values).max())
        for b in range(count):
            assert status[b] != FAILED
            within = (masks | ~before["I"][b]).all(axis=1) & (~masks | before["U"][b]).all(axis=1)
            good = within & (values < cutoff - slack)
            if not within.any():
                continue
            assert after["lower"][b] <= max(cutoff, values[within].min()) + slack
            if status[b] not in (OPEN, COMPLETE):
                assert not good.any()
            assert (after["I"][b] <= masks[good]).all()
            assert (masks[good] <= after["U"][b]).all()
            for mask in masks[good]:
                w = coefficients(search.below, mask)[mask & ~after["I"][b]]
                lo, hi = (after[key][b][mask & ~after["I"][b]] for key in ("lo", "hi"))
                assert (w >= lo - 1e-6).all()
                assert (w <= hi + 1e-6).all()
            if status[b] == OPEN:
                j = feature[b]
                assert after["U"][b][j]
                assert not after["I"][b][j]
                assert (values[good & masks[:, j]] >= inside[b] - slack).all()
                assert (values[good & ~masks[:, j]] >= outside[b] - slack).all()
            if status[b] == COMPLETE and good.any():
                assert own[b] <= values[good].min() + slack


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_a_node_loses_nothing(setting, seed):
    check_nodes(Emulated(), setting, seed)


def test_agrees_with_the_host_on_larger_problems(device):
    for n, seed in ((50, 0), (50, 2), (45, 3)):
        objective = hard(n, seed)
        here = ds.minimize(objective, ds.PerspectiveBranchAndBound(), reduce=False)
        there = ds.minimize(objective, ds.PerspectiveBranchAndBound(device="cuda"), reduce=False)
        assert there.certified
        assert there.S == here.S


def test_lists(device):
    objective = drawn("plain", 8, 3)
    expected = ds.enumerate_best(objective, 7, solver=ds.BruteForce())
    found = ds.enumerate_best(objective, 7, solver=ds.PerspectiveBranchAndBound(device="cuda"))
    assert found.certified
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)


def test_limits_and_a_checkpoint_lose_nothing(device, tmp_path):
    objective, path, solver = hard(50, 2), tmp_path / "run.npz", ds.PerspectiveBranchAndBound(device="cuda")
    expected = ds.minimize(objective)
    stopped = ds.minimize(objective, solver, node_limit=5, checkpoint=path, reduce=False)
    assert stopped.status == "node_limit"
    assert stopped.lower_bound <= expected.value + 1e-9
    found = ds.minimize(objective, solver, checkpoint=path, reduce=False)
    assert found.certified
    assert found.value == pytest.approx(expected.value, abs=1e-9)


def test_an_interruption_loses_nothing(device, monkeypatch, tmp_path):
    """What the card has looked at since the unit began, which may be minutes, is in the checkpoint and in the bound."""
    objective, path, solver = hard(50, 2), tmp_path / "run.npz", ds.PerspectiveBranchAndBound(device="cuda")
    expected = ds.minimize(objective)
    with monkeypatch.context() as patch:
        calls = interrupt_call(patch, NodeKernel, "__call__", 5)
        stopped = ds.minimize(objective, solver, checkpoint=path, reduce=False)
    assert stopped.status == "interrupted"
    assert len(calls) == 5
    assert -np.inf < stopped.lower_bound <= expected.value + 1e-9
    assert stopped.nodes > 20
    resumed = ds.minimize(objective, solver, checkpoint=path, reduce=False)
    assert resumed.certified
    assert resumed.nodes > stopped.nodes
    assert resumed.S == expected.S


def test_a_run_that_is_over_fetches_no_nodes(device, monkeypatch):
    objective, events = hard(50, 0), []
    expected = ds.minimize(objective)

    def stop(event):
        events.append(event)
        return event.nodes > 20

    monkeypatch.setattr("dsprog.run.run.SECONDS_BETWEEN_LINES", 0.0)
    solver = ds.PerspectiveBranchAndBound(device="cuda")
    whole = ds.minimize(objective, solver, callback=stop, reduce=False)
    monkeypatch.setattr(NodePool, "bundle", None)
    found = ds.minimize(objective, solver, callback=stop, reduce=False)
    assert found.status == whole.status == "callback"
    assert -np.inf < found.lower_bound <= expected.value + 1e-9
    assert events[-1].open > 0


def failing(monkeypatch, fails):
    """Let the kernel give up the nodes that ``fails`` names by their sets I and U."""
    call, calls = NodeKernel.__call__, []

    def given_up(self, nodes, rows, cutoff):
        fetch = self.machine.fetch
        failed = np.flatnonzero(fails(fetch(nodes["I"][rows]), fetch(nodes["U"][rows])))
        looked = call(self, nodes, rows, cutoff)
        calls.append(len(failed))
        there = self.machine.send(failed)
        looked.status[there], looked.own[there] = FAILED, -np.inf
        return looked

    monkeypatch.setattr(NodeKernel, "__call__", given_up)
    return calls


@pytest.mark.parametrize("which", ["all", "some"])
def test_nodes_that_fail_go_back_to_the_host(device, monkeypatch, which):
    objective, solver = hard(30, 2), ds.PerspectiveBranchAndBound(device="cuda")
    expected = ds.minimize(objective)
    calls = failing(monkeypatch, lambda I, U: (which == "all") | (I.sum(axis=1) % 2 > 0))
    found = ds.minimize(objective, solver, node_limit=2000, reduce=False)
    assert sum(calls) > 0
    assert found.certified
    assert found.S == expected.S


def test_nodes_that_failed_are_in_the_bound(device, monkeypatch):
    """Where the best set lies in one of them, and nobody has found it yet."""
    objective, events = hard(30, 2), []
    expected = ds.minimize(objective)
    best, none = np.isin(np.arange(30), expected.S), np.zeros((1, 30), dtype=bool)
    calls = failing(monkeypatch, lambda I, U: (best >= I).all(axis=1) & (best <= U).all(axis=1))
    monkeypatch.setattr("dsprog.run.run.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(DeviceSearch, "start", lambda self: self.run.offer(none, objective.values(none), ""))
    monkeypatch.setattr(DeviceSearch, "_new", lambda self, masks: none[:0])
    found = ds.minimize(objective, ds.PerspectiveBranchAndBound(device="cuda"), callback=events.append, node_limit=300)
    assert sum(calls) > 0
    assert max(event.lower_bound for event in events) <= expected.value + 1e-9
    assert found.lower_bound <= expected.value + 1e-9


def test_little_room_for_open_nodes(device, monkeypatch):
    objective, nearest, rows = hard(50, 0), NodePool.nearest, []
    monkeypatch.setattr(NodePool, "nearest", lambda *args: rows.append(1) or nearest(*args))
    device.most_open = lambda n: 6
    found = ds.minimize(objective, ds.PerspectiveBranchAndBound(device="cuda"), reduce=False)
    assert rows
    assert found.certified
    assert found.S == ds.minimize(objective).S


def test_pool():
    machine, rng = Emulated(), np.random.default_rng(0)
    pool = NodePool(machine, {"lower": np.array([3.0, 1.0, 2.0]), "I": np.eye(3, 4, dtype=bool)})
    assert sorted(pool.best(2)) == [1, 2]
    new = pool.copied(np.array([1]))
    assert (pool.arrays["I"][new] == pool.arrays["I"][[1]]).all()
    pool.close(np.array([0]))
    assert pool.open == 3
    assert sorted(pool.nearest(9)) == [1, 2, 3]
    assert list(pool.nearest(1)) == [2]
    assert list(pool.copied(np.array([2]))) == [0]  # rows are used again
    for _ in range(50):
        rows = pool.best(rng.integers(1, 4))
        pool.raise_to(pool.copied(rows), np.full(len(rows), rng.random() * 9))
        if pool.open > 5:
            pool.close(pool.best(2))
    bounds = pool.bundle()["lower"]
    assert len(bounds) == pool.open
    assert pool.lower == bounds.min()
    kept = (bounds < 5).sum()
    pool.prune(5.0)
    assert pool.open == kept == len(pool.bundle()["I"])


def test_what_a_device_cannot_do_is_said(device):
    rng = np.random.default_rng(0)
    X, y, solver = rng.normal(size=(20, 8)), rng.normal(size=20), ds.PerspectiveBranchAndBound(device="cuda")
    objective = ds.LeastSquares(X, y) + 0.1 * ds.NuclearNorm(X)
    with pytest.raises(ValueError, match="without constraints"):
        ds.minimize(objective, solver, constraints=[ds.Cardinality(max=3)])
    with pytest.raises(ValueError, match="on a device"):
        ds.minimize(ds.LogisticLoss(X, np.sign(y), ridge=0.1) + 0.1 * ds.NuclearNorm(X), solver)
    with pytest.raises(ValueError, match="on a device"):
        ds.minimize(ds.LeastSquares(X[:5], y[:5]) + 0.1 * ds.NuclearNorm(X[:5]), solver)
    with pytest.raises(ValueError, match="device must be"):
        ds.PerspectiveBranchAndBound(device="gpu")


def test_the_exact_method_of_an_experiment(device, tmp_path):
    here, _, _ = figure2.reproduce(tmp_path / "here", quick=True, datasets=1, methods="exact", say=str)
    there, _, _ = figure2.reproduce(tmp_path / "there", quick=True, datasets=1, methods="exact", say=str, device="cuda")
    values = [np.genfromtxt(path, delimiter=",", names=True)["value"] for path in (here, there)]
    np.testing.assert_allclose(*values, rtol=1e-12)


def test_solver_by_name():
    least_squares, other = as_problem(drawn("plain", 6, 0), ()), as_problem(ds.Modular([1.0]), ())
    assert solver_on("cuda", "exact", least_squares) == ds.PerspectiveBranchAndBound(device="cuda")
    assert solver_on("cuda", "exact", other) == ds.BranchAndBound(device="cuda")
    assert solver_on("cuda", "interval", least_squares) == ds.BranchAndBound(device="cuda")
