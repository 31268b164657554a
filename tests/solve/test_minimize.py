"""The door: results, limits, interruption, constraints, log."""

import os
import signal
import threading

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import FAMILIES, concave_difference
from dsprog.run.result import relative_gap
from dsprog.testing import check_solver


def test_brute_force_passes_the_kit():
    check_solver(ds.BruteForce(batch=13), largest=5)


def test_kit_catches_a_solver_that_lies():
    class Liar(ds.Solver):
        def solve(self, problem, run):
            mask = np.zeros((1, problem.n), dtype=bool)
            run.offer(mask, problem.objective.values(mask), "guess")
            run.raise_bound(run.value)
            return ds.Verdict("optimal")

    with pytest.raises(AssertionError, match="the minimum"):
        check_solver(Liar(), families=["concave"], largest=5)


@pytest.mark.parametrize("family", FAMILIES)
def test_result_fields(family):
    objective = FAMILIES[family](6, 0)
    result = ds.minimize(objective, ds.BruteForce())
    assert result.certified
    assert result.status == "optimal"
    assert result.gap == 0
    assert result.lower_bound == result.value == pytest.approx(objective(result.S))
    assert "all 64 sets" in result.proof
    assert list(result.S) == sorted(result.S)
    assert result.oracle_calls >= 64
    assert result.nodes == 64
    assert all(a.value >= b.value for a, b in zip(result.trace, result.trace[1:]))
    for word in ("set", "value", "lower bound", "certified", "status", "cost"):
        assert word in str(result)


def test_limits_leave_an_honest_result():
    objective = concave_difference(16, 0)
    optimum = ds.minimize(objective, ds.BruteForce()).value
    for solver in (ds.BruteForce(), ds.BranchAndBound()):
        for limits, status in (({"time_limit": 0.0}, "time_limit"), ({"node_limit": 10}, "node_limit")):
            result = ds.minimize(objective, solver, initial=[3], **limits)
            assert result.status == status
            assert not result.certified
            assert result.lower_bound < optimum
            assert result.value <= objective([3])
            assert result.nodes <= 10 + 256  # a batch is done whole


def test_a_slow_callable_meets_its_time_limit(clock):
    def slow(S):
        clock.advance(0.002)
        return len(S) ** 0.5

    result = ds.minimize(ds.FromCallable(slow, 12) - 1.0, ds.BruteForce(), time_limit=0.2)
    assert result.status == "time_limit"
    assert np.isfinite(result.value)
    assert 0.2 <= clock.now <= 0.2 + 0.002 * result.nodes, "no batch was begun after the limit"
    assert result.nodes < 2**10


def test_callback_sees_improvements_and_can_stop():
    events = []
    result = ds.minimize(concave_difference(10, 0), ds.BruteForce(batch=8), callback=lambda e: events.append(e))
    assert [e.value for e in events] == sorted((e.value for e in events), reverse=True)
    stopped = ds.minimize(concave_difference(10, 0), ds.BruteForce(batch=8), callback=lambda e: True)
    assert stopped.status == "callback"
    assert stopped.value >= result.value


def test_interrupt_keeps_the_best_set():
    def interrupt(event):
        os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    result = ds.minimize(concave_difference(12, 0), ds.BruteForce(batch=64), callback=interrupt)
    assert result.status == "interrupted"
    assert np.isfinite(result.value)
    assert not result.certified


def test_constraints():
    objective = concave_difference(7, 1)
    masks = ds.functions.table.all_masks(7)
    constraints = [ds.Cardinality(2, 4), ds.Include([1]), ds.Exclude([0, 5])]
    feasible = (masks.sum(axis=1) >= 2) & (masks.sum(axis=1) <= 4) & masks[:, 1] & ~masks[:, 0] & ~masks[:, 5]
    ds.testing.check_result(ds.minimize(objective, constraints=constraints), objective, feasible)
    nothing = ds.minimize(objective, constraints=[ds.Include([0]), ds.Exclude([0])])
    assert nothing.status == "infeasible"
    assert not nothing.certified
    assert nothing.value == np.inf


def test_log_is_plain_text_off_a_terminal(capsys):
    ds.minimize(concave_difference(6, 0), ds.BruteForce(), verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "minimise f - g: 6 elements, 3 terms, no constraints"
    assert lines[1].startswith("presolve: ")
    assert lines[2] == "BruteForce: named by the user"
    assert lines[3].split() == ["source", "seconds", "nodes", "open", "bound", "value", "gap"]
    assert lines[4].startswith("enumeration")
    ds.minimize(concave_difference(6, 0))
    assert capsys.readouterr().err == ""


def test_relative_gap():
    assert relative_gap(1.0, 1.0) == relative_gap(1.0, 2.0) == relative_gap(0.0, 0.0) == 0
    assert relative_gap(-2.0, -3.0) == 0.5
    assert relative_gap(0.0, -1.0) == relative_gap(np.inf, 0.0) == relative_gap(1.0, -np.inf) == np.inf


def test_tiny_ground_sets():
    nothing = ds.minimize(ds.Modular([], 2.0))
    assert (nothing.S, nothing.value, nothing.certified) == ((), 2.0, True)
    one = ds.minimize(ds.Modular([-1.0]))
    assert (one.S, one.value) == ((0,), -1.0)


def test_unknown_callables_are_certified_by_enumeration_only():
    objective = ds.FromCallable(lambda S: float(len(S) ** 2 - 3 * len(S)), 5) - ds.CardinalityConcave(5)
    assert ds.minimize(objective, ds.BruteForce()).certified
    assert not objective.is_certifiable


def test_no_feasible_start_does_not_mean_infeasible():
    """Without an incumbent nothing may be cut off: 0 * inf is not a number, and no bound is below that."""
    n, wanted = 16, 0b1010_0110_0101_1001
    exactly = [ds.LinearConstraint(2.0 ** np.arange(n), lo=wanted, hi=wanted)]
    result = ds.minimize(concave_difference(n, 0), ds.BranchAndBound(), constraints=exactly)
    assert result.status == "optimal"
    assert sum(1 << j for j in result.S) == wanted
