"""Small problems: all sets are looked at, whichever family; larger ones, and code that is not ours, are searched."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.brute_force import root_bound
from dsprog.generators import FAMILIES
from dsprog.solve.rules.number_of_sets import data_size, has_few_sets


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"callable"}))
def test_looking_at_all_agrees_with_a_search(family):
    objective = FAMILIES[family](7, 3)
    looked, searched = ds.minimize(objective), ds.minimize(objective, ds.BranchAndBound())
    assert looked.solver == "BruteForce"
    assert looked.certified
    assert looked.value == pytest.approx(searched.value, abs=1e-9)
    assert root_bound(as_problem(objective, [])) <= looked.value + 1e-9


def test_callables_and_large_data_are_searched():
    assert not has_few_sets(as_problem(FAMILIES["callable"](8, 0), []))
    few, many = (ds.Entropy(np.random.default_rng(0).integers(0, 3, (rows, 12))) for rows in (50, 5000))
    assert has_few_sets(as_problem(few - ds.Modular(np.ones(12)), []))
    assert not has_few_sets(as_problem(many - ds.Modular(np.ones(12)), []))

    class Mine(ds.SetFunction):
        def __init__(self, n):
            self.n, self.knows = n, ds.Knowledge(submodular=True)

        def _values(self, masks):
            return np.sqrt(masks.sum(axis=1))

    assert data_size(Mine(3)) == np.inf


def test_what_was_asked_for_is_kept():
    objective = FAMILIES["concave"](10, 0)
    assert "so few sets" in ds.minimize(objective).presolve
    assert "so few sets" not in ds.minimize(objective, reduce=True).presolve
    stopped = ds.minimize(objective, node_limit=5)
    assert stopped.status == "node_limit"
    assert stopped.lower_bound <= ds.minimize(objective).value
