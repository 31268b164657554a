"""The search on a device, by machines that stand in for one, against brute force."""

import numpy as np
import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog.cli import main
from dsprog.exact.interval import dual_bound, interval_search, modular_bound, open_nodes
from dsprog.generators import FAMILIES
from tests.device.machines import COMPILER, Emulated, Guarded, GuardedKernels

NAMES = ["concave", "coverage", "facility", "logdet", "sensors", "entropy", "explaining-away", "cut"]
ROWS = {
    "free": [],
    "at most": [ds.Cardinality(max=3)],
    "exactly": [ds.Cardinality(exactly=4)],
    "knapsack": [ds.Knapsack(np.arange(1.0, 10.0), 11.0)],
    "partition": [ds.Partition([0, 0, 0, 1, 1, 1, 2, 2, 2], [1, 2, 1])],
    "two rows": [ds.LinearConstraint(np.array([[1.0, -1, 2, 0, 0, 3, 1, 0, 1], [0, 1, 1, 1, 0, 0, 1, 1, 1]]), 1, 3)],
}
STAND_INS = {
    "guarded": Guarded,
    "emulated": pytest.param(Emulated, marks=pytest.mark.skipif(COMPILER is None, reason="needs g++")),
}


@pytest.fixture(params=[Guarded, STAND_INS["emulated"]], ids=["guarded", "emulated"])
def device(request, monkeypatch):
    """A machine in place of the one that is named."""
    machine = request.param()
    monkeypatch.setattr(interval_search, "machine_named", lambda name: machine)
    if isinstance(machine, Guarded):
        for module in (interval_search, dual_bound, modular_bound):
            monkeypatch.setattr(module, "kernels_on", lambda machine, rows: GuardedKernels(rows))
    return machine


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("family", NAMES)
def test_optimum(device, family, rows):
    for seed in range(2):
        objective = FAMILIES[family](9, seed)
        expected = ds.minimize(objective, ds.BruteForce(), constraints=ROWS[rows])
        found = ds.minimize(objective, ds.BranchAndBound(starts=0), constraints=ROWS[rows], reduce=False)
        assert found.certified
        assert found.value == pytest.approx(expected.value, abs=1e-9)
        assert found.lower_bound <= expected.value + 1e-9


def test_larger_problem_spills_and_agrees(device, monkeypatch):
    objective = FAMILIES["concave"](22, 1)
    expected = ds.minimize(objective)
    device.batch = 16
    device.most_open = lambda n: 20
    spilled, search = [], open_nodes.OpenNodes
    keep = search._kept
    monkeypatch.setattr(search, "_kept", lambda self, stack: spilled.append(1) or keep(self, stack))
    found = ds.minimize(objective, ds.BranchAndBound(starts=0), reduce=False)
    assert found.certified
    assert len(spilled) > 5
    assert found.value == pytest.approx(expected.value, abs=1e-9)


def test_k_best(device):
    objective = FAMILIES["coverage"](9, 4)
    expected = ds.enumerate_best(objective, 6, solver=ds.BruteForce())
    found = ds.enumerate_best(objective, 6, solver=ds.BranchAndBound())
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)


def test_resume(device, tmp_path):
    objective, path = FAMILIES["concave"](24, 3), tmp_path / "run.npz"
    first = ds.minimize(objective, ds.BranchAndBound(starts=0), node_limit=100, checkpoint=path, reduce=False)
    assert not first.certified
    begun = first.nodes
    second = ds.minimize(objective, ds.BranchAndBound(starts=0), checkpoint=path, reduce=False)
    assert second.certified
    assert second.nodes > begun  # nodes are counted on
    assert second.value == pytest.approx(ds.minimize(objective).value, abs=1e-9)


def test_a_device_that_is_not_there_is_one_sentence():
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            pytest.skip("there is a card")
    except Exception:  # no CuPy, or no driver: the case to test
        pass
    with pytest.raises((ImportError, RuntimeError), match="device='cuda' needs"):
        ds.minimize(FAMILIES["concave"](6, 0), ds.BranchAndBound(device="cuda"), reduce=False)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "", 3, None])
def test_names_of_devices(device):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
        ds.BranchAndBound(device=device)


def test_the_command_line_takes_a_device(tmp_path):
    path = tmp_path / "instance.npz"
    FAMILIES["coverage"](6, 0).save(path)
    refused = CliRunner().invoke(main, ["solve", str(path), "--device", "cuda", "--solver", "ssp"])
    assert refused.exit_code == 1
    assert "device='cuda' is for the solver interval" in refused.output
    unknown = CliRunner().invoke(main, ["solve", str(path), "--device", "tpu"])
    assert unknown.exit_code == 1
    assert "device must be 'cpu', 'cuda'" in unknown.output


def test_an_interruption_loses_nothing(device):
    objective, looked = FAMILIES["concave"](22, 1), []
    search = interval_search.IntervalSearch._process

    def interrupted(self, nodes, cutoff):
        looked.append(len(nodes["lower"]))
        if len(looked) == 4:
            raise KeyboardInterrupt
        return search(self, nodes, cutoff)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval_search.IntervalSearch, "_process", interrupted)
        found = ds.minimize(objective, ds.BranchAndBound(), reduce=False)
    assert found.status == "interrupted"
    assert found.lower_bound <= ds.minimize(objective).value + 1e-9
