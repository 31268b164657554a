"""What a user sees of a result: the maximum, masks, tables, HTML, curves, logs."""

import json
import logging
import math
import sys
import types

import numpy as np
import pytest
import rich

import dsprog as ds
from dsprog.generators import concave_difference
from dsprog.run.log import Bar, Lines, Several, log_for
from tests.helpers.families import NAMES, build


@pytest.mark.parametrize("seed", range(5))
def test_maximum_is_minus_the_minimum_of_the_negative(seed):
    objective = concave_difference(9, seed=seed)
    constraints = [ds.Cardinality(exactly=4)]
    largest = ds.maximize(objective, constraints=constraints)
    masks = np.array([[j >> k & 1 for k in range(9)] for j in range(512)], dtype=bool)
    masks = masks[masks.sum(axis=1) == 4]
    assert largest.value == pytest.approx(objective.values(masks).max())
    assert largest.certified
    assert largest.lower_bound == largest.value <= largest.upper_bound <= largest.value + 1e-9
    assert largest.gap <= 1e-9
    assert largest.maximised
    assert "upper bound" in str(largest)
    assert "larger" in largest.message
    problem = ds.Problem(objective, tuple(constraints))
    assert ds.maximize(problem).value == pytest.approx(largest.value)


def test_a_maximum_up_to_tolerances_speaks_of_larger_values():
    rewards = ds.FacilityLocation(np.random.default_rng(0).random((30, 40)))
    found = ds.maximize(rewards, constraints=[ds.Cardinality(exactly=5)])
    assert found.certified
    assert "larger" in found.message
    assert "smaller" not in found.message
    loose = ds.maximize(rewards, constraints=[ds.Cardinality(exactly=5)], gap=0.2)
    assert "upper_bound leaves: ask for a smaller one" in loose.message


def test_a_maximum_without_a_proof():
    found = ds.maximize(concave_difference(12, seed=0), ds.LocalSearch())
    assert found.upper_bound == math.inf
    assert not found.certified
    assert found.gap == math.inf
    with pytest.raises(TypeError, match="objective must be a SetFunction"):
        ds.maximize(lambda S: len(S))


def test_mask_and_x():
    result = ds.minimize(ds.Modular([1.0, -1.0, -2.0]))
    assert result.mask.tolist() == [False, True, True]
    assert result.x.tolist() == [0, 1, 1]
    assert result.upper_bound == result.value
    assert json.loads(json.dumps(result.to_dict()))["labels"] == [1, 2]


def test_cardinality_exactly():
    assert ds.Cardinality(exactly=3) == ds.Cardinality(3, 3)
    assert ds.Cardinality(3, 3).exactly == 3
    assert ds.Cardinality(max=3).exactly is None
    with pytest.raises(ValueError, match="exactly must stand alone"):
        ds.Cardinality(max=5, exactly=3)
    with pytest.raises(TypeError, match="exactly must be a whole number"):
        ds.Cardinality(exactly=2.5)


def test_best_sets_print_as_a_table():
    best = ds.enumerate_best(ds.Modular([1.0, -2.0, 0.5]), k=3)
    lines = str(best).splitlines()
    assert lines[0].split() == ["rank", "value", "set"]
    assert lines[1].split() == ["1", "-2", "{1}"]
    assert best.lower_bound == -2.0
    assert best.gap == 0.0
    assert "Lower bound of all: -2 (gap 0)" in lines[-1]
    assert "<table" in best._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_functions_and_results_have_html(name):
    f = build(name, 4)
    assert type(f).__name__ in f._repr_html_()
    named = (f - 0.0).labelled(["<b>", "x", "y", "z"])
    assert "&lt;b&gt;" in named._repr_html_()
    assert "<b>" not in ds.minimize(named, ds.BruteForce())._repr_html_()


def test_curves(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for result in (ds.minimize(concave_difference(14, seed=1)), ds.maximize(concave_difference(14, seed=1))):
        axis = result.plot()
        assert axis.get_xlabel() == "seconds"
        lines = {line.get_label(): line.get_ydata()[-1] for line in axis.get_lines() if line.get_label()[0] != "_"}
        assert lines["best value"] == pytest.approx(result.value)
        assert result.plot(axis) is axis
        axis.figure.savefig(tmp_path / "run.png")
        matplotlib.pyplot.close(axis.figure)


def test_bar_and_lines(capsys):
    ds.minimize(concave_difference(12, seed=0), verbose=2)
    shown = capsys.readouterr().err
    assert "presolve" in shown
    assert "gap 0 %" in shown
    assert isinstance(log_for(1), Lines)
    assert isinstance(log_for(2), Bar)
    assert log_for(0) is None


def test_logger(caplog):
    with caplog.at_level(logging.INFO, logger="dsprog"):
        result = ds.minimize(concave_difference(12, seed=0))
        assert isinstance(log_for(1), Several)
    assert any("presolve" in message for message in caplog.messages)
    assert any(f"value {result.value:.9g}" in message for message in caplog.messages)
    caplog.clear()
    ds.minimize(concave_difference(12, seed=0))
    assert not caplog.messages


def test_a_bar_in_a_notebook(monkeypatch):
    """One piece of HTML that is updated; IPython is not needed for the tests, so it is played."""
    shown = []
    display = types.SimpleNamespace(update=shown.append)
    played = types.SimpleNamespace(HTML=str, display=lambda html, display_id: display)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=played))
    monkeypatch.setitem(sys.modules, "IPython.display", played)
    monkeypatch.setattr(rich, "get_console", lambda: types.SimpleNamespace(is_jupyter=True))
    result = ds.minimize(concave_difference(12, seed=0), verbose=2)
    assert "minimise f - g: 12 elements" in shown[-1]
    assert f"value {result.value:.9g}" in shown[-1]
    assert '<progress value="1.000"' in shown[-1]
