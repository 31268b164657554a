"""Experiments: rows are saved as they come and found again, then drawn."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from dsprog.cli import main
from dsprog.experiments.energies import parts
from dsprog.experiments.energy_profile import draw_profile
from dsprog.experiments.figures import plotting
from dsprog.experiments.saved_rows import SavedRows


def reproduce(name, out, time_limit):
    """Run the small version of an experiment; its rows, and what it printed."""
    run = CliRunner().invoke(main, ["reproduce", name, "--quick", "--time-limit", time_limit, "--out", str(out)])
    assert run.exit_code == 0, run.output
    stem = name.replace("-", "_")
    assert (out / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    return SavedRows(out / f"{stem}.csv", []).rows, run.output


def test_reproduce_bounds_saves_rows_draws_and_goes_on(tmp_path, clock):
    clock.tick = 0.01
    rows, _ = reproduce("bounds", tmp_path, "0.3")
    assert len(rows) == 16
    for row in rows:
        assert row["lower_bound"] <= row["value"]
        assert row["programmes"] >= row["iterations"]
        assert row["status"] in ("optimal", "gap", "time_limit")
    kept = (tmp_path / "bounds.csv").read_text().splitlines()[:10]  # as if it had been stopped after nine rows
    (tmp_path / "bounds.csv").write_text("\n".join(kept) + "\n")
    _, again = reproduce("bounds", tmp_path, "0.3")
    assert again.startswith("9 of 16 rows are there already")
    assert again.count("left") == 16 - 9
    assert (tmp_path / "bounds.csv").read_text().splitlines()[:10] == kept


def test_reproduce_autocorrelations_agrees_with_what_is_listed(tmp_path):
    run = CliRunner().invoke(main, ["reproduce", "autocorrelations", "--quick", "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    rows = SavedRows(tmp_path / "autocorrelations.csv", []).rows
    listed = [row for row in rows if row["listed"] != ""]
    assert len(listed) == 6
    assert all(row["value"] == row["listed"] == row["lower_bound"] for row in listed)
    assert "n = 25, R = 3: -92, optimal, listed -92" in run.output


def test_reproduce_table2_saves_rows_a_summary_a_figure_and_a_page(tmp_path, clock):
    clock.tick = 0.001
    pytest.importorskip("sklearn")
    rows, _ = reproduce("table2", tmp_path, "0.1")
    assert len(rows) == 18
    for row in rows:
        assert 0.5 < row["accuracy"] <= 1.0
        assert row["certified"] <= row["cuts"]
        if row["method"] in ("exact", "generative", "generative_cmi"):
            assert row["certified"] == row["cuts"] > 0
    summary = SavedRows(tmp_path / "table2_summary.csv", []).rows
    assert {(row["data"], row["method"]): row["paper"] for row in summary}["chess", "exact"] == 96.6
    page = (tmp_path / "table2.html").read_text()
    assert "data:image/png;base64," in page
    assert "http" not in page
    _, again = reproduce("table2", tmp_path, "0.1")  # everything is there: only drawn again
    assert len(again.splitlines()) == 1 + 4


def test_reproduce_ds_benchmarks(tmp_path, monkeypatch):
    rows, _ = reproduce("ds-benchmarks", tmp_path, "1e6")
    assert all(row["peak_gb"] > 0 for row in rows)
    assert len(rows) == 12
    optima = {row["instance"]: row["value"] for row in rows if row["solver"] == "certified"}
    assert all(row["certified"] == (row["solver"] == "certified") for row in rows)
    assert all(row["value"] >= optima[row["instance"]] - 1e-9 for row in rows)
    monkeypatch.setenv("DSPROG_DATA", str(tmp_path))
    missing = CliRunner().invoke(main, ["reproduce", "ds-benchmarks", "--out", str(tmp_path / "other")])
    assert missing.exit_code == 1
    assert "set DSPROG_DATA" in missing.output


def test_drawing_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install dsprog\[plot\]"):
        plotting()


def test_experiments_import_what_they_draw_and_learn_with_only_when_they_run():
    code = """
import importlib, pkgutil, sys
import dsprog.cli, dsprog.experiments
for module in pkgutil.iter_modules(dsprog.experiments.__path__):
    importlib.import_module(f"dsprog.experiments.{module.name}")
assert not {"sklearn", "matplotlib", "jinja2"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_of_energies_compares_where_all_have_run(tmp_path):
    facts = {"n": 3, "published": -2.0, "value": -2.0, "bound": -2.0}
    rows = [
        {"instance": "a", "solver": "dsprog", "proved": 1, "seconds": 0.01, **facts},
        {"instance": "a", "solver": "other", "proved": 0, "seconds": 4.0, **facts},
        {"instance": "b", "solver": "dsprog", "proved": 1, "seconds": 1.0, **facts},
    ]
    profile = draw_profile(rows, tmp_path / "energies.png")
    assert profile.read_bytes().startswith(b"\x89PNG")
    page = "".join(parts(rows, profile))
    assert "<td>proved of these</td><td>1 of 1</td><td>0 of 1</td>" in page
    assert "<td>proved of all that were run</td><td>2 of 2</td><td>0 of 1</td>" in page
    assert "<td>geometric mean where all have run, the whole run where open</td><td>0.01</td><td>4</td>" in page
    assert "<td>b</td><td>3</td><td>-2</td><td>1</td><td></td>" in page
