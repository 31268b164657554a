"""Published optima of QUBO, max-cut and UAI instances: two that are shipped, the others where they are at hand."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications.vision import grid_pairs
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint
from dsprog.experiments.data_folder import data_folder
from dsprog.experiments.energies import EnergyInstance, energy_instances, qubo_instances
from dsprog.functions.table import all_masks
from dsprog.presolve.roof import roof_duality
from tests.helpers.packages import SHIPPED, needs_data

DATA = data_folder()
HERE = [
    EnergyInstance("glover", SHIPPED / "glover.qubo", 1, -11.0),
    EnergyInstance("petersen", SHIPPED / "petersen.mc", 1, -12.0),
]
AT_HAND = (DATA / "qubo" / "optima.csv").exists() and (DATA / "energies" / "optima.csv").exists()
THERE = [*qubo_instances(DATA), *energy_instances(DATA)] if AT_HAND else []
needs_instances = needs_data("qubo", "optima.csv")
QUICK = ("bqp50-1", "bqp50-10", "bqp100-3", "gka3a", "gka5b", "g05_60.3", "t2g10_5555", "Segmentation_12", "Grids_28")
DENSE_60, DENSE_80 = -3326.0, -5498.0


def name_of(instance):
    return instance.name


@pytest.mark.parametrize("instance", HERE, ids=name_of)
def test_shipped_instances(instance):
    check_bounds(instance)
    check_optimum(instance)
    assert instance.load().values(all_masks(instance.load().n)).min() == instance.optimum


@needs_instances
@pytest.mark.parametrize("instance", [i for i in THERE if i.name in QUICK], ids=name_of)
def test_published_instances(instance):
    check_bounds(instance)
    check_optimum(instance)


@needs_instances
@pytest.mark.slow
@pytest.mark.parametrize("instance", [i for i in THERE if i.name not in QUICK], ids=name_of)
def test_all_published_instances(instance):
    check_bounds(instance)
    check_optimum(instance)


def check_bounds(instance):
    """Every bound is below the published optimum, wherever it stops."""
    form = QuadraticForm.of(instance.load())
    slack = 1e-9 * form.scale + 1e-5
    assert roof_duality(form).lower <= instance.optimum + slack
    if form.n <= 100:
        C, k = form.spin_matrix()
        outcome = InteriorPoint(most=15).run(SemidefinitePoint.diagonally_dominant(C), k - instance.optimum)
        assert k - outcome.bound <= instance.optimum + slack
        rounds = iter(range(10))
        bound = OddCycleBound(form, np.random.default_rng(0))
        assert bound.run(np.inf, lambda z: (next(rounds) == 8, np.inf)) <= instance.optimum + slack


def check_optimum(instance):
    """The default solver proves the published optimum."""
    result = ds.minimize(instance.load())
    assert result.certified
    assert result.value == pytest.approx(instance.optimum, abs=1e-5)
    assert result.lower_bound <= instance.optimum + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "optimum"), [(60, DENSE_60), (80, DENSE_80)])
def test_dense_random_qubo(n, optimum):
    """How long it takes is a row of benchmarks/primitives.py."""
    objective = ds.Pairwise(np.triu(np.random.default_rng(0).integers(-50, 51, (n, n))))
    result = ds.minimize(objective)
    assert result.certified
    assert result.value == result.lower_bound == objective(result.S) == optimum


def test_a_large_grid_by_one_flow():
    side = 512
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side]
    disc = (y - side / 2) ** 2 + (x - side / 2) ** 2 < (side / 3) ** 2
    image = disc + rng.normal(size=disc.shape)
    energy = ds.Cut(grid_pairs(disc.shape, 1.0)) + ds.Modular((0.5 - image).ravel())
    result = ds.minimize(energy)
    assert result.certified
    assert result.proof == "one maximum flow"
    found = np.zeros(side * side, dtype=bool)
    found[list(result.S)] = True
    assert (found.reshape(disc.shape) == disc).mean() > 0.98
