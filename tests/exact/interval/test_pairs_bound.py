"""The bound of pairs of rows for information with a class: its inequality, intervals, and branch and bound."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.interval.monotone_bound import monotone_parts
from dsprog.exact.interval.pairs_bound import PairsBound
from dsprog.functions.table import all_masks
from dsprog.testing import check_result
from tests.helpers.enumeration import between
from tests.helpers.instances import classed_data


def test_the_inequality_of_pairs():
    for seed in range(5):
        X, y, rng = classed_data(seed, 3)
        order = rng.permutation(len(X))
        pairs = [(r, s) for r, s in zip(order[::2], order[1::2]) if y[r] != y[s]]
        differ = np.array([X[r] != X[s] for r, s in pairs])
        information = ds.MutualInformation(X, y)
        masks = all_masks(6)
        left_open = information.class_entropy - information.values(masks)
        together = np.array([(~(differ & mask).any(axis=1)).sum() for mask in masks])
        assert (len(X) * left_open >= 2 * np.log(2) * together - 1e-9).all()


def test_the_bound_of_pairs_holds_on_every_interval():
    for seed in range(4):
        X, y, rng = classed_data(seed, 2)
        objective = ds.Difference(ds.Modular(0.02 * rng.random(6)), ds.MutualInformation(X, y))
        bound = PairsBound(*monotone_parts(objective))
        I = rng.random((60, 6)) < 0.2
        nodes = {"lower": np.full(60, -np.inf), "I": I, "U": I | (rng.random((60, 6)) < 0.8)}
        masks = all_masks(6)
        lower = bound.tighten(nodes, np.inf).nodes["lower"]
        for k in range(60):
            inside = between(masks, nodes["I"][k], nodes["U"][k])
            assert lower[k] <= objective.values(masks[inside]).min() + 1e-9


@pytest.mark.parametrize("bounds", [None, ("monotone", "pairs"), ("pairs",)])
def test_branch_and_bound_with_pairs(bounds):
    X, y, rng = classed_data(1, 2, n=9)
    objective = ds.Difference(ds.Modular(0.01 * rng.random(9)), ds.MutualInformation(X, y))
    result = ds.minimize(objective, ds.BranchAndBound(bounds=bounds))
    check_result(result, objective)
    assert result.certified
    with pytest.raises(ValueError, match="pairs does not work with this problem: it needs an objective that rewards"):
        ds.minimize(ds.Modular([1.0]) - ds.Coverage([[1]]), ds.BranchAndBound(bounds=("pairs",)))
