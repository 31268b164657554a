"""Reductions: the smaller problem has the same optimum, and the result is one of the whole."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, discrete_data, incidence, random_graph
from dsprog.problem import as_problem
from dsprog.reductions import connected, duplicates, reduce
from dsprog.testing import check_result

SOLVERS = [ds.BranchAndBound(), ds.CompactModel()]


def block_diagonal(*blocks):
    import scipy.linalg

    return scipy.linalg.block_diag(*blocks)


def separable(seed, sizes=(4, 3, 5)):
    """Three components, each a difference of cut and coverage with costs."""
    rng = np.random.default_rng(seed)
    f = ds.Coverage(block_diagonal(*(incidence(rng, 2 * n, n, 3.0) for n in sizes)))
    g = ds.Cut(block_diagonal(*(random_graph(rng, n, 1.0) for n in sizes)))
    return f + ds.Modular(0.3 * rng.normal(size=sum(sizes))) - g


def with_copies(seed):
    """Columns of data twice, renamed and at another price, and constant ones."""
    rng = np.random.default_rng(seed)
    X, y = discrete_data(rng, 40, 4)
    X = np.column_stack([X, (X + 1) % 3, np.zeros((40, 2), dtype=int)])
    return ds.ConditionalEntropy(X, y) + ds.Modular(0.02 * rng.random(10)) - ds.Entropy(X)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("build", [separable, with_copies])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_stays(solver, build, seed):
    objective = build(seed)
    assert reduce(as_problem(objective, ())).worthwhile
    result = ds.minimize(objective, solver, seed=0)
    check_result(result, objective)
    assert result.certified
    assert "elements left" in result.proof


@pytest.mark.parametrize("family", FAMILIES)
def test_no_reduction_loses_the_optimum(family):
    for n in (1, 4, 7):
        for seed in range(3):
            objective = FAMILIES[family](n, seed)
            reduction = reduce(as_problem(objective, ()))
            masks = all_masks(n)
            values = objective.values(masks)
            free = np.zeros(n, dtype=bool)
            for component in reduction.components:
                free[component] = True
            kept = (masks >= reduction.include).all(axis=1) & (masks <= (reduction.include | free)).all(axis=1)
            assert values[kept].min() == pytest.approx(values.min(), abs=1e-9)


def test_components_are_found():
    parts = connected(separable(0), np.arange(12))
    assert all(len({np.searchsorted([4, 7, 12], j, side="right") for j in part}) == 1 for part in parts)
    assert len(parts) >= 3


def test_duplicates_keep_the_cheapest():
    members = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    objective = ds.Modular([0.3, 0.1, 0.2, 0.5]) - ds.Coverage(members)
    assert duplicates(objective).tolist() == [True, False, True, False]
    assert not duplicates(ds.Modular([-0.3, -0.3, 0.2, 0.5]) - ds.Coverage(members))[:2].any()


def test_limits_on_parts_are_honest():
    objective = separable(1, (9, 8, 9))
    optimum = ds.minimize(objective).value
    for limits in ({"node_limit": 1}, {"time_limit": 0.0}):
        result = ds.minimize(objective, ds.BranchAndBound(starts=0), **limits)
        assert np.isfinite(result.lower_bound)
        assert result.lower_bound <= optimum <= result.value + 1e-9
    assert ds.minimize(objective, gap=0.1).certified


def test_constraints_and_unknown_functions_are_left_alone():
    objective = separable(0)
    assert not reduce(as_problem(objective, [ds.Cardinality(max=3)])).worthwhile
    unknown = ds.FromCallable(lambda S: float(len(S)), 4) - ds.Modular(np.ones(4))
    assert not reduce(as_problem(unknown, ())).worthwhile


def test_the_log_says_what_was_reduced(capsys):
    ds.minimize(separable(0), verbose=1)
    assert "elements left" in capsys.readouterr().err
