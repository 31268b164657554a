"""The race: agreement with enumeration, who proved it, limits and interruption."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.generators import FAMILIES, concave_difference, incidence, sparse_weights
from dsprog.testing import check_result, check_solver


def test_passes_the_kit():
    check_solver(ds.Race(), families=["concave", "coverage", "cut"], largest=3, seeds=(0,))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("constraints", [[], [ds.Cardinality(1, 4)]], ids=["free", "constrained"])
def test_agrees_with_enumeration(family, constraints):
    from dsprog.functions.table import all_masks

    objective = FAMILIES[family](8, 0)
    result = ds.minimize(objective, ds.Race(), constraints=constraints, seed=0)
    check_result(result, objective, as_problem(objective, constraints).feasible(all_masks(8)))
    assert result.certified
    assert result.solver == "Race"


def test_the_result_says_who_proved_it():
    dense = concave_difference(30, seed=0)  # of two groups an element: nothing for a compact model
    assert "race won by BranchAndBound: interval" in ds.minimize(dense, ds.Race(turn=60.0), seed=0).proof
    second = ds.Race((ds.CompactModel(), ds.BranchAndBound()), turn=60.0)
    rng = np.random.default_rng(0)
    structured = ds.ConcaveOf(ds.Coverage(incidence(rng, 60, 20)), "sqrt") - ds.ConcaveOfModular(
        sparse_weights(rng, 3, 20)
    )
    assert "race won by CompactModel: compact model" in ds.minimize(structured, second, seed=0).proof


def hard_instance():
    """Too hard for either within seconds."""
    rng = np.random.default_rng(0)
    return ds.ConcaveOfModular(rng.random((60, 70))) - ds.ConcaveOfModular(rng.random((60, 70)))


def test_short_turns_go_on_where_they_were():
    objective = concave_difference(24, seed=1)
    alone = ds.minimize(objective, ds.BranchAndBound())
    result = ds.minimize(objective, ds.Race(turn=1e-4), seed=0)
    assert result.certified
    assert result.value == pytest.approx(alone.value)


def test_limits_leave_the_better_bound():
    objective = hard_instance()
    result = ds.minimize(objective, ds.Race(turn=0.2), seed=0, time_limit=3.0)
    assert result.status == "time_limit"
    assert "race led by" in result.proof
    assert -np.inf < result.lower_bound < result.value < np.inf
    assert result.seconds < 6.0
    assert ds.minimize(objective, ds.Race(), seed=0, node_limit=1).status == "node_limit"
    bounds = [event.lower_bound for event in result.trace]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("solver", [ds.Race(turn=0.3), ds.Race(turn=60.0)], ids=["turns", "one"])
def test_an_interruption_keeps_bound_and_set(solver):
    ds.minimize(hard_instance(), solver, node_limit=1, seed=0)
    timer = threading.Timer(2.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    result = ds.minimize(hard_instance(), solver, seed=0)
    assert result.status == "interrupted"
    assert time.perf_counter() - started < 2.5 + 3.0
    assert -np.inf < result.lower_bound < result.value < np.inf
    timer.join()


def test_what_cannot_race_is_refused():
    with pytest.raises(TypeError, match="solvers must be searches"):
        ds.Race((ds.SSP(),))
    with pytest.raises(ValueError, match="turn must be positive"):
        ds.Race(turn=0.0)


def test_unknown_functions_are_not_certified():
    objective = ds.FromCallable(lambda S: float(len(S) ** 0.5), 4) - ds.Modular([0.9, 0.1, 0.8, 0.2])
    result = ds.minimize(objective, ds.Race())
    assert result.status == "finished"
    assert result.lower_bound == -np.inf
