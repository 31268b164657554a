"""Experiments: rows are saved as they come and found again, then drawn."""

import sys

import pytest
from click.testing import CliRunner

from dsprog.cli import main
from dsprog.experiments.rows import Rows, plotting


def test_reproduce_bounds_saves_rows_draws_and_goes_on(tmp_path):
    arguments = ["reproduce", "bounds", "--quick", "--time-limit", "0.3", "--out", str(tmp_path)]
    first = CliRunner().invoke(main, arguments)
    assert first.exit_code == 0, first.output
    rows = Rows(tmp_path / "bounds.csv", ["family"]).rows
    assert len(rows) == 16
    for row in rows:
        assert row["lower_bound"] <= row["value"]
        assert row["programmes"] >= row["iterations"]
        assert row["status"] in ("optimal", "gap", "time_limit")
    assert (tmp_path / "bounds.png").read_bytes().startswith(b"\x89PNG")
    kept = (tmp_path / "bounds.csv").read_text().splitlines()[:10]  # as if it had been stopped after nine rows
    (tmp_path / "bounds.csv").write_text("\n".join(kept) + "\n")
    second = CliRunner().invoke(main, arguments)
    assert len(second.output.splitlines()) == 16 - 9 + 2
    assert (tmp_path / "bounds.csv").read_text().splitlines()[:10] == kept


def test_reproduce_ds_benchmarks(tmp_path, monkeypatch):
    arguments = ["reproduce", "ds-benchmarks", "--quick", "--time-limit", "5", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    rows = Rows(tmp_path / "ds_benchmarks.csv", ["instance"]).rows
    assert len(rows) == 12
    optima = {row["instance"]: row["value"] for row in rows if row["solver"] == "certified"}
    assert all(row["certified"] == (row["solver"] == "certified") for row in rows)
    assert all(row["value"] >= optima[row["instance"]] - 1e-9 for row in rows)
    assert (tmp_path / "ds_benchmarks.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setenv("DSPROG_DATA", str(tmp_path))
    missing = CliRunner().invoke(main, ["reproduce", "ds-benchmarks", "--out", str(tmp_path / "other")])
    assert missing.exit_code == 1
    assert "set DSPROG_DATA" in missing.output


def test_drawing_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install dsprog\[plot\]"):
        plotting()
