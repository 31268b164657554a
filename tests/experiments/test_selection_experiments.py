"""The small versions of the experiments on feature selection run, can be continued, and hold what they claim."""

import pytest
from click.testing import CliRunner

from dsprog.cli import main
from dsprog.experiments import figure2, selection, table1
from dsprog.experiments.saved_rows import SavedRows

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")


@pytest.fixture
def processor(clock, monkeypatch):
    """Processor time that passes as the clock does, so that PRISM stops and the exact method ends on any machine."""
    monkeypatch.setattr("dsprog.experiments.selection.time", clock)
    clock.tick = 0.001


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("name", ["figure2", "table1"])
def test_quick_versions(name, tmp_path):
    command = ["reproduce", name, "--quick", "--out", str(tmp_path), "--time-limit", "3"]
    first = CliRunner().invoke(main, command)
    assert first.exit_code == 0, first.output
    assert "left" in first.output
    for kind in ("csv", "png", "html"):
        assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000
    assert "data:image/png;base64," in (tmp_path / f"{name}.html").read_text()
    again = CliRunner().invoke(main, command)
    assert "rows are there already" in again.output
    assert "left" not in again.output


@pytest.mark.usefixtures("processor")
def test_exact_is_never_worse_in_objective(tmp_path):
    figure2.reproduce(tmp_path, quick=True, time_limit=3.0, say=lambda line: None)
    rows = SavedRows(tmp_path / "figure2.csv", selection.KEY).rows
    for row in rows:
        assert row["value"] >= figure2.exact_value(rows, row) - 1e-9
        assert (row["certified"] == "True") == (row["method"] == "exact")


def test_the_weight_is_chosen_on_validation_rows():
    rows = [
        {"k": 5, "seed": 0, "method": "exact", "lam": lam, "validation_error": error, "test_error": 1 - error}
        for lam, error in ((0.1, 0.6), (0.05, 0.4))
    ]
    assert [row["lam"] for row in table1.chosen(rows, 5, "exact")] == [0.05]


def test_an_unknown_method_is_refused(tmp_path):
    result = CliRunner().invoke(main, ["reproduce", "figure2", "--methods", "exact,magic", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "methods must be among exact, prism, ssp, greedy, lasso, got 'magic'" in result.output
