"""Lazy rows in SCIP: the optimum of all rows, also where rows bring columns."""

import math

import numpy as np
import pytest

from dsprog.functions.table import all_masks
from dsprog.milp.sparse import SparseProgramme
from tests.helpers.packages import needs_scip


def knapsacks(seed, n=8, count=6):
    """A programme without rows, and random rows of which only the violated are added."""
    rng = np.random.default_rng(seed)
    A, b = rng.integers(0, 5, (count, n)).astype(float), np.full(count, float(n))
    programme = SparseProgramme()
    x = programme.columns(-rng.random(n), 0.0, 1.0, integer=True)
    programme.constant = 2.0

    def separate(z, with_column=False):
        broken = np.flatnonzero(A @ z[x] > b + 1e-6)
        for i in broken:
            columns, values = x, A[i]
            if with_column:  # the same row with its slack as a column of its own
                slack = programme.columns([0.0], 0.0, b[i])
                columns, values = np.append(x, slack), np.append(values, 1.0)
            programme.row(columns, values, -math.inf if not with_column else b[i], b[i])
        return len(broken) > 0

    masks = all_masks(n).astype(float)
    values = masks @ programme.cost + 2.0
    return programme, separate, values[(masks @ A.T <= b).all(axis=1)].min()


@needs_scip
@pytest.mark.parametrize("with_column", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_all_rows_hold_in_the_end(seed, with_column):
    from dsprog.milp.lazy import solve_lazily

    programme, separate, optimum = knapsacks(seed)
    found = solve_lazily(programme, lambda z: separate(z, with_column))
    assert found.status == "optimal"
    assert found.bound == pytest.approx(optimum, abs=1e-6)
    assert found.bound <= optimum
    assert not separate(found.z)
    assert len(programme.row_lower) > 0
    cut_off = solve_lazily(programme, separate, cutoff=optimum - 0.01)
    assert cut_off.status == "infeasible"
    assert optimum - 0.011 <= cut_off.bound <= optimum - 0.01
