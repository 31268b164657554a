"""DCA: its proximal step, and local optima that it leaves."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.approximate.dca import Extension
from dsprog.core.problem import Problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.run.run import Run


def test_ssp_and_dca_leave_local_optima_that_flips_do_not():
    """One exact inner minimisation sees every set: f alone is minimised whatever the start."""
    f = ds.Cut([[0, 3, 0], [3, 0, 3], [0, 3, 0]]) + ds.Modular([-1.0, -1.0, -1.0])
    for solver in (ds.SSP(restarts=1), ds.DCA(restarts=1), ds.DCA(rho=0, restarts=1)):
        assert ds.minimize(f - 0.0, solver).S == (0, 1, 2)
    assert ds.minimize(f - 0.0, ds.LocalSearch(restarts=1)).S == ()


@pytest.mark.parametrize("family", ["concave", "coverage", "entropy", "cut"])
def test_proximal_step_of_dca(family):
    """x⁺ is no worse than any other point of the cube in f̂(z) - y·z + ρ/2 |z - x|², and V falls as it must."""
    rng = np.random.default_rng(2)
    objective = FAMILIES[family](8, 1)
    problem = Problem(objective)
    for rho in (0.05, 0.5, 5.0):
        extension = Extension(problem, Run(problem), rho, 1)
        x = rng.random((1, 8)).round(1)
        y = extension.subgradients(x, rng.random((1, 8)))
        step = extension.step(np.arange(1), x, y)
        assert step.min() >= 0
        assert step.max() <= 1
        nearby = np.clip(step + 0.1 * rng.normal(size=(300, 8)), 0, 1)
        points = np.concatenate([step, x, nearby, rng.random((300, 8)), all_masks(8)])
        square = extension.rho / 2 * ((points - x) ** 2).sum(axis=1)
        bound = ds.lovasz_extension(objective.f, points)[0] - points @ y[0] + square
        assert bound[0] <= bound.min() + 1e-6 * max(1.0, np.abs(bound).max())
        before, after = extension.rounded(x), extension.rounded(step)
        assert after.V[0] <= before.V[0] - square[0] + 1e-6
        assert after.values[0] <= after.V[0] + 1e-9
        assert after.values[0] == pytest.approx(objective(after.masks[0]))
