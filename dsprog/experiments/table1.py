"""Table 1 of the paper: prediction errors and CPU seconds of five methods, for k = 5, 10, 20, 40 relevant features.

For every method and data set the weight is the one of least error on validation rows; errors are those of test rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dsprog.experiments.page import heading, page, paragraph, picture, table
from dsprog.experiments.progress import run_missing
from dsprog.experiments.rows import COLOURS, Row, Rows, plotting
from dsprog.experiments.selection import (
    LABELS,
    MARKERS,
    METHODS,
    Setting,
    certified,
    gap_text,
    measured,
    single_thread,
    warm_up,
)

KEY = ("k", "seed", "lam", "method")
LAMS = (0.1, 0.05, 0.03, 0.02, 0.01)
ALPHAS = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)  # of the lasso
PAPER = {
    5: {"prism": "1.8e-4 (192.6)", "ssp": "1.9e-4 (0.93)", "greedy": "1.8e-4 (0.45)", "lasso": "1.9e-4 (0.78)"},
    10: {"prism": "2.0e-4 (262.7)", "ssp": "2.4e-4 (0.81)", "greedy": "2.3e-4 (0.56)", "lasso": "2.4e-4 (0.84)"},
    20: {"prism": "7.3e-4 (339.2)", "ssp": "7.8e-4 (1.43)", "greedy": "8.3e-4 (0.59)", "lasso": "7.7e-4 (0.91)"},
    40: {"prism": "1.7e-3 (467.6)", "ssp": "2.1e-3 (1.17)", "greedy": "2.9e-3 (0.63)", "lasso": "1.9e-3 (0.87)"},
}


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 60.0,
    datasets: int = 10,
    methods: tuple[str, ...] = METHODS,
    say: Callable[[str], object] = print,
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of rows, figure and page."""
    setting = Setting(16, 30, min(time_limit, 3.0)) if quick else Setting(time_limit=time_limit)
    sizes, seeds, lams = ((2, 4), range(2), (0.1, 0.03)) if quick else (tuple(PAPER), range(datasets), LAMS)
    cells = [
        dict(zip(KEY, (k, seed, lam, method)))
        for seed, k, method in itertools.product(seeds, sizes, methods)
        for lam in (ALPHAS if method == "lasso" else lams)
    ]
    rows = Rows(out / "table1.csv", KEY)
    with single_thread():
        warm_up(methods)
        run_missing(rows, cells, lambda cell: measured(setting, cell), say)
    figure = draw(rows.rows, out / "table1.png")
    document = out / "table1.html"
    document.write_text(report(rows.rows, figure, setting))
    return rows.path, figure, document


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


def methods_in(rows: list[Row]) -> list[str]:
    """The methods there are rows of, in the usual order."""
    return [method for method in METHODS if any(row["method"] == method for row in rows)]


def draw(rows: list[Row], path: Path) -> Path:
    """Test error and CPU seconds of each method against k."""
    plt = plotting()
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    for axis, column, title in zip(axes, ("test_error", "cpu_seconds"), ("test error, ‖y - ŷ‖² / ‖y‖²", "CPU seconds")):
        for colour, method in zip(COLOURS, methods_in(rows)):
            means = [np.mean([row[column] for row in chosen(rows, k, method)]) for k in sizes_in(rows)]
            axis.plot(range(len(means)), means, f"{MARKERS[method]}-", color=colour, label=LABELS[method], markersize=4)
        axis.set(xlabel="relevant features", title=title)
        axis.set_xticks(range(len(sizes_in(rows))), [str(k) for k in sizes_in(rows)])
    axes[1].set_yscale("log")
    axes[0].legend()
    figure.savefig(path)
    plt.close(figure)
    return path


def cell_text(rows: list[Row], k: int, method: str) -> str:
    """Mean test error, with mean CPU seconds of one fit in parentheses, as the paper prints them."""
    cells = chosen(rows, k, method)
    if not cells:
        return ""
    error, seconds = (float(np.mean([row[column] for row in cells])) for column in ("test_error", "cpu_seconds"))
    return f"{error:.3f} ({seconds:.2g})"


def report(rows: list[Row], figure: Path, setting: Setting) -> str:
    """The page: our table, the paper's, what is certified."""
    methods, sizes = methods_in(rows), sizes_in(rows)
    ours = [[k, *(cell_text(rows, k, m) for m in methods)] for k in sizes]
    theirs = [[k, *cells.values()] for k, cells in PAPER.items()]
    exact = [[row for row in rows if row["method"] == "exact" and row["k"] == k] for k in sizes]
    proved = [[k, len(cells), certified(cells), gap_text(cells)] for k, cells in zip(sizes, exact) if cells]
    columns = ["k", *(LABELS[m] for m in methods)]
    datasets = len({row["seed"] for row in rows})
    parts = [
        paragraph(
            f"Test error and, in parentheses, CPU seconds of a fit; {setting.p} features, {setting.n} rows, {datasets}"
            " data sets, the weight of the penalty chosen on validation rows. Errors are in units of ‖y‖² of the test "
            "rows; about half of that is noise that no method can predict."
        ),
        table(columns, ours),
        picture(figure, "test error and CPU seconds against the number of relevant features"),
        heading("The paper's table"),
        table(("k", "exact (PRISM)", "SSP", "greedy", "lasso"), theirs),
        paragraph(
            "The paper calls its exact method PRISM and does not say how errors are normalised: its figures compare "
            "with each other, not with ours. Its times are for a 2.8 GHz workstation with Matlab and CPLEX 12.1."
        ),
        heading("What is certified"),
        table(("k", "problems", "proved optimal", "median gap"), proved),
        paragraph(
            f"The exact method stops after {setting.time_limit:g} CPU s a problem, PRISM "
            "after a sixth of that at most. The other methods prove nothing."
        ),
    ]
    return page("Table 1: prediction errors of five methods", parts)
