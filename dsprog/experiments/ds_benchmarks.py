"""The published benchmarks with a certified optimum, and how far from it the heuristics of the field stop."""

from __future__ import annotations

import itertools
import math
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from dsprog.core.algebra import Difference
from dsprog.experiments.figures import COLOURS, labelled_panels, saved
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.published_instances import OPTIMA, load_published, small_likeness
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.experiments.solvers import SOLVERS
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

CERTIFIED = "certified"
TITLES = {  # of solvers in the table of all
    CERTIFIED: "exact",
    "SSP": "ssp",
    "ModMod": "modmod",
    "DCA": "dca",
    "greedy": "forward",
    "double greedy": "double",
}
KEY = ("instance", "solver")
NEAREST = 1e-6  # distances below this are drawn here, as found


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 60.0,
    say: Say = print,
    data: Path | None = None,
    n_jobs: int | None = None,
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of the rows and of the figure."""
    rows = SavedRows(out / "ds_benchmarks.csv", KEY)
    names = tuple(OPTIMA)[1:4:2] if quick else tuple(OPTIMA)
    cells = [dict(zip(KEY, cell)) for cell in itertools.product(names, TITLES)]

    @lru_cache(maxsize=1)
    def objective(name: str) -> Difference:
        return small_likeness(name) if quick else load_published(name, data)

    def measure(cell: Row) -> Row:
        return measured(objective(cell["instance"]), SOLVERS[TITLES[cell["solver"]]](), time_limit)

    run_missing(rows, cells, measure, say, n_jobs=n_jobs)
    return rows.path, draw(rows.rows, out / "ds_benchmarks.png")


def measured(objective: Difference, solver: Solver | None, time_limit: float) -> Row:
    """One run, after one that compiles what it needs; seconds of processor time, since cores are often shared."""
    minimize(objective, solver, node_limit=1, time_limit=1.0, seed=0)
    started = time.process_time()
    result = minimize(objective, solver, time_limit=time_limit, seed=0)
    return {
        "n": objective.n,
        "value": result.value,
        "lower_bound": result.lower_bound,
        "size": len(result.S),
        "cpu_seconds": round(time.process_time() - started, 3),
        "status": result.status,
        "certified": int(result.certified),
        "method": result.solver,
        "peak_gb": round(peak_memory(), 3),
    }


def peak_memory() -> float:
    """The largest resident set that this process has had so far, in GB; not a number where nobody counts it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def draw(rows: list[Row], path: Path) -> Path:
    """A panel an instance, a line a solver: how far above the optimum it stopped, and what it cost."""
    instances = list(dict.fromkeys(row["instance"] for row in rows))
    figure, axes = labelled_panels(len(instances), 2.3 * len(instances) + 1.2, 2.6, list(TITLES))
    for axis, instance in zip(axes, instances):
        panel(axis, [row for row in rows if row["instance"] == instance])
    figure.supxlabel(
        "value above the certified optimum (left edge: optimum found); processor seconds beside", fontsize=9
    )
    return saved(figure, path)


def panel(axis: Any, rows: list[Row]) -> None:
    """Distances on a logarithmic scale, the certified optimum as a diamond."""
    optimum = next(row["value"] for row in rows if row["solver"] == CERTIFIED)
    for place, name in enumerate(TITLES):
        for row in (row for row in rows if row["solver"] == name):
            proved = bool(row["certified"])
            distance = max(NEAREST, row["value"] - optimum)
            look: dict[str, Any] = {"marker": "D" if proved else "o", "color": COLOURS[0 if proved else 1]}
            axis.plot(distance, place, markersize=5, linestyle="", clip_on=False, **look)
            beside = {"xytext": (8, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
            axis.annotate(f"{row['cpu_seconds']:.2g} s", (distance, place), **beside)
    axis.set_xscale("log")
    axis.set_xlim(NEAREST, 10.0)
    axis.set_title(f"{rows[0]['instance']}\nn = {rows[0]['n']}, optimum {optimum:.6g}")
