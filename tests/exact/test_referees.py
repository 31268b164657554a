"""The long comparison of the exact solver with enumeration and with SCIP: `make test-slow`."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.testing import check_result
from tests.helpers.constraints import random_constraints
from tests.helpers.enumeration import check_best


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_enumeration_on_a_thousand_instances(family):
    """80 seeds for each of 13 families: plain, constrained and the ten best."""
    for seed in range(80):
        rng = np.random.default_rng([seed, 1])
        n = int(rng.integers(1, 15)) if family not in ("callable", "spectral") else int(rng.integers(1, 11))
        objective = FAMILIES[family](n, seed)
        result = ds.minimize(objective)
        assert result.status == "optimal"
        check_result(result, objective)
        constraints = random_constraints(rng, n)
        feasible = as_problem(objective, constraints).feasible(all_masks(n))
        constrained = ds.minimize(objective, constraints=constraints)
        if feasible.any():
            assert constrained.status == "optimal"
            check_result(constrained, objective, feasible)
        else:
            assert constrained.status == "infeasible"
        check_best(ds.enumerate_best(objective, 10), objective, 10)


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 18, 21, 25])
@pytest.mark.parametrize("family", ["concave", "coverage", "facility", "logdet", "sensors", "rank", "pairwise"])
def test_scip(family, n):
    pytest.importorskip("pyscipopt")
    for seed in range(2):
        objective = FAMILIES[family](n, seed)
        ours, theirs = ds.minimize(objective), ds.minimize(objective, ds.Scip(), time_limit=60)
        assert ours.certified
        slack = 1e-5 * max(1.0, abs(ours.value))
        assert theirs.value >= ours.value - slack
        assert theirs.lower_bound <= ours.value + slack
        if theirs.status == "optimal":
            assert theirs.value == pytest.approx(ours.value, abs=slack)
