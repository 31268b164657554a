"""Descents by flips and exchanges, row by row."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.approximate.local_search import descend
from dsprog.approximate.starts import starting_sets
from dsprog.core.problem import Problem
from dsprog.generators import FAMILIES
from dsprog.run.run import Run
from tests.helpers.enumeration import flips


def test_descend_is_the_descent_of_each_row():
    objective = FAMILIES["concave"](15, 0)
    problem = Problem(objective, (ds.Cardinality(3, 9),))
    starts = starting_sets(problem, Run(problem, seed=0), 12)
    before = starts.copy()
    for feasible in (None, problem.feasible):
        masks, values = descend(objective, starts, problem.slack, feasible)
        assert np.array_equal(starts, before)
        assert values == pytest.approx(objective.values(masks))
        assert (values <= objective.values(starts)).all()
        for b in range(len(starts)):
            alone, value = descend(objective, starts[b : b + 1], problem.slack, feasible)
            assert np.array_equal(alone[0], masks[b])
            assert value[0] == pytest.approx(values[b])
            assert np.concatenate(flips(objective, np.flatnonzero(alone[0]), feasible)).min() >= value[0] - 1e-9
        assert feasible is None or feasible(masks).all()
    tilt = np.random.default_rng(0).normal(size=starts.shape)
    masks, values = descend(objective, starts, problem.slack, tilt=tilt)
    for b in range(len(starts)):
        tilted = objective + ds.Modular(tilt[b])
        assert values[b] == pytest.approx(tilted(masks[b]))
        assert np.concatenate(flips(tilted, np.flatnonzero(masks[b]))).min() >= values[b] - 1e-9
    partly, _ = descend(objective, starts, problem.slack, stop=lambda: True)
    assert np.array_equal(partly, starts)
