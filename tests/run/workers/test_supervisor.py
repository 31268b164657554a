"""The supervisor with workers in this process whose fate is drawn: deaths, second answers, late ones."""

import math
import time

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.core.validation import all_masks
from dsprog.exact.quadratic.semidefinite_search import SemidefiniteSearch
from dsprog.generators import FAMILIES
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import check_best
from tests.helpers.workers import Scripted, eager

FATES = ("answer", "answer", "lose", "twice", "late")
TINY = ds.BranchAndBound(unit=10, batch=3, leaf=1)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    with eager(monkeypatch, unit=0.004):
        yield


def drawn(unit, rng):
    return rng.choice(FATES)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_the_lists_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    names = ("concave", "coverage", "facility", "logdet", "cut", "rank")
    objective = FAMILIES[names[seed % len(names)]](9, seed)
    constraints = random_constraints(rng, 9) if seed % 3 else []
    feasible = as_problem(objective, constraints).feasible(all_masks(9))
    executor = Scripted(1 + seed % 5, drawn, seed)
    best = ds.enumerate_best(objective, 6, solver=TINY, constraints=constraints, workers=executor, reduce=False)
    if feasible.any():
        check_best(best, objective, 6, feasible)
    else:
        assert best.status == "infeasible"


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_never_passes_the_optimum(seed):
    objective = FAMILIES["concave"](14, seed)
    best, executor = ds.minimize(objective).value, Scripted(3, drawn, seed)
    result = ds.minimize(objective, TINY, workers=executor)
    assert result.certified
    assert result.value == pytest.approx(best, abs=1e-9)
    assert max(event.lower_bound for event in result.trace) <= best + 1e-9
    assert executor.lost > 0
    assert executor.doubled > 0


def test_a_node_that_ends_workers_again_and_again_is_expanded_here(monkeypatch):
    said = []
    monkeypatch.setattr("dsprog.run.run.Run.say", lambda run, sentence: said.append(sentence))
    objective = FAMILIES["concave"](12, 1)
    executor = Scripted(2, lambda unit, rng: "lose")  # nobody ever answers
    result = ds.minimize(objective, TINY, workers=executor)
    assert result.certified
    assert result.value == pytest.approx(ds.minimize(objective).value)
    assert any("it is expanded in this process" in sentence for sentence in said)
    assert result.workers == ()


def test_shares_add_up():
    executor = Scripted(3, lambda unit, rng: "answer")
    result = ds.minimize(FAMILIES["concave"](16, 1), TINY, workers=executor)
    assert sum(share.nodes for share in result.workers) == result.nodes
    for share in result.workers:
        assert share.units > 0
        assert 0 <= share.idle <= 1
        assert share.seconds >= 0


@pytest.mark.parametrize("limit", [50, 200])
def test_a_run_that_stops_gives_its_leases_back(limit, tmp_path):
    objective, path = FAMILIES["concave"](22, 3), tmp_path / "run.npz"
    best = ds.minimize(objective).value
    part = ds.minimize(objective, TINY, node_limit=limit, checkpoint=path, workers=Scripted(4, drawn))
    assert part.status == "node_limit"
    assert -math.inf < part.lower_bound <= best + 1e-9
    assert ds.minimize(objective, TINY, checkpoint=path).value == pytest.approx(best)


def test_a_picture_of_the_shares(tmp_path):
    pytest.importorskip("matplotlib")
    from dsprog.experiments.worker_shares import draw_workers

    result = ds.minimize(FAMILIES["concave"](16, 1), TINY, workers=Scripted(3, drawn))
    assert draw_workers(result, tmp_path / "workers.png").stat().st_size > 1000
    assert len(result.to_dict()["workers"]) == len(result.workers)


def test_a_worker_looks_at_a_node_before_it_joins_and_takes_the_bounds_that_were_chosen(monkeypatch):
    """So its kernels and models are loaded by then, and it does not try all bounds at the root again."""
    joined = []

    class Watched(Scripted):
        def start(self, job):
            super().start(job)
            joined.append((self.desk.run.nodes, self.desk.method.options.bounds))

    objective = FAMILIES["concave"](14, 0)
    result = ds.minimize(objective, TINY, workers=Watched(2, lambda unit, rng: "answer"))
    assert result.certified
    assert joined == [(1, ("dual", "modular"))]


def test_a_node_that_takes_long_does_not_keep_a_worker_from_joining(monkeypatch):
    """A root without a cutoff may take seconds of cutting planes; the look at it ends after a moment."""
    looked, expand = [], SemidefiniteSearch.expand

    def slow(self, bundle, cutoff):
        if math.isinf(cutoff):
            began = time.perf_counter()
            while not self.stop() and time.perf_counter() - began < 5:
                time.sleep(0.01)
            looked.append(time.perf_counter() - began)
        return expand(self, bundle, cutoff)

    monkeypatch.setattr(SemidefiniteSearch, "expand", slow)
    objective = FAMILIES["cut"](24, 0)
    result = ds.minimize(objective, ds.QuadraticBranchAndBound(), workers=Scripted(2, lambda unit, rng: "answer"))
    assert result.certified
    assert looked
    assert max(looked) < 2
