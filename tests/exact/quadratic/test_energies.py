"""Published optima of QUBO, max-cut and UAI instances, where the data are at hand."""

import time

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.exact.quadratic.odd_cycle_bound import OddCycleBound
from dsprog.exact.quadratic.semidefinite_bound import InteriorPoint, SemidefinitePoint
from dsprog.experiments.data_folder import data_folder
from dsprog.experiments.energies import energy_instances, qubo_instances
from dsprog.presolve.roof import roof_duality

DATA = data_folder()
needs_data = pytest.mark.skipif(not (DATA / "qubo" / "optima.csv").exists(), reason=f"no instances in {DATA}")
INSTANCES = [*qubo_instances(DATA), *energy_instances(DATA)] if (DATA / "qubo" / "optima.csv").exists() else []
QUICK = ("bqp50-1", "bqp50-10", "bqp100-3", "gka3a", "gka5b", "g05_60.3", "t2g10_5555", "Segmentation_12", "Grids_28")


@needs_data
@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_bounds_are_below_the_published_optimum(instance):
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


@needs_data
@pytest.mark.parametrize("instance", [i for i in INSTANCES if i.name in QUICK], ids=lambda instance: instance.name)
def test_published_optima(instance):
    check(instance)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("instance", [i for i in INSTANCES if i.name not in QUICK], ids=lambda instance: instance.name)
def test_all_published_optima(instance):
    check(instance)


def check(instance):
    result = ds.minimize(instance.load(), time_limit=120)
    assert result.certified
    assert result.value == pytest.approx(instance.optimum, abs=1e-5)
    assert result.lower_bound <= instance.optimum + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seconds"), [(60, 2.0), (80, 20.0)])
def test_dense_random_qubo(n, seconds):
    objective = ds.Pairwise(np.triu(np.random.default_rng(0).integers(-50, 51, (n, n))))
    ds.minimize(ds.Pairwise(np.triu(np.random.default_rng(0).integers(-50, 51, (40, 40)))))  # compiled and warm
    started = time.process_time()
    assert ds.minimize(objective).certified
    assert time.process_time() - started < seconds


def test_a_large_grid_by_one_flow():
    from dsprog.applications.vision import grid_pairs

    side = 512
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side]
    disc = (y - side / 2) ** 2 + (x - side / 2) ** 2 < (side / 3) ** 2
    image = disc + rng.normal(size=disc.shape)
    energy = ds.Cut(grid_pairs(disc.shape, 1.0)) + ds.Modular((0.5 - image).ravel())
    ds.minimize(ds.Cut(grid_pairs((4, 4), 1.0)))
    started = time.process_time()
    result = ds.minimize(energy)
    assert time.process_time() - started < 4.0
    assert result.certified
    assert result.proof == "one maximum flow"
    found = np.zeros(side * side, dtype=bool)
    found[list(result.S)] = True
    assert (found.reshape(disc.shape) == disc).mean() > 0.98
