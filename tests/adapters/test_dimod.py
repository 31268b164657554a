"""dimod's own checks of a sampler, energies against its exact solver, and models there and back."""

import unittest

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications.energy import ising, qubo

dimod = pytest.importorskip("dimod")
from dsprog.adapters.dimod import DsprogSampler, to_dimod  # noqa: E402  # after the package is known to be there


@dimod.testing.load_sampler_bqm_tests(DsprogSampler)
class TestSampler(unittest.TestCase):
    def test_api(self):
        dimod.testing.assert_sampler_api(DsprogSampler())


def random_model(seed, vartype):
    rng = np.random.default_rng(seed)
    names = [f"v{k}" if k % 2 else k for k in range(7)]
    linear = dict(zip(names, rng.normal(size=7).round(2)))
    quadratic = {(names[i], names[j]): round(rng.normal(), 2) for i in range(7) for j in range(i) if rng.random() < 0.6}
    return dimod.BinaryQuadraticModel(linear, quadratic, round(rng.normal(), 2), vartype)


@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
@pytest.mark.parametrize("seed", range(6))
def test_energies_are_those_of_the_exact_solver(seed, vartype):
    model = random_model(seed, vartype)
    every = dimod.ExactSolver().sample(model)
    energies = np.sort(every.record.energy)
    best = DsprogSampler().sample(model)
    assert best.vartype is model.vartype
    assert best.first.energy == pytest.approx(energies[0])
    assert best.info["certified"]
    assert best.info["gap"] <= 1e-9
    several = DsprogSampler().sample(model, num_reads=5)
    assert np.allclose(np.sort(several.record.energy), energies[:5])
    assert several.info["certified"]


@pytest.mark.parametrize("seed", range(4))
def test_models_there_and_back(seed):
    model = random_model(seed, "BINARY")
    energy = qubo(model)
    assert energy.element_labels == tuple(model.variables)
    back = to_dimod(energy + ds.Modular(np.zeros(7)))
    for sample in dimod.ExactSolver().sample(model).samples(n=20):
        assert back.energy(sample) == pytest.approx(model.energy(sample))
        assert energy([k for k, v in enumerate(model.variables) if sample[v]]) == pytest.approx(model.energy(sample))
    with pytest.raises(ValueError, match="must be quadratic"):
        to_dimod(ds.CardinalityConcave(3))


def test_dictionaries():
    h, J = {"a": 1.0, "b": -0.5}, {("a", "b"): 2.0, ("c", "a"): -1.0, ("a", "c"): 0.25}
    model = dimod.BinaryQuadraticModel.from_ising(h, J)
    energy = ising(h, J)
    assert energy.element_labels == ("a", "b", "c")
    for sample in dimod.ExactSolver().sample(model).samples():
        down = [k for k, v in enumerate(energy.element_labels) if sample[v] == -1]
        assert energy(down) == pytest.approx(model.energy(sample))
    Q = {(0, 0): -1.0, (0, 1): 2.0, (2, 1): -3.0, (1, 1): 0.5}
    assert qubo(Q).element_labels is None
    assert qubo(Q)([0, 1, 2]) == pytest.approx(-1.5)
    for bad in ({"a": 1.0}, {("a", "b", "c"): 1.0}):
        with pytest.raises(ValueError, match="keys must be pairs"):
            qubo(bad)
    with pytest.raises(ValueError, match="different variables"):
        ising({}, {("a", "a"): 1.0})
    with pytest.raises(ValueError, match="the coefficient of"):
        qubo({("a", "b"): np.nan})
