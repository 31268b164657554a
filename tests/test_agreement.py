"""Exact solvers against enumeration and each other, on objectives that mix all kinds of terms on both sides."""

import pytest
from mixed_terms import KINDS, mixed_constraints, mixed_objective

import dsprog as ds
from dsprog import milp
from dsprog.functions.table import all_masks
from dsprog.problem import as_problem
from dsprog.testing import check_result

needs_scip = pytest.mark.skipif(not milp.importable("scip"), reason="no pyscipopt")
SOLVERS = {
    "HiGHS": ds.CompactModel(),
    "SCIP": ds.CompactModel(backend="scip"),
    "race": ds.Race(),
}
NAMED = ["HiGHS", pytest.param("SCIP", marks=needs_scip), "race"]
CASES = range(len(KINDS))


def compare(objective, constraints, name, reduce=None):
    """The value of enumeration and of interval branch and bound, a valid bound, and a certificate."""
    feasible = as_problem(objective, constraints).feasible(all_masks(objective.n)) if constraints else None
    result = ds.minimize(objective, SOLVERS[name], constraints=constraints, seed=0, reduce=reduce)
    check_result(result, objective, feasible)
    assert result.certified
    other = ds.minimize(objective, ds.BranchAndBound(), constraints=constraints)
    assert other.certified
    assert result.value == pytest.approx(other.value, abs=1e-6)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("case", CASES)
def test_small_mixed_objectives(case, name):
    compare(mixed_objective(case, 7), mixed_constraints(case, 7), name, reduce=case % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n", [10, 14, 18])
@pytest.mark.parametrize("case", CASES)
def test_mixed_objectives(case, n, name):
    compare(mixed_objective(case, n, 1), mixed_constraints(case + n // 4, n), name)
