"""`dsprog solve`: solvers by name, options that would be ignored, exit codes, and one sentence for every error."""

import json

import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog import cli
from dsprog.experiments.instances import read_instance
from dsprog.generators import FAMILIES


def solve(*arguments):
    return CliRunner().invoke(cli.main, ["solve", *map(str, arguments), "--quiet"])


@pytest.fixture
def instance(tmp_path):
    path = tmp_path / "instance.json"
    FAMILIES["concave"](12, 0).save(path, [ds.Cardinality(max=5)])
    return path


def test_a_solver_by_name(instance):
    found = json.loads(solve(instance, "--solver", "tabu", "--seed", 3, "--json").output)
    assert (found["solver"], found["certified"]) == ("LocalSearch", False)
    assert json.loads(solve(instance, "--solver", "brute", "--json").output)["solver"] == "BruteForce"
    unknown = solve(instance, "--solver", "magic")
    assert unknown.exit_code == 1
    assert "solvers must be among ssp" in unknown.output


def test_exit_codes(instance, tmp_path):
    assert solve(instance).exit_code == 0
    assert solve(instance, "--solver", "forward").exit_code == 3
    assert solve(instance, "--k-best", 3).exit_code == 0
    assert solve(tmp_path / "nothing.json").exit_code == 1
    assert solve(instance, "--magic").exit_code == 2
    FAMILIES["concave"](26, 1).save(tmp_path / "large.npz")
    assert solve(tmp_path / "large.npz", "--node-limit", 1).exit_code == 3
    ds.Modular([1.0, 2.0]).save(tmp_path / "empty.json", [ds.Include([0]), ds.Exclude([0])])
    assert solve(tmp_path / "empty.json").exit_code == 0, "that nothing is feasible is proved"
    assert "\n    3  stopped without a proof\n" in CliRunner().invoke(cli.main, ["solve", "--help"]).output


def test_the_best_sets_are_saved(instance, tmp_path):
    assert solve(instance, "--k-best", 3, "--save", tmp_path / "best.json").exit_code == 0
    saved = json.loads((tmp_path / "best.json").read_text())
    problem = read_instance(instance)
    best = ds.enumerate_best(problem.objective, 3, constraints=problem.constraints)
    assert saved["values"] == pytest.approx(best.values)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--k-best", 3, "--gap", 0.1], "--k-best takes no --gap"),
        (["--resume"], "--resume needs --checkpoint"),
    ],
)
def test_combinations_that_mean_nothing(instance, options, sentence):
    result = solve(instance, *options)
    assert result.exit_code == 2
    assert sentence in result.output


def test_a_native_file_has_one_problem(instance):
    result = solve(instance, "--problem", 2)
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert "holds one problem" in result.output


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        KeyError("x"),
        IndexError("list index"),
        OverflowError("big"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_is_one_sentence(error, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr("dsprog.experiments.demo.run", fail)
    result = CliRunner().invoke(cli.main, ["demo"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert len(result.output.splitlines()) == 1


def test_a_folder_that_cannot_be_written(instance, tmp_path):
    result = solve(instance, "--save", tmp_path / "no" / "such" / "folder.json")
    assert result.exit_code == 2  # before anything is solved
    assert "--save must be a file in a folder that can be written to" in result.output


def test_what_is_printed_and_saved(tmp_path):
    objective, path = FAMILIES["concave"](14, 0), tmp_path / "instance.npz"
    objective.save(path, [ds.Cardinality(max=6)])
    expected = ds.minimize(objective, constraints=[ds.Cardinality(max=6)])
    run = CliRunner().invoke
    printed = run(cli.main, ["solve", str(path), "--json", "--quiet", "--save", str(tmp_path / "result.json")])
    assert printed.exit_code == 0
    answer = json.loads(printed.output)
    assert answer["S"] == list(expected.S)
    assert answer["value"] == pytest.approx(expected.value)
    assert {"lower_bound", "gap", "status", "certified", "message", "nodes", "seconds", "oracle_calls"} <= set(answer)
    assert json.loads((tmp_path / "result.json").read_text())["certified"] is True
    text = run(cli.main, ["solve", str(path)])
    assert "certified  yes" in text.output
    assert "presolve:" in text.output, "the log is on"
    best = run(cli.main, ["solve", str(path), "--k-best", "3", "--json", "--quiet"])
    assert len(json.loads(best.output)["sets"]) == 3
    assert "no other feasible set" in run(cli.main, ["solve", str(path), "--k-best", "3", "--quiet"]).output


def test_checkpoints(tmp_path):
    path, checkpoint = tmp_path / "instance.npz", str(tmp_path / "run.npz")
    FAMILIES["concave"](26, 1).save(path)
    run = CliRunner().invoke
    first = run(cli.main, ["solve", str(path), "--json", "--quiet", "--node-limit", "100", "--checkpoint", checkpoint])
    assert json.loads(first.output)["status"] == "node_limit"
    assert "--resume" in run(cli.main, ["solve", str(path), "--checkpoint", checkpoint]).output
    second = run(cli.main, ["solve", str(path), "--json", "--quiet", "--checkpoint", checkpoint, "--resume"])
    assert json.loads(second.output)["certified"] is True
    assert "--resume needs --checkpoint" in run(cli.main, ["solve", str(path), "--resume"]).output
