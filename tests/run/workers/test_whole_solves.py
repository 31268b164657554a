"""Racers at once, parts beside each other, restarts spread."""

import numpy as np
import pytest
import scipy.linalg

import dsprog as ds
import dsprog.solve.beside as beside
from dsprog.generators import FAMILIES
from dsprog.run.workers.local import LocalProcesses


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(beside, "LASTING", 0.0)


def test_racers_run_at_once(two):
    objective = FAMILIES["coverage"](26, 2)
    alone = ds.minimize(objective)
    race = ds.minimize(objective, ds.Race(turn=1e-6), workers=two)
    assert race.certified
    assert race.value == pytest.approx(alone.value, abs=1e-6)
    assert race.lower_bound <= alone.value + 1e-9
    assert "race won by" in race.proof
    assert sum(share.units for share in race.workers) >= 1


def test_a_race_stops_in_time(two):
    result = ds.minimize(FAMILIES["concave"](60, 60), ds.Race(turn=1e-3), workers=two, time_limit=1.0)
    assert result.status == "time_limit"
    assert -np.inf < result.lower_bound <= result.value
    assert "race led by" in result.proof


def blocks(count, n=9):
    rng = np.random.default_rng(0)
    sides = [scipy.linalg.block_diag(*[rng.random((8, n)) for _ in range(count)]) for _ in range(2)]
    return ds.ConcaveOfModular(sides[0]) - ds.ConcaveOfModular(sides[1])


def test_parts_run_beside_each_other(two):
    objective = blocks(6)
    alone, shared = ds.minimize(objective), ds.minimize(objective, workers=two)
    assert shared.certified
    assert (shared.S, shared.status) == (alone.S, "optimal")
    assert shared.lower_bound == pytest.approx(alone.lower_bound, abs=1e-9)
    assert sum(share.units for share in shared.workers) == 6


def test_parts_that_take_long_are_searched_by_all(two, monkeypatch):
    monkeypatch.setattr(beside, "SECONDS_OF_A_PART", 1e-6)
    objective = blocks(3, 12)
    shared = ds.minimize(objective, workers=two)
    assert shared.certified
    assert shared.value == pytest.approx(ds.minimize(objective).value)


@pytest.mark.parametrize("solver", [ds.LocalSearch(restarts=9), ds.SSP(restarts=5), ds.LocalSearch("tabu", 4, 20)])
def test_restarts_are_spread(two, solver):
    objective = FAMILIES["coverage"](15, 3)
    result = ds.minimize(objective, solver, seed=1, workers=two)
    assert result.status == "local"
    assert result.value == pytest.approx(objective(result.S))
    assert result.value >= ds.minimize(objective).value - 1e-9
    assert sum(share.units for share in result.workers) >= 1


def test_few_restarts_meet_no_workers(monkeypatch):
    monkeypatch.setattr(beside, "LASTING", 60.0)
    monkeypatch.setattr(LocalProcesses, "start", None)
    result = ds.minimize(FAMILIES["coverage"](12, 3), ds.LocalSearch(restarts=9), seed=1, workers=2)
    assert result.workers == ()
