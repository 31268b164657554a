"""Published instances with known optima; skipped where the data are not at hand."""

import pytest

import dsprog as ds
from dsprog.experiments.published_instances import OPTIMA
from dsprog.experiments.published_instances import load_published as build
from tests.helpers.packages import needs_data

pytestmark = needs_data("ds")


@pytest.mark.parametrize("name", ["speech_first100", "speech_first200", "speech_seed42"])
@pytest.mark.parametrize("solver", [ds.LocalSearch(), ds.ModMod(), ds.SSP()], ids=lambda s: type(s).__name__)
def test_speech_is_nearly_solved(name, solver):
    value = ds.minimize(build(name), solver, seed=0).value
    assert OPTIMA[name] - 6e-5 <= value <= OPTIMA[name] * (1 - 5e-4)


def test_dca_solves_speech():
    assert ds.minimize(build("speech_seed42"), ds.DCA(), seed=0).value == pytest.approx(-49.296182, abs=6e-5)


@pytest.mark.parametrize("name", ["speech_first100", "speech_first200", "speech_seed42"])
def test_speech_is_certified_by_the_default(name):
    result = ds.minimize(build(name))
    assert result.certified
    assert result.solver == "Race"
    assert "race won by" in result.proof
    assert result.value == pytest.approx(OPTIMA[name], abs=5e-5)
    assert result.lower_bound == pytest.approx(OPTIMA[name], abs=5e-5)


@pytest.mark.slow
def test_mushroom_is_certified_by_the_default():
    result = ds.minimize(build("mushroom_train_1"))
    assert result.certified
    assert len(result.S) == 5
    assert result.value == pytest.approx(OPTIMA["mushroom_train_1"], abs=1e-9)
    assert result.lower_bound == pytest.approx(OPTIMA["mushroom_train_1"], abs=1e-6)


def test_mushroom():
    objective, name = build("mushroom_train_1"), "mushroom_train_1"
    assert objective([21, 39, 54, 110, 118]) == pytest.approx(OPTIMA[name], abs=1e-9)
    result = ds.minimize(objective, ds.Greedy("bidirectional", restarts=10), seed=0)
    assert OPTIMA[name] - 1e-9 <= result.value <= OPTIMA[name] + 2e-4
