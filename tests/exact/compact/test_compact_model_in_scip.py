"""The compact model in SCIP: cuts that bring columns, limits, interruption, and what to do without it."""

import math

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.compact import box_search
from dsprog.generators import discrete_data
from dsprog.testing import check_result
from tests.helpers.instances import hard_cut
from tests.helpers.interruption import interrupt_scip
from tests.helpers.packages import needs_scip, without


@needs_scip
@pytest.mark.parametrize("seed", range(3))
def test_information_with_a_class_in_scip(seed):
    """Its cuts bring columns while SCIP searches."""
    rng = np.random.default_rng(seed)
    X, y = discrete_data(rng, 60, 10)
    objective = ds.Modular(0.01 + 0.02 * rng.random(10)) - ds.MutualInformation(X, y)
    result = ds.minimize(objective, ds.CompactModel(backend="scip", starts=0), seed=0)
    check_result(result, objective)
    assert result.certified
    assert "SCIP" in result.proof


@needs_scip
def test_a_time_limit_leaves_an_honest_result(clock, monkeypatch):
    """SCIP gets the time that is left, and a bound when it has used it."""
    limits, solve_lazily = [], box_search.solve_lazily

    def slow(programme, separate, time_limit, cutoff):
        limits.append(time_limit)
        outcome = solve_lazily(programme, separate, min(time_limit, 0.5), cutoff)
        clock.advance(time_limit)
        return outcome

    monkeypatch.setattr(box_search, "solve_lazily", slow)
    clock.tick = 1e-6
    result = ds.minimize(hard_cut(), ds.CompactModel(backend="scip"), seed=0, time_limit=60.0)
    assert result.status == "time_limit"
    assert -math.inf < result.lower_bound < result.value < math.inf
    assert limits == [pytest.approx(60.0, abs=0.1)], "one run of SCIP, with all that was left"


@needs_scip
def test_an_interruption_inside_scip_keeps_bound_and_set(monkeypatch):
    solved = interrupt_scip(monkeypatch, node=5)
    result = ds.minimize(hard_cut(), ds.CompactModel(backend="scip"), seed=0)
    assert result.status == "interrupted"
    assert -math.inf < result.lower_bound < result.value < math.inf
    assert 5 <= len(solved) <= 10, "SCIP stops when it looks next"


def test_without_scip_one_sentence_says_what_to_do(monkeypatch):
    without(monkeypatch, "pyscipopt")
    for solver in (ds.CompactModel(backend="scip"), ds.Scip()):
        with pytest.raises(ImportError, match=r"it needs the package pyscipopt; pip install dsprog\[scip\]"):
            ds.minimize(hard_cut(), solver)
    with pytest.raises(ValueError, match="backend must be highs or scip, got 'cplex'"):
        ds.CompactModel(backend="cplex")
