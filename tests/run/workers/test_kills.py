"""Workers and supervisors that are killed, stopped and interrupted: the optimum stays, the bound never passes it."""

import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import dsprog as ds
import dsprog.run.workers.supervisor as supervisor
from dsprog.generators import FAMILIES
from dsprog.run.workers.local import LocalProcesses
from tests.helpers.workers import eager

SMALL = ds.BranchAndBound(unit=40, batch=8)


class Killer(threading.Thread):
    """Sends a signal to a random worker again and again, as long as a run lasts, at most so many times."""

    def __init__(self, processes, seed, most, number=signal.SIGKILL, pause=0.5):
        super().__init__(daemon=True)
        self.processes, self.random, self.most, self.number, self.pause = (
            processes,
            random.Random(seed),
            most,
            number,
            pause,
        )
        self.kills, self.over = 0, threading.Event()

    def run(self):
        while self.kills < self.most and not self.over.wait(self.random.random() * self.pause):
            busy = [w.process.pid for w in list(self.processes._workers.values()) if w.lease is not None]
            if busy:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.random.choice(busy), self.number)
                    self.kills += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()


def bounds(result):
    return [event.lower_bound for event in result.trace]


def check_killed(objective, alone, processes, seed, most, pause=0.5, **settings):
    """A run whose workers are killed ends with the optimum of one that nobody disturbs; how many were killed."""
    with Killer(processes, seed, most, pause=pause) as killer:
        result = ds.minimize(objective, SMALL, workers=processes, **settings)
    assert result.certified
    assert result.value == pytest.approx(alone.value, abs=1e-9)
    assert max(bounds(result)) <= alone.value + 1e-9
    return killer.kills


def test_killed_workers_lose_nothing(monkeypatch, two):
    objective = FAMILIES["concave"](44, 3)
    alone = ds.minimize(objective)
    with eager(monkeypatch):
        assert check_killed(objective, alone, two, 0, most=2, pause=0.1) == 2


LASTING = {"concave": 44, "coverage": 46, "facility": 62}  # sizes of which a run in small units takes seconds


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_many_killed_workers_lose_nothing(monkeypatch, two, seed):
    family = list(LASTING)[seed % 3]
    objective = FAMILIES[family](LASTING[family] + seed % 4, seed)
    alone, kills = ds.minimize(objective), 0
    with eager(monkeypatch):
        while kills < 10:
            kills += check_killed(objective, alone, two, seed + 100 * kills, most=10 - kills, pause=0.6)
    assert kills >= 10


def test_a_worker_that_hangs_is_replaced(monkeypatch, two):
    objective = FAMILIES["concave"](42, 3)
    alone, said = ds.minimize(objective), []
    monkeypatch.setattr(supervisor, "HANGS", 0.5)
    monkeypatch.setattr("dsprog.run.run.Run.say", lambda run, sentence: said.append(sentence))
    with eager(monkeypatch), Killer(two, 0, most=1, number=signal.SIGSTOP, pause=0.05) as killer:
        result = ds.minimize(objective, SMALL, workers=two)
    assert killer.kills == 1
    assert result.certified
    assert result.value == pytest.approx(alone.value, abs=1e-9)
    assert any("its worker is replaced" in sentence for sentence in said)


def fatal(masks):
    """Kills any process but the one that the tests run in."""
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return masks.sum(axis=1) ** 0.5


def test_where_every_worker_dies_the_search_goes_on_alone(monkeypatch):
    f = ds.FromCallable(fatal, 6, submodular=True, vectorized=True)
    objective, said = f - ds.Modular([0.3, 0.5, 0.2, 0.6, 0.1, 0.4]), []
    monkeypatch.setattr("dsprog.run.run.Run.say", lambda run, sentence: said.append(sentence))
    with eager(monkeypatch), LocalProcesses(2) as processes:
        result = ds.minimize(objective, ds.BranchAndBound(unit=4, batch=2, leaf=0), workers=processes)
    assert result.certified
    assert result.value == pytest.approx(ds.minimize(objective).value)
    assert any("goes on alone" in sentence for sentence in said)


SCRIPT = """
import sys, dsprog as ds, dsprog.run.checkpoint as checkpoint
from dsprog.generators import FAMILIES
from dsprog.run.workers.local import LocalProcesses
import dsprog.run.workers.crew as crew
checkpoint.SECONDS_BETWEEN = 0.2
crew.PATIENCE = 0.0

class Loud(LocalProcesses):
    def _hire(self, place):
        super()._hire(place)
        print("pid", self._workers[place].process.pid, flush=True)

result = ds.minimize(
    FAMILIES["concave"](60, 60), verbose=1, checkpoint=sys.argv[1], workers=Loud(2), callback=crew_joined
)
print("status", result.status, result.lower_bound <= result.value, flush=True)
"""


def started(path):
    """A run on many nodes with two workers in a session of its own, once they have joined; it says who they are."""
    code = (
        "def crew_joined(event):\n    if event.staff is not None and event.nodes > 1000: print('joined', flush=True)\n"
        + SCRIPT
    )
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    pids = []
    for line in process.stdout:
        if line.startswith("pid"):
            pids.append(int(line.split()[1]))
        if line.startswith("joined") and path.exists():
            return process, pids
    raise AssertionError(process.stderr.read())


def gone(pids, seconds=10.0):
    """Whether processes end within some seconds; zombies count as alive."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="there is no /proc to look for processes in")
def test_ctrl_c_leaves_neither_processes_nor_shared_memory(tmp_path):
    blocks = set(os.listdir("/dev/shm")) if Path("/dev/shm").exists() else set()
    process, pids = started(tmp_path / "run.npz")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, errors = process.communicate(timeout=60)
    assert "status interrupted True" in out
    assert "Traceback" not in errors
    assert len(pids) == 2
    assert gone(pids)
    new = set(os.listdir("/dev/shm")) - blocks if Path("/dev/shm").exists() else set()
    assert not [name for name in new if name.startswith(("psm_", "sem.mp-", "pym-"))]


@pytest.mark.skipif(not Path("/proc").exists(), reason="there is no /proc to look for processes in")
def test_a_killed_supervisor_leaves_no_process_and_can_be_resumed(tmp_path):
    process, pids = started(tmp_path / "run.npz")
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    assert gone(pids)
    resumed = ds.minimize(FAMILIES["concave"](60, 60), checkpoint=tmp_path / "run.npz", time_limit=1.0)
    assert resumed.status == "time_limit"
    assert resumed.nodes > 1000
    assert resumed.lower_bound <= -37.338922 + 1e-6 <= resumed.value + 2e-6
