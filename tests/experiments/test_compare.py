"""Solvers side by side: rows, table, files, and sentences for what cannot be."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog.cli import main
from dsprog.experiments.compare import COLUMNS, compare
from dsprog.experiments.instances import load_instance
from dsprog.experiments.solvers import SOLVERS
from dsprog.generators import FAMILIES

REFUSAL = "DCA does not work with this problem: it needs a problem without constraints; use LocalSearch or the default"


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *arguments])


def test_gap_is_to_the_best_bound_known():
    problem = load_instance("logdet:n=10,seed=3")
    optimum = ds.minimize(problem.objective).value
    rows = {row["solver"]: row for row in compare(problem, ["backward", "flip", "brute"], seed=0)}
    assert rows["brute"]["gap"] == 0
    for row in rows.values():
        assert row["gap"] == pytest.approx((row["value"] - optimum) / abs(row["value"]), abs=1e-12)
        assert row["oracle_calls"] > 0
    assert compare(problem, ["flip"], seed=0)[0]["gap"] == float("inf")


def test_every_name_runs():
    pytest.importorskip("pyscipopt")
    rows = compare(load_instance("coverage:n=5"), list(SOLVERS), seed=0)
    assert [row["solver"] for row in rows] == list(SOLVERS)


def test_table_and_files(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("concave:n=8,seed=1", "--solvers", "ssp,forward,brute", "--save", str(tmp_path / "new"))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == list(COLUMNS)
    assert [line.split()[0] for line in lines[1:]] == ["ssp", "forward", "brute"]
    with open(tmp_path / "new" / "compare.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["solver"] for row in rows] == ["ssp", "forward", "brute"]
    assert float(rows[2]["value"]) == pytest.approx(ds.minimize(FAMILIES["concave"](8, 1)).value)
    assert (tmp_path / "new" / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_constraints_of_a_file_are_kept(tmp_path):
    objective, most = FAMILIES["coverage"](9, 2), [ds.Knapsack(np.ones(9), 2.0)]
    objective.save(tmp_path / "instance.json", most)
    result = run(str(tmp_path / "instance.json"), "--solvers", "exact,forward,brute")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()[1:]]
    assert all(int(row[-2]) <= 2 for row in rows), "the column before the status is the size"
    assert float(rows[0][1]) == pytest.approx(ds.minimize(objective, constraints=most).value, rel=1e-8)
    assert float(rows[0][1]) > ds.minimize(objective).value
    every = run(str(tmp_path / "instance.json"))
    assert every.exit_code == 0, every.output
    (line,) = (line for line in every.output.splitlines() if "dca" in line.split())
    assert line.startswith(f"dca is left out: {REFUSAL}")
    assert REFUSAL in run(str(tmp_path / "instance.json"), "--solvers", "dca").output


def test_other_formats(tmp_path):
    (tmp_path / "triangle").write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n")
    for options in ([], ["--format", "rudy"]):
        result = run(str(tmp_path / "triangle"), "--solvers", "exact", *options)
        assert result.output.splitlines()[1].split()[:2] == ["exact", "-2"]
    assert run(str(tmp_path / "triangle"), "--format", "uai").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.npz"], "instance must be a file or a generator such as concave:n=30,seed=0"),
        (["concave:m=3"], "a generator takes n=NUMBER and seed=NUMBER, got 'm=3'"),
        (["concave:n=x"], "a generator takes n=NUMBER and seed=NUMBER, got 'n=x'"),
        (["concave:n=4", "--solvers", "ssp,magic"], "solvers must be among ssp, supsub"),
        (["concave:n=4", "--solvers", ","], "got none"),
        (
            ["concave:n=30", "--solvers", "brute"],
            "BruteForce does not work with this problem: it needs n <= 25 elements",
        ),
    ],
)
def test_refusals(arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 1
    assert sentence in result.output
    assert len(result.output.splitlines()) == 1
