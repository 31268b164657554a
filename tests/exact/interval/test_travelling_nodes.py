"""What goes along with a node that leaves a unit of work is what would be computed again where it arrives."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.exact.interval.monotone_bound import MonotoneBound
from dsprog.run.driver import Frontier
from dsprog.run.limits import Limits
from dsprog.run.run import Run
from dsprog.run.workers.unit import mixed
from tests.helpers.instances import classed_data


def unit_of(objective, nodes):
    """The search of an objective, and the open bundles after some nodes."""
    problem = as_problem(objective, ())
    run = Run(problem, Limits(), seed=0, keeps=1, within=0.0)
    options = ds.BranchAndBound(unit=nodes, batch=4, starts=0, leaf=1, bounds=("monotone",))
    search = IntervalSearch(problem, run, options)
    return search, search.expand(search.root(), np.inf).bundles


@pytest.mark.parametrize("seed", range(4))
def test_information_travels_with_its_nodes(seed, monkeypatch):
    X, y, rng = classed_data(seed, 2, n=8)
    objective = ds.Difference(ds.Modular(0.02 * rng.random(8)), ds.MutualInformation(X, y))
    search, bundles = unit_of(objective, 12)
    assert bundles
    for bundle in bundles:
        assert set(MonotoneBound.travels) <= set(bundle)
        again = {key: bundle[key] for key in ("lower", "I", "U", "x")}
        search.bounds[0].prepare(again)
        free = bundle["U"] & ~bundle["I"]
        for key in MonotoneBound.travels:
            wanted = free if bundle[key].ndim == 2 else slice(None)
            np.testing.assert_allclose(bundle[key][wanted], again[key][wanted], atol=1e-12)
    evaluated = []
    monkeypatch.setattr(MonotoneBound, "_evaluate", lambda self, nodes, *rows: evaluated.append(rows))
    search.bounds[0].prepare(bundles[0])
    assert evaluated == []


def test_cheap_functions_travel_as_their_intervals():
    from dsprog.generators import FAMILIES

    problem = as_problem(FAMILIES["concave"](12, 0), ())
    search = IntervalSearch(problem, Run(problem, Limits()), ds.BranchAndBound(unit=8, batch=4, starts=0, leaf=1))
    for bundle in search.expand(search.root(), np.inf).bundles:
        assert set(bundle) == {"lower", "I", "U", "x"}


def test_nodes_that_came_bare_are_mixed_with_others():
    X, y, rng = classed_data(0, 2, n=8)
    search, bundles = unit_of(ds.Difference(ds.Modular(0.02 * rng.random(8)), ds.MutualInformation(X, y)), 12)
    frontier = Frontier()
    frontier.push(bundles[0])
    frontier.push({key: bundles[0][key] for key in ("lower", "I", "U", "x")})
    whole = mixed(frontier).heap[0][2]
    assert set(whole) == {"lower", "I", "U", "x"}
    assert len(whole["lower"]) == 2 * len(bundles[0]["lower"])
    assert search.expand(whole, np.inf).nodes > 0
