"""The published benchmarks with a certified optimum, and how far from it the heuristics of the field stop."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dsprog.approximate.dca import DCA
from dsprog.approximate.double_greedy import DoubleGreedy
from dsprog.approximate.greedy import Greedy
from dsprog.approximate.mod_mod import ModMod
from dsprog.approximate.ssp import SSP
from dsprog.core.algebra import Difference
from dsprog.experiments.ds_instances import NAMES, load, small_likeness
from dsprog.experiments.rows import COLOURS, Row, Rows, plotting
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

CERTIFIED = "certified"
SOLVERS: dict[str, Solver | None] = {
    CERTIFIED: None,  # the default of minimize
    "SSP": SSP(),
    "ModMod": ModMod(),
    "DCA": DCA(),
    "greedy": Greedy("forward"),
    "double greedy": DoubleGreedy(),
}
KEY = ("instance", "solver")
NEAREST = 1e-6  # distances below this are drawn here, as found


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 60.0,
    say: Callable[[str], object] = print,
    data: Path | None = None,
) -> tuple[Path, Path]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of the rows and of the figure."""
    rows = Rows(out / "ds_benchmarks.csv", KEY)
    for instance in NAMES[1:4:2] if quick else NAMES:
        missing = [name for name in SOLVERS if not rows.has({"instance": instance, "solver": name})]
        objective = (small_likeness(instance) if quick else from_data(instance, data)) if missing else None
        for name in missing:
            assert objective is not None
            rows.append({"instance": instance, "solver": name, **measured(objective, SOLVERS[name], time_limit)})
            say(" ".join(map(str, rows.rows[-1].values())))
    return rows.path, draw(rows.rows, out / "ds_benchmarks.png")


def from_data(instance: str, data: Path | None) -> Difference:
    """An instance from the folder given, or from ``ds`` in the folder that DSPROG_DATA names."""
    folder = Path(os.environ.get("DSPROG_DATA", ".")) / "ds" if data is None else data
    try:
        return load(instance, folder)
    except FileNotFoundError as error:
        message = f"{error.filename} is not there: name the folder of the data with --data, or set DSPROG_DATA"
        raise ValueError(message) from None


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
    plt = plotting()
    instances = list(dict.fromkeys(row["instance"] for row in rows))
    size = (2.3 * len(instances) + 1.2, 2.6)
    figure, axes = plt.subplots(1, len(instances), figsize=size, sharey=True, squeeze=False)
    for axis, instance in zip(axes[0], instances):
        panel(axis, [row for row in rows if row["instance"] == instance])
    axes[0, 0].set_yticks(range(len(SOLVERS)), list(SOLVERS))
    axes[0, 0].invert_yaxis()
    figure.supxlabel(
        "value above the certified optimum (left edge: optimum found); processor seconds beside", fontsize=9
    )
    figure.savefig(path)
    plt.close(figure)
    return path


def panel(axis: Any, rows: list[Row]) -> None:
    """Distances on a logarithmic scale, the certified optimum as a diamond."""
    optimum = next(row["value"] for row in rows if row["solver"] == CERTIFIED)
    for place, name in enumerate(SOLVERS):
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
