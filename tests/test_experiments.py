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


def test_reproduce_table2_saves_rows_a_summary_a_figure_and_a_page(tmp_path):
    pytest.importorskip("sklearn")
    arguments = ["reproduce", "table2", "--quick", "--time-limit", "0.1", "--out", str(tmp_path)]
    first = CliRunner().invoke(main, arguments)
    assert first.exit_code == 0, first.output
    rows = Rows(tmp_path / "table2.csv", ["data"]).rows
    assert len(rows) == 18
    for row in rows:
        assert 0.5 < row["accuracy"] <= 1.0
        assert row["certified"] <= row["cuts"]
        if row["method"] in ("exact", "generative", "generative_cmi"):
            assert row["certified"] == row["cuts"] > 0
    summary = Rows(tmp_path / "table2_summary.csv", ["data"]).rows
    assert {(row["data"], row["method"]): row["paper"] for row in summary}["chess", "exact"] == 96.6
    assert (tmp_path / "table2.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "table2.html").read_text()
    assert "data:image/png;base64," in page
    assert "http" not in page
    second = CliRunner().invoke(main, arguments)  # everything is there: only drawn again
    assert len(second.output.splitlines()) == 4


def test_reproduce_ds_benchmarks(tmp_path, monkeypatch):
    arguments = ["reproduce", "ds-benchmarks", "--quick", "--time-limit", "5", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    rows = Rows(tmp_path / "ds_benchmarks.csv", ["instance"]).rows
    assert all(row["peak_gb"] > 0 for row in rows)
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
