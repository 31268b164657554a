"""Sensors and designs against enumeration, and what is said of bad input."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications import (
    budget_path,
    d_optimal_design,
    draw_sensors,
    field_covariance,
    grid_points,
    sensor_objective,
)
from dsprog.generators import entropy_sampling


def cov(n=8, seed=0):
    return field_covariance(np.random.default_rng(seed).random((n, 2)), length=0.3)


def test_criteria_are_what_they_say():
    C, S = cov(), [1, 4, 6]
    rest = [j for j in range(8) if j not in S]
    costs = np.arange(8.0)

    def entropy(A):
        return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * C[np.ix_(A, A)])[1]

    assert sensor_objective(C, costs=costs)(S) == pytest.approx(11.0 - entropy(S))
    information = entropy(S) + entropy(rest) - entropy(list(range(8)))
    assert sensor_objective(C, "information")(S) == pytest.approx(-information)
    left = C[0, 0] - C[0, S] @ np.linalg.solve(C[np.ix_(S, S)], C[S, 0])
    assert sensor_objective(C, "variance", target=0)(S) == pytest.approx(left)


@pytest.mark.parametrize("criterion", ["entropy", "information", "variance"])
def test_budget_path_is_optimal_at_each_size(criterion):
    objective = sensor_objective(cov(), criterion, target=3 if criterion == "variance" else None)
    path = budget_path(objective, [4, 1, 2], seed=0)
    assert path.sizes == (1, 2, 4)
    assert path.certified
    for size, result in zip(path.sizes, path.results):
        best = min(objective(S) for S in itertools.combinations(range(8), size))
        assert result.value == pytest.approx(best, abs=1e-9)
    assert path.values == pytest.approx([result.value for result in path.results])


def test_path_with_another_constraint():
    path = budget_path(sensor_objective(cov()), [2, 3], [ds.Exclude([0])])
    assert all(0 not in result.S for result in path.results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "gain"}, "criterion must be one of"),
        ({"target": 1}, "target must be given for the criterion variance"),
        ({"criterion": "variance"}, "target must be given for the criterion variance"),
        ({"costs": [1.0]}, "costs"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        sensor_objective(cov(), **options)


def test_bad_kernels_and_sizes():
    with pytest.raises(ValueError, match="length must be positive"):
        field_covariance([[0.0]], length=0.0)
    with pytest.raises(ValueError, match="sizes"):
        budget_path(sensor_objective(cov()), [9])


def test_map():
    pytest.importorskip("matplotlib")
    points = grid_points(2, 4)
    figure = draw_sensors(points, budget_path(sensor_objective(field_covariance(points, 1.0)), [1, 2]).results)
    assert [axis.get_title() for axis in figure.axes[:2]] == ["1 places, proved", "2 places, proved"]


@pytest.mark.parametrize("seed", range(3))
def test_designs_are_optimal_up_to_the_ridge(seed):
    A, k = np.random.default_rng(seed).normal(size=(10, 3)), 4
    design = d_optimal_design(A, k)
    best = max(np.linalg.slogdet(A[list(S)].T @ A[list(S)])[1] for S in itertools.combinations(range(10), k))
    assert design.log_det <= best + 1e-9 <= design.upper + 2e-9
    assert design.gap < 1e-3
    assert design.log_det == pytest.approx(np.linalg.slogdet(A[list(design.rows)].T @ A[list(design.rows)])[1])


def test_bad_designs():
    with pytest.raises(ValueError, match="independent columns"):
        d_optimal_design(np.ones((5, 2)), 3)
    with pytest.raises(ValueError, match="k must be"):
        d_optimal_design(np.eye(3), 2)
    with pytest.raises(ValueError, match="ridge must be positive"):
        d_optimal_design(np.eye(3), 3, ridge=0.0)


def test_generator():
    objective = entropy_sampling(12, seed=1)
    result = ds.minimize(objective, constraints=[ds.Cardinality(5, 5)])
    expected = ds.minimize(objective, ds.BruteForce(), constraints=[ds.Cardinality(5, 5)])
    assert result.value == pytest.approx(expected.value)
    assert result.certified
