"""Interrupted and killed runs go on where they were."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import FAMILIES

SOLVER = ds.BranchAndBound(unit=100, batch=20)
OBJECTIVE = FAMILIES["concave"](22, 3)


def test_resumed_run_equals_uninterrupted_one(tmp_path):
    whole = ds.minimize(OBJECTIVE, SOLVER)
    path = tmp_path / "run.npz"
    limit = 0
    while True:
        limit += 150
        part = ds.minimize(OBJECTIVE, SOLVER, node_limit=limit, checkpoint=path)
        assert part.lower_bound <= whole.value + 1e-9
        if part.status == "optimal":
            break
    assert limit > 300, "the instance must be large enough to be interrupted"
    assert (part.S, part.value, part.certified) == (whole.S, whole.value, True)
    assert part.lower_bound == pytest.approx(whole.lower_bound)


def test_interruption_inside_an_expansion_loses_nothing(tmp_path, monkeypatch):
    from dsprog.exact.interval.interval_search import IntervalSearch

    whole, path, process, calls = ds.minimize(OBJECTIVE, SOLVER), tmp_path / "run.npz", IntervalSearch._process, [0]

    def interrupted(self, nodes, cutoff):
        calls[0] += 1
        if calls[0] % 23 == 0:
            raise KeyboardInterrupt
        return process(self, nodes, cutoff)

    monkeypatch.setattr(IntervalSearch, "_process", interrupted)
    for _ in range(1000):
        result = ds.minimize(OBJECTIVE, SOLVER, checkpoint=path)
        if result.status == "optimal":
            break
        assert result.status == "interrupted"
        assert result.lower_bound <= whole.value + 1e-9
    assert (result.S, result.value, result.certified) == (whole.S, whole.value, True)
    assert calls[0] > 23


def test_killed_run_continues(tmp_path):
    path = tmp_path / "run.npz"
    code = f"""
    import dsprog as ds, dsprog.run.checkpoint as checkpoint
    from dsprog.generators import FAMILIES
    checkpoint.SECONDS_BETWEEN = 0.0
    objective = FAMILIES["concave"](40, 40)
    ds.minimize(objective, ds.BranchAndBound(unit=400), checkpoint={str(path)!r})
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    for _ in range(1200):
        time.sleep(0.05)
        if path.exists():
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    resumed = ds.minimize(FAMILIES["concave"](40, 40), ds.BranchAndBound(unit=400), checkpoint=path)
    assert resumed.certified
    assert resumed.value == pytest.approx(-21.388745820933085)


def test_another_instance_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    ds.minimize(OBJECTIVE, SOLVER, node_limit=100, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another instance"):
        ds.minimize(FAMILIES["concave"](22, 4), SOLVER, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another instance"):
        ds.minimize(OBJECTIVE, SOLVER, checkpoint=path, constraints=[ds.Cardinality(max=3)])
    with pytest.raises(ValueError, match="belongs to"):
        ds.minimize(OBJECTIVE, ds.BranchAndBound(unit=7), checkpoint=path)
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="cannot be read"):
        ds.minimize(OBJECTIVE, SOLVER, checkpoint=path)
    with pytest.raises(ValueError, match="existing folder"):
        ds.minimize(OBJECTIVE, SOLVER, checkpoint=tmp_path / "nowhere" / "run.npz")


def test_checkpoints_keep_the_best_sets(tmp_path):
    path = tmp_path / "run.npz"
    whole = ds.enumerate_best(OBJECTIVE, 6, solver=SOLVER)
    for limit in (200, 400, 10**9):
        best = ds.enumerate_best(OBJECTIVE, 6, solver=SOLVER, node_limit=limit, checkpoint=path)
    assert best.certified
    np.testing.assert_allclose(best.values, whole.values)
