"""Curvature common to f and g is taken out of both without changing their difference."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.core.submodularity import is_submodular
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.exact.interval.shared_curvature import SharedCurvature, share_curvature
from dsprog.generators import concave_difference
from dsprog.run.run import Run
from dsprog.testing import check_set_function

KINDS = [("sqrt", None), ("log1p", None), ("power", 0.3), ("truncate", 1.2)]


def random_concave(rng, n, kind, parameter, density=0.5):
    W = rng.random((2 * n, n)) * (rng.random((2 * n, n)) < density)
    return ds.ConcaveOfModular(W, rng.random(2 * n), kind, parameter)


def random_difference(seed, n=7):
    rng = np.random.default_rng(seed)
    f, g = (random_concave(rng, n, *KINDS[rng.integers(3)], density=rng.choice([0.2, 0.5, 1.0])) for _ in "fg")
    return (f + ds.Modular(rng.normal(size=n))) - (rng.random() * g + ds.CardinalityConcave(n, "sqrt"))


@pytest.mark.parametrize(("kind", "parameter"), KINDS)
@pytest.mark.parametrize("density", [0.1, 0.5])
def test_the_claimed_curvature_is_there_and_survives_transformations(kind, parameter, density):
    f = random_concave(np.random.default_rng(3), 6, kind, parameter, density)
    assert (f.curvature() is None) == (kind == "truncate")
    for seen in (
        f,
        f.restrict([1], [0, 1, 3, 5]),
        f.complement(),
        f.relabel([3, 1, 0, 5, 4, 2]),
        2 * f + f.complement(),
    ):
        check_set_function(seen)


def test_a_curvature_that_is_too_large_is_found():
    class Boastful(ds.ConcaveOfModular):
        def curvature(self):
            return 3.0 * super().curvature()

    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="second differences"):
        check_set_function(Boastful(rng.random((4, 5))))


@pytest.mark.parametrize("seed", range(12))
def test_both_sides_stay_submodular_and_their_difference_the_same(seed):
    objective = random_difference(seed)
    f, g = share_curvature(objective.f, objective.g)
    (shared,) = (h for _, h in f.terms if isinstance(h, SharedCurvature))
    masks = (np.arange(2**objective.n)[:, None] >> np.arange(objective.n)) & 1 == 1
    np.testing.assert_allclose(f.values(masks) - g.values(masks), objective.values(masks), atol=1e-12)
    assert is_submodular(f)
    assert is_submodular(g)
    shared.has_concave_extension = False  # its tangents hold only beside those of g
    check_set_function(shared)
    points = np.random.default_rng(seed).random((50, objective.n)) ** 6
    constants, slopes = g.tangents(points)
    assert (constants[:, None] + slopes @ masks.T >= g.values(masks) - 1e-12).all()


def test_the_shared_part_raises_the_bound_at_the_root(monkeypatch):
    objective = concave_difference(30, seed=0)

    def root_bound():
        problem = as_problem(objective, [])
        run = Run(problem)
        IntervalSearch(problem, run, ds.BranchAndBound()).root()
        return run.lower_bound

    shared = root_bound()
    monkeypatch.setattr("dsprog.exact.interval.applicable_bounds.share_curvature", lambda f, g: (f, g))
    assert root_bound() < shared <= ds.minimize(objective).value


def test_functions_without_curvature_are_left_alone():
    objective = ds.Coverage([[1, 0, 1], [0, 1, 1]]) - ds.ConcaveOfModular([[1.0, 2.0, 1.0]])
    assert share_curvature(objective.f, objective.g) == (objective.f, objective.g)
