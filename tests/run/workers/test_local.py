"""Processes on this machine: the same optimum and certificate as alone, in every engine and for every wish."""

import math
import multiprocessing
import os

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.core.validation import all_masks
from dsprog.generators import FAMILIES
from dsprog.run.workers.executor import SetsFound
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import check_best
from tests.helpers.workers import eager

SMALL = ds.BranchAndBound(unit=40, batch=8)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    with eager(monkeypatch):
        yield


def least_squares(n=14, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, n))
    y = X[:, :5].sum(axis=1) + rng.normal(size=60)
    return ds.LeastSquares(X, y) + 0.02 * ds.NuclearNorm(X)


ENGINES = {
    "interval": (lambda: FAMILIES["concave"](18, 3), SMALL),
    "perspective": (least_squares, ds.PerspectiveBranchAndBound(unit=2)),
    "semidefinite": (lambda: FAMILIES["pairwise"](24, 5), ds.QuadraticBranchAndBound(trial=0, starts=1)),
    "odd cycles": (lambda: FAMILIES["pairwise"](22, 5), ds.QuadraticBranchAndBound(trial=0, sparse=1.0, large=0)),
    "prismatic": (lambda: FAMILIES["coverage"](5, 1), ds.Prismatic(subdivision="optimum")),
}


@pytest.mark.parametrize("name", ENGINES)
def test_engines_agree_with_one_worker(name, two):
    build, solver = ENGINES[name]
    objective = build()
    alone, shared = ds.minimize(objective, solver), ds.minimize(objective, solver, workers=two)
    assert shared.certified
    assert shared.status == alone.status
    assert shared.value == pytest.approx(alone.value, abs=1e-9)
    assert shared.lower_bound == pytest.approx(alone.lower_bound, abs=1e-6)
    assert sum(share.nodes for share in shared.workers) > 0
    assert alone.workers == ()


def test_one_worker_is_the_serial_search_bit_for_bit():
    def events(result):
        return [(event.nodes, event.open, event.value, event.lower_bound, event.source) for event in result.trace]

    objective = FAMILIES["concave"](18, 3)
    default, one = ds.minimize(objective, SMALL), ds.minimize(objective, SMALL, workers=1)
    assert events(default) == events(one)
    assert (default.nodes, default.S, default.value) == (one.nodes, one.S, one.value)
    assert default.lower_bound == one.lower_bound


@pytest.mark.parametrize("seed", range(4))
def test_lists_under_constraints_agree_with_enumeration(seed, two):
    rng = np.random.default_rng(seed)
    objective = FAMILIES[("concave", "coverage", "rank", "logdet")[seed]](10, seed)
    constraints = random_constraints(rng, 10)
    feasible = as_problem(objective, constraints).feasible(all_masks(10))
    settings = {"constraints": constraints, "solver": ds.BranchAndBound(unit=20, batch=4, leaf=1), "workers": two}
    within = 0.5 if seed % 2 else None
    best = ds.enumerate_best(objective, 7, within, **settings)
    if feasible.any():
        check_best(best, objective, 7, feasible, np.inf if within is None else within)
        result = ds.minimize(objective, **settings)
        assert result.certified
        assert result.value == pytest.approx(objective.values(all_masks(10)[feasible]).min(), abs=1e-9)
    else:
        assert best.status == "infeasible"


def test_a_gap_ends_the_search(two):
    objective = FAMILIES["concave"](18, 3)
    result = ds.minimize(objective, SMALL, gap=0.2, workers=two)
    assert result.certified
    assert result.gap <= 0.2
    assert result.lower_bound <= ds.minimize(objective, SMALL).value + 1e-9


def test_limits_leave_a_bound(two):
    objective = FAMILIES["concave"](50, 50)  # seconds of work, so that neither limit nor callback comes too late
    best = -31.417042233593904
    limited = ds.minimize(objective, SMALL, node_limit=2000, workers=two)
    assert limited.status == "node_limit"
    assert 2000 <= limited.nodes <= 2000 + 2 * 2000
    timed = ds.minimize(objective, SMALL, time_limit=0.5, workers=two)
    stopped = ds.minimize(objective, SMALL, callback=lambda event: event.nodes > 500, workers=two)
    assert (timed.status, stopped.status) == ("time_limit", "callback")
    for result in (limited, timed, stopped):
        assert -math.inf < result.lower_bound <= best + 1e-9 <= result.value + 2e-9
        assert not result.certified


def test_a_checkpoint_holds_the_leases(two, tmp_path):
    objective, path = FAMILIES["concave"](22, 3), tmp_path / "run.npz"
    whole = ds.minimize(objective, SMALL)
    for limit in range(300, 100_000, 300):
        part = ds.minimize(objective, SMALL, node_limit=limit, checkpoint=path, workers=two)
        assert part.lower_bound <= whole.value + 1e-9
        if part.status == "optimal":
            break
    assert limit > 300
    assert part.value == pytest.approx(whole.value)
    resumed_alone = ds.minimize(objective, SMALL, checkpoint=path)
    assert resumed_alone.certified


def failing(masks):
    """A function that fails in another process than that of the tests."""
    if "PYTEST_CURRENT_TEST" in os.environ and multiprocessing.parent_process() is not None:
        raise ZeroDivisionError("as the user wrote it")
    return np.sqrt(masks.sum(axis=1))


def test_an_error_of_the_users_function_reaches_the_user():
    f = ds.FromCallable(failing, 16, submodular=True, vectorized=True)
    with pytest.raises(RuntimeError, match=r"fn raised ZeroDivisionError on .* sets: as the user wrote it"):
        ds.minimize(f - ds.ConcaveOfModular(np.random.default_rng(0).random((8, 16))), SMALL, workers=2)


def test_what_cannot_travel_is_refused_in_a_sentence():
    f = ds.FromCallable(lambda S: len(S) ** 0.5, n=9, submodular=True)
    with pytest.raises(TypeError, match="workers must be 1, or the problem one that can be sent to other processes"):
        ds.minimize(f - ds.Modular(np.ones(9)), workers=2)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="workers must be at least 1"):
            ds.minimize(ds.Modular([1.0]), workers=wrong)
    for wrong in (2.5, "two", None, True):
        with pytest.raises(TypeError, match='workers must be a number, "all"'):
            ds.minimize(ds.Modular([1.0]), workers=wrong)


def test_workers_have_one_blas_thread(two):
    """In libraries, too, that they load after they began: with more a semidefinite search is ten times slower."""
    from dsprog.run.workers.local import THREADS, one_thread_environment

    before = {name: os.environ.get(name) for name in THREADS}
    with one_thread_environment():
        assert [os.environ[name] for name in THREADS] == ["1"] * 3
    assert {name: os.environ.get(name) for name in THREADS} == before
    ds.minimize(FAMILIES["concave"](12, 3), SMALL, workers=two)
    for pid in two.pids if os.path.exists("/proc") else ():
        with open(f"/proc/{pid}/environ", "rb") as file:
            assert b"OPENBLAS_NUM_THREADS=1" in file.read().split(b"\0")


def test_news_of_an_earlier_search_is_not_heard(two):
    """A search that ends without listening leaves sets behind; they are none of the next one, even of equal size."""
    ds.minimize(FAMILIES["concave"](12, 0), SMALL, workers=two)
    two._heard.append(SetsFound(0, np.ones((1, 12), dtype=bool), np.array([-1e6])))
    result = ds.minimize(FAMILIES["concave"](12, 1), SMALL, workers=two)
    assert result.value == pytest.approx(ds.minimize(FAMILIES["concave"](12, 1), ds.BruteForce()).value)
    assert result.certified
