"""Executors of the user's: pools of concurrent.futures, and a Dask cluster."""

import concurrent.futures as cf
import multiprocessing
import os
import random
import signal
import threading

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.validation import all_masks
from dsprog.generators import FAMILIES
from tests.helpers.enumeration import check_best
from tests.helpers.workers import eager

SMALL = ds.BranchAndBound(unit=40, batch=8)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    with eager(monkeypatch):
        yield


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 100,
        "distributed.comm.timeouts.connect": "60s",
        "distributed.deploy.lost-worker-timeout": "300s",  # by default one that is not back after 15 s is given up
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def check_shared(objective, workers):
    alone, shared = ds.minimize(objective, SMALL), ds.minimize(objective, SMALL, workers=workers)
    assert shared.certified
    assert shared.value == pytest.approx(alone.value, abs=1e-9)
    assert shared.lower_bound == pytest.approx(alone.lower_bound, abs=1e-6)
    assert max(event.lower_bound for event in shared.trace) <= alone.value + 1e-9
    assert sum(share.nodes for share in shared.workers) > 0
    return shared


def test_a_pool_of_threads():
    with cf.ThreadPoolExecutor(2) as pool:
        check_shared(FAMILIES["concave"](18, 3), pool)
        objective = FAMILIES["coverage"](9, 1)
        check_best(ds.enumerate_best(objective, 5, solver=SMALL, workers=pool), objective, 5)


def test_a_pool_of_processes_that_break():
    objective = FAMILIES["concave"](24, 3)
    with cf.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        check_shared(FAMILIES["concave"](18, 3), pool)
        victim = next(iter(pool._processes))
        threading.Timer(0.2, os.kill, (victim, signal.SIGKILL)).start()
        check_shared(objective, pool)


def test_a_cluster(client):
    check_shared(FAMILIES["concave"](20, 3), client)
    objective = FAMILIES["rank"](9, 1)
    best = ds.enumerate_best(
        objective, 5, solver=SMALL, workers=client, constraints=[ds.Cardinality(max=4)], reduce=False
    )
    check_best(best, objective, 5, all_masks(9).sum(axis=1) <= 4)


def test_any_callable_reaches_a_cluster(client):
    weights = np.random.default_rng(0).random(10)
    f = ds.FromCallable(lambda S: float(weights[list(S)].sum() ** 0.5), 10, submodular=True)
    check_shared(f - 0.3 * ds.Modular(weights), client)


def killed(client, seed, objective, most):
    """Run while workers of a cluster are killed; how many were."""
    over, kills, draw = threading.Event(), [], random.Random(seed)

    def kill():
        while len(kills) < most and not over.wait(draw.random()):
            pids = list(client.run(os.getpid, on_error="ignore").values())
            if pids:
                os.kill(draw.choice(pids), signal.SIGKILL)
                kills.append(pids)

    client.wait_for_workers(2, timeout=120)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        check_shared(objective, client)
    finally:
        over.set()
        killer.join()
    return len(kills)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_of_a_cluster_lose_nothing(client, seed):
    kills = 0
    while kills < 5:
        kills += killed(client, seed + kills, FAMILIES["concave"](34, seed), 5)
    assert kills >= 5
