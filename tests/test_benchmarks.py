"""Benchmarks can be imported, and make a small row; their figures are not tested."""

import importlib
import pkgutil

import numpy as np
import pytest

import benchmarks
from benchmarks.families import BENCHMARK_FAMILIES
from tests.helpers.workers import eager

pytest.importorskip("pandas")


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(benchmarks.__path__)])
def test_imports(name):
    importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("letter", BENCHMARK_FAMILIES)
def test_a_row_of_the_exact_solvers(letter):
    from benchmarks.exact_solvers import run_row, summary

    row = run_row(letter, "BruteForce", 6, 0, time_limit=1e6)
    assert row["gap"] == pytest.approx(0.0, abs=1e-9)
    assert summary([row])[0]["solved"] == "1/1"


def test_a_row_of_the_approximate_solvers(tmp_path, monkeypatch):
    from benchmarks.approximate_solvers import METHODS, gap_rows

    monkeypatch.setattr("benchmarks.harness.RESULTS", tmp_path)
    rows = gap_rows(["coverage"], [6], 1)
    assert [row["solver"] for row in rows] == list(METHODS)


def test_programmes_are_replayed():
    from benchmarks.prismatic_sizes import recorded, replayed

    programmes = recorded(BENCHMARK_FAMILIES["B"].build(5, 0), 3)
    bounds = [replayed(programmes, 5, backend)[1] for backend in ("highs", "scipy")]
    np.testing.assert_allclose(*bounds, atol=1e-4)


def test_virtual_workers_share_a_search(monkeypatch):
    from benchmarks.virtual_workers import run_row
    from benchmarks.workers import build

    with eager(monkeypatch):
        row = run_row("A30.0", build("A30.0"), 4, 1.0)
    assert row["status"] == "optimal"
    assert row["gap"] == pytest.approx(0.0, abs=1e-8)
    assert row["units"] > 1
