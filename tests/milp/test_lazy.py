"""Lazy rows in SCIP: the optimum of all rows, also where rows bring columns, and honest bounds at limits."""

import math
import os
import subprocess
import time

import numpy as np
import pytest

import dsprog as ds
from dsprog import milp
from dsprog.functions.table import all_masks
from dsprog.generators import discrete_data, random_graph
from dsprog.milp.sparse import SparseProgramme
from dsprog.testing import check_result

needs_scip = pytest.mark.skipif(not milp.importable("scip"), reason="no pyscipopt")


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


def hard_instance(n=50):
    """A max-cut with terms that keep it from being quadratic: too hard for some seconds."""
    rng = np.random.default_rng(0)
    return ds.LogDet(np.eye(n)) * 1e-3 + ds.Modular(np.zeros(n)) - ds.Cut(random_graph(rng, n, 0.5))


@needs_scip
def test_a_time_limit_leaves_an_honest_result():
    result = ds.minimize(hard_instance(), ds.CompactModel(backend="scip"), seed=0, time_limit=2.0)
    assert result.status == "time_limit"
    assert -math.inf < result.lower_bound < result.value < math.inf
    assert result.seconds < 4.0


@needs_scip
def test_an_interruption_inside_scip_keeps_bound_and_set():
    ds.minimize(hard_instance(), ds.CompactModel(backend="scip"), node_limit=1, seed=0)
    shell = subprocess.Popen(["sh", "-c", f"sleep 3; kill -INT {os.getpid()}"])  # SCIP leaves no time to our threads
    started = time.perf_counter()
    result = ds.minimize(hard_instance(), ds.CompactModel(backend="scip"), seed=0)
    assert result.status == "interrupted"
    assert time.perf_counter() - started < 3.0 + 2.0
    assert -math.inf < result.lower_bound < result.value < math.inf
    assert shell.wait() == 0


def test_without_scip_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setattr(milp, "importable", lambda backend: backend != "scip")
    with pytest.raises(ImportError, match="backend 'scip' needs a package that is not there: pip install pyscipopt"):
        ds.CompactModel(backend="scip")
    with pytest.raises(ValueError, match="backend must be highs or scip, got 'cplex'"):
        ds.CompactModel(backend="cplex")
