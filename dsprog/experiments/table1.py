"""Table 1 of the paper: prediction errors and CPU seconds of five methods, for k = 5, 10, 20, 40 relevant features.

For every method and data set the weight is the one of least error on validation rows; errors are those of test rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dsprog.experiments import selection
from dsprog.experiments.figures import COLOURS, plotting, saved
from dsprog.experiments.page import Html, heading, paragraph, table
from dsprog.experiments.saved_rows import Row
from dsprog.experiments.selection import SelectionExperiment, SelectionSetting, certified, gap_text

ALPHAS = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)  # of the lasso
PAPER = {
    5: {"prism": "1.8e-4 (192.6)", "ssp": "1.9e-4 (0.93)", "greedy": "1.8e-4 (0.45)", "lasso": "1.9e-4 (0.78)"},
    10: {"prism": "2.0e-4 (262.7)", "ssp": "2.4e-4 (0.81)", "greedy": "2.3e-4 (0.56)", "lasso": "2.4e-4 (0.84)"},
    20: {"prism": "7.3e-4 (339.2)", "ssp": "7.8e-4 (1.43)", "greedy": "8.3e-4 (0.59)", "lasso": "7.7e-4 (0.91)"},
    40: {"prism": "1.7e-3 (467.6)", "ssp": "2.1e-3 (1.17)", "greedy": "2.9e-3 (0.63)", "lasso": "1.9e-3 (0.87)"},
}


def cells(quick: bool, datasets: int, methods: Sequence[str]) -> list[Row]:
    """Every method on every data set, the lasso with weights of its own."""
    sizes, seeds, lams = ((2, 4), range(2), (0.1, 0.03)) if quick else (tuple(PAPER), range(datasets), selection.LAMS)
    return [
        dict(zip(selection.KEY, (k, seed, lam, method)))
        for seed, k, method in itertools.product(seeds, sizes, methods)
        for lam in (ALPHAS if method == "lasso" else lams)
    ]


def chosen(rows: list[Row], k: int, method: str) -> list[Row]:
    """For each data set the row of least validation error."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["k"] == k and row["method"] == method:
            other = best.get(row["seed"])
            if other is None or row["validation_error"] < other["validation_error"]:
                best[row["seed"]] = row
    return list(best.values())


def sizes_in(rows: list[Row]) -> list[int]:
    """The numbers of relevant features there are rows of."""
    return sorted({row["k"] for row in rows})


def draw(rows: list[Row], path: Path) -> Path:
    """Test error and CPU seconds of each method against k."""
    figure, axes = plotting().subplots(1, 2, figsize=(8, 3.2))
    for axis, column, title in zip(axes, ("test_error", "cpu_seconds"), ("test error, ‖y - ŷ‖² / ‖y‖²", "CPU seconds")):
        for colour, method in zip(COLOURS, selection.methods_in(rows)):
            means = [np.mean([row[column] for row in chosen(rows, k, method)]) for k in sizes_in(rows)]
            selection.draw_line(axis, range(len(means)), means, method, colour)
        axis.set(xlabel="relevant features", title=title)
        axis.set_xticks(range(len(sizes_in(rows))), [str(k) for k in sizes_in(rows)])
    axes[1].set_yscale("log")
    axes[0].legend()
    return saved(figure, path)


def cell_text(rows: list[Row], k: int, method: str) -> str:
    """Mean test error, with mean CPU seconds of one fit in parentheses, as the paper prints them."""
    cells = chosen(rows, k, method)
    if not cells:
        return ""
    error, seconds = (float(np.mean([row[column] for row in cells])) for column in ("test_error", "cpu_seconds"))
    return f"{error:.3f} ({seconds:.2g})"


def report(rows: list[Row], figure: Html, setting: SelectionSetting) -> list[Html]:
    """The page: our table, the paper's, what is certified."""
    methods, sizes = selection.methods_in(rows), sizes_in(rows)
    ours = [[k, *(cell_text(rows, k, m) for m in methods)] for k in sizes]
    theirs = [[k, *cells.values()] for k, cells in PAPER.items()]
    exact = [[row for row in rows if row["method"] == "exact" and row["k"] == k] for k in sizes]
    proved = [[k, len(cells), certified(cells), gap_text(cells)] for k, cells in zip(sizes, exact) if cells]
    columns = ["k", *(selection.LABELS[m] for m in methods)]
    datasets = len({row["seed"] for row in rows})
    return [
        paragraph(
            f"Test error and, in parentheses, CPU seconds of a fit; {setting.p} features, {setting.n} rows, {datasets}"
            " data sets, the weight of the penalty chosen on validation rows. Errors are in units of ‖y‖² of the test "
            "rows; about half of that is noise that no method can predict."
        ),
        table(columns, ours),
        figure,
        heading("The paper's table"),
        table(("k", "exact (PRISM)", "SSP", "greedy", "lasso"), theirs),
        paragraph(
            "The paper calls its exact method PRISM and does not say how errors are normalised: its figures compare "
            "with each other, not with ours. Its times are for a 2.8 GHz workstation with Matlab and CPLEX 12.1."
        ),
        heading("What is certified"),
        table(("k", "problems", "proved optimal", "median gap"), proved),
        paragraph(f"{selection.limits_sentence(setting)} The other methods prove nothing."),
    ]


EXPERIMENT = SelectionExperiment(
    "table1", "Table 1: prediction errors of five methods", 10, tuple(selection.LABELS), cells, draw, report
)
reproduce = EXPERIMENT.reproduce
