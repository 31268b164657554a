"""The race: agreement with enumeration, who proved it, limits and interruption."""

from types import SimpleNamespace

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.exact.race import Racers
from dsprog.generators import FAMILIES, concave_difference, incidence, sparse_weights
from dsprog.milp.programme import ProgrammeFailed
from dsprog.milp.sparse import SparseProgramme
from dsprog.testing import check_result, check_solver
from tests.helpers.instances import dense_difference, unknown_root
from tests.helpers.interruption import interrupt_call, interrupt_highs


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
    assert "race won by BranchAndBound: interval" in ds.minimize(dense, ds.Race(turn=1e9), seed=0).proof
    second = ds.Race((ds.CompactModel(), ds.BranchAndBound()), turn=1e9)
    rng = np.random.default_rng(0)
    structured = ds.ConcaveOf(ds.Coverage(incidence(rng, 60, 20)), "sqrt") - ds.ConcaveOfModular(
        sparse_weights(rng, 3, 20)
    )
    assert "race won by CompactModel: compact model" in ds.minimize(structured, second, seed=0).proof


def test_a_racer_whose_programme_fails_leaves_the_race_to_the_others(monkeypatch):
    def fail(self, *args, **options):
        raise ProgrammeFailed("no answer")

    monkeypatch.setattr(SparseProgramme, "relaxed", fail)
    objective = FAMILIES["coverage"](14, 0)
    second = ds.Race((ds.CompactModel(), ds.BranchAndBound()))
    result = ds.minimize(objective, second, seed=0, reduce=False)
    check_result(result, objective)
    assert result.certified
    assert "race won by BranchAndBound" in result.proof
    alone = ds.minimize(objective, ds.Race((ds.CompactModel(),)), seed=0, reduce=False)
    assert not alone.certified
    assert "no answer" in alone.message


def test_short_turns_go_on_where_they_were(clock):
    clock.tick = 0.01
    objective = concave_difference(24, seed=1)
    alone = ds.minimize(objective, ds.BranchAndBound())
    result = ds.minimize(objective, ds.Race(turn=0.1), seed=0)
    assert result.certified
    assert result.value == pytest.approx(alone.value)


@pytest.mark.parametrize(
    ("lower", "leaders"),
    [((-5.0, -2.0), [0, 1]), ((-9.0, -2.0), [1]), ((-np.inf, -2.0), [1]), ((-np.inf, -np.inf), [0, 1])],
    ids=str,
)
def test_turns_grow_for_those_who_are_not_far_behind(lower, leaders):
    racers = Racers(None, SimpleNamespace(value=0.0), ())
    racers.searches = {k: SimpleNamespace(lower=bound) for k, bound in enumerate(lower)}
    assert racers.leaders() == leaders


def test_a_bound_that_is_far_away_takes_few_turns():
    """Differences of facility locations: the programme's bound is thousands away."""
    result = ds.minimize(FAMILIES["facility"](60, 0), ds.Race((ds.CompactModel(), ds.BranchAndBound()), turn=1e-3))
    assert result.certified
    assert "won by BranchAndBound" in result.proof


def test_limits_leave_the_better_bound(clock):
    clock.tick = 0.1
    objective = dense_difference(70)
    result = ds.minimize(objective, ds.Race(turn=1.0), seed=0, time_limit=8.0)
    assert result.status == "time_limit"
    assert "race led by" in result.proof
    assert -np.inf < result.lower_bound < result.value < np.inf
    assert ds.minimize(objective, ds.Race(), seed=0, node_limit=1).status == "node_limit"
    bounds = [event.lower_bound for event in result.trace]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("racer", ["BranchAndBound", "CompactModel"])
def test_an_interruption_keeps_bound_and_set(racer, clock, monkeypatch):
    """In the turn of either."""
    clock.tick = 0.1
    if racer == "CompactModel":
        answers = interrupt_highs(monkeypatch)
    else:
        calls = interrupt_call(monkeypatch, IntervalSearch, "_process", call=20)
    result = ds.minimize(dense_difference(70), ds.Race(turn=2.0), seed=0)
    assert result.status == "interrupted"
    assert -np.inf < result.lower_bound < result.value < np.inf
    assert answers[-1] if racer == "CompactModel" else len(calls) == 20


def test_what_cannot_race_is_refused():
    with pytest.raises(TypeError, match="solvers must be searches"):
        ds.Race((ds.SSP(),))
    with pytest.raises(ValueError, match="turn must be positive"):
        ds.Race(turn=0.0)


def test_unknown_functions_are_not_certified():
    result = ds.minimize(unknown_root(), ds.Race())
    assert result.status == "finished"
    assert result.lower_bound == -np.inf
