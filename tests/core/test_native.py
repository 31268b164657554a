"""Functions and constraints on disk, and what is wrong with files that are none."""

import pickle

import numpy as np
import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog.cli import main
from dsprog.core.native import load_problem
from dsprog.generators import FAMILIES
from tests.helpers.families import NAMES, build

CALLABLE = {"callable-phi", "phi-and-slope", "callable", "callable-vectorized"}


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", NAMES)
def test_families_come_back(name, suffix, tmp_path):
    f, path = build(name, 5), tmp_path / f"f.{suffix}"
    if name in CALLABLE:
        with pytest.raises(TypeError, match="cannot be saved"):
            f.save(path)
        return
    masks = ds.testing.random_masks(np.random.default_rng(0), 20, 5)
    for function in (
        f,
        f.complement(),
        f.relabel([4, 2, 0, 1, 3]),
        f.restrict([1]),
        2 * f + ds.Modular(np.ones(5)),
        f - 1.0,
    ):
        function.save(path)
        again = ds.load(path)
        assert again.knows == function.knows
        sets = masks[:, : function.n]
        np.testing.assert_array_equal(again.values(sets), function.values(sets))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(function)).values(sets), function.values(sets))


def test_objective_with_constraints(tmp_path):
    objective = FAMILIES["concave"](6, 0)
    constraints = [
        ds.Cardinality(1, 4),
        ds.Knapsack(np.arange(6.0), 9.0),
        ds.Include([2]),
        ds.Exclude([0]),
        ds.Partition([0, 0, 0, 1, 1, 1], [2, 2]),
        ds.LinearConstraint(np.ones((1, 6)), hi=3),
    ]
    objective.save(tmp_path / "p.json", constraints)
    again, kept = load_problem(tmp_path / "p.json")
    assert isinstance(again, ds.Difference)
    assert kept == constraints
    assert ds.minimize(again, constraints=kept).value == ds.minimize(objective, constraints=constraints).value


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "cannot be read as JSON or npz"),
        ("{}", "is not a dsprog instance of version 1: its header says None"),
        ('{"dsprog": 9}', "its header says 9"),
        ('{"dsprog": 1}', "is not a valid instance"),
        ('{"dsprog": 1, "objective": {"family": "os"}}', "unknown family 'os'"),
        ('{"dsprog": 1, "objective": 3}', "its objective is not a set function"),
        ('{"dsprog": 1, "objective": {"family": "Modular"}}', "is not a valid instance"),
        (
            '{"dsprog": 1, "objective": {"family": "Modular", "weights": [1]}, "constraints": [{"constraint": "x"}]}',
            "unknown constraint 'x'",
        ),
    ],
)
def test_bad_files(content, sentence, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(ValueError) as caught:
        ds.load(path)
    assert sentence in str(caught.value)
    outcome = CliRunner().invoke(main, ["solve", str(path)])
    assert outcome.exit_code == 1
    assert "Traceback" not in outcome.output
