"""Exact solvers against enumeration and each other, on objectives that mix all kinds of terms on both sides."""

import pytest

import dsprog as ds
from dsprog import milp
from dsprog.core.problem import as_problem
from dsprog.functions.table import all_masks
from tests.helpers.enumeration import mask_of
from tests.helpers.mixed_terms import KINDS, mixed_constraints, mixed_objective

SOLVERS = [ds.BranchAndBound(), ds.Race(), ds.CompactModel(backend="scip" if milp.importable("scip") else "highs")]
# HiGHS starts again after every round of cuts, and a callable without a slope needs many Nemhauser–Wolsey cuts
TOO_LONG_FOR_HIGHS = {(KINDS.index("coverage, declared"), 18)}


def compare(objective, constraints, solvers, reduce=None):
    """Every solver proves the value that enumeration finds."""
    masks = all_masks(objective.n)
    feasible = as_problem(objective, constraints).feasible(masks)
    optimum = objective.values(masks[feasible]).min()
    for solver in solvers:
        result = ds.minimize(objective, solver, constraints=constraints, seed=0, reduce=reduce)
        assert result.certified, solver
        assert feasible[(masks == mask_of(result.S, objective.n)).all(axis=1)].all(), solver
        assert result.value == objective(result.S) == pytest.approx(optimum, rel=1e-6, abs=1e-6), solver
        assert optimum - 1e-5 * max(1.0, abs(optimum)) <= result.lower_bound <= optimum + 1e-9, solver


@pytest.mark.parametrize("case", range(len(KINDS)))
def test_small_mixed_objectives(case):
    objective, constraints = mixed_objective(case, 7), mixed_constraints(case, 7)
    compare(objective, constraints, [*SOLVERS, ds.CompactModel()], reduce=case % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 14, 18])
@pytest.mark.parametrize("case", range(len(KINDS)))
def test_mixed_objectives(case, n):
    solvers = SOLVERS if (case, n) in TOO_LONG_FOR_HIGHS else [*SOLVERS, ds.CompactModel()]
    compare(mixed_objective(case, n, 1), mixed_constraints(case + n // 4, n), solvers)
