"""Low-autocorrelation windows, the instances autocorr_bern n-R of MINLPLib, proved by bucket elimination.

The formula is that of :func:`dsprog.generators.autocorrelation`. Those with R <= 26 fit into tables of 2^25 numbers.
"""

from __future__ import annotations

import time
from pathlib import Path

from dsprog.experiments.page import Html, paragraph, table, write_page
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.generators import autocorrelation
from dsprog.solve.minimize import minimize

SIZES = (
    (20, 3), (20, 5), (20, 10), (20, 15), (25, 3), (25, 6), (25, 13), (25, 19), (25, 25), (30, 4), (30, 8), (30, 15),
    (30, 23), (35, 4), (35, 9), (35, 18), (35, 26), (40, 5), (40, 10), (40, 20), (45, 5), (45, 11), (45, 23), (50, 6),
    (50, 13), (50, 25), (55, 6), (55, 14), (60, 8), (60, 15),
)  # fmt: skip
# bounds that minlplib.org lists and several solvers agree on, for instances that were solved elsewhere
LISTED = {(20, 5): -416, (25, 3): -92, (25, 6): -960, (30, 4): -324, (40, 5): -936, (45, 5): -1068}
KEY = ("n", "R")
TITLE = "Low-autocorrelation windows"


def reproduce(out: Path, quick: bool = False, time_limit: float = 300.0, say: Say = print) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, write a page. Returns the paths of both."""
    rows = SavedRows(out / "autocorrelations.csv", KEY)
    cells = [dict(zip(KEY, size)) for size in SIZES if not quick or size[1] <= 6]

    def measure(cell: Row) -> Row:
        row = measured(cell["n"], cell["R"], time_limit)
        listed = f", listed {row['listed']}" if row["listed"] != "" else ""
        say(f"n = {cell['n']}, R = {cell['R']}: {row['value']:g}, {row['status']}{listed}")
        return row

    run_missing(rows, cells, measure, say, lambda: measured(8, 4, time_limit))
    return rows.path, write_page(out / "autocorrelations.html", TITLE, page_parts(rows.rows))


def measured(n: int, R: int, time_limit: float) -> Row:
    """The minimum, with the energy that it stands for, and CPU seconds."""
    objective = autocorrelation(n, R)
    started = time.process_time()
    result = minimize(objective, time_limit=time_limit)
    return {
        "value": result.value,
        "lower_bound": result.lower_bound,
        "energy": result.value + (n - R + 1) * (R - 1) * R * (2 * R - 1) // 6,
        "status": result.status,
        "seconds": round(time.process_time() - started, 3),
        "listed": LISTED.get((n, R), ""),
        "S": " ".join(map(str, result.S)),
    }


def page_parts(rows: list[Row]) -> list[Html]:
    """What the page says."""
    heads = ["n", "R", "value", "bound", "E", "status", "CPU seconds", "listed"]
    names = ("n", "R", "value", "lower_bound", "energy", "status", "seconds", "listed")
    return [
        paragraph(
            "Minimum of E(s) - E(1), E(s) = Σ_i Σ_d (Σ_j s_j s_{j+d})² over all windows of length R: the polynomial of "
            "0/1 variables without its constant. Listed: bounds of instances solved elsewhere, from minlplib.org."
        ),
        table(heads, [[row[name] for name in names] for row in rows]),
    ]
