"""BILP against LP bound, and bisection against subdivision at the optimum, in the prismatic algorithm.

The comparison that the paper leaves to its supplement: iterations, programmes solved, oracle calls and seconds, over
families and n.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.experiments.figures import COLOURS, plotting, saved
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.generators import FAMILIES
from dsprog.solve.minimize import minimize

CHOSEN = ("concave", "coverage", "facility", "logdet", "entropy", "cut")
BOUNDS, SUBDIVISIONS = ("bilp", "lp"), ("bisection", "optimum")
KEY = ("family", "n", "seed", "bound", "subdivision")
MEASURES = {
    "iterations": "iterations",
    "programmes": "programmes",
    "oracle_calls": "oracle calls",
    "seconds": "seconds",
}


def reproduce(
    out: Path, quick: bool = False, time_limit: float = 10.0, say: Say = print, n_jobs: int | None = None
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of the rows and of the figure."""
    sizes, seeds, families = ((2, 3), (0,), CHOSEN[:2]) if quick else ((3, 4, 5, 6), (0, 1), CHOSEN)
    rows = SavedRows(out / "bounds.csv", KEY)
    cells = [dict(zip(KEY, cell)) for cell in itertools.product(families, sizes, seeds, BOUNDS, SUBDIVISIONS)]
    run_missing(rows, cells, lambda cell: measured(cell, time_limit), say, n_jobs=n_jobs)
    return rows.path, draw(rows.rows, out / "bounds.png")


def measured(cell: Row, time_limit: float) -> Row:
    """What a run cost and what it proved; the functions are compiled and warm before the clock starts."""
    objective = FAMILIES[cell["family"]](cell["n"], cell["seed"])
    solver = Prismatic(bound=cell["bound"], subdivision=cell["subdivision"])
    minimize(objective, solver, node_limit=1)
    result = minimize(objective, solver, time_limit=time_limit)
    return {
        "status": result.status,
        "iterations": result.nodes,
        "programmes": programmes_in(result.proof),
        "oracle_calls": result.oracle_calls,
        "seconds": round(result.seconds, 4),
        "cuts": result.trace[-1].cuts,
        "value": result.value,
        "lower_bound": result.lower_bound,
    }


def programmes_in(proof: str) -> int:
    """How many programmes were solved, as a proof by :class:`Prismatic` says.

    >>> programmes_in("every prism was bounded, 1,234 binary programmes in this run")
    1234
    """
    found = re.search(r"([\d,]+) \w+ programmes", proof)
    return int(found[1].replace(",", "")) if found else 0


def draw(rows: list[Row], path: Path) -> Path:
    """One column a family, one line of panels a measure; hollow where a run met its limit."""
    plt = plotting()
    families = list(dict.fromkeys(row["family"] for row in rows))
    size = (1.9 * len(families) + 0.8, 1.65 * len(MEASURES) + 0.7)
    figure, axes = plt.subplots(len(MEASURES), len(families), figsize=size, sharex=True, sharey="row", squeeze=False)
    for (i, measure), (j, family) in itertools.product(enumerate(MEASURES), enumerate(families)):
        panel(axes[i, j], [row for row in rows if row["family"] == family], measure)
    for j, family in enumerate(families):
        axes[0, j].set_title(family)
        axes[-1, j].set_xlabel("n")
    for i, words in enumerate(MEASURES.values()):
        axes[i, 0].set_ylabel(words)
    figure.align_ylabels()
    lines = axes[0, 0].get_legend_handles_labels()[0]
    hollow = plt.Line2D(
        [], [], color="0.3", marker="o", markerfacecolor="white", linestyle="", label="met its time limit"
    )
    figure.legend(handles=[*lines, hollow], loc="outside upper center", ncols=5)
    return saved(figure, path)


def panel(axis: Any, rows: list[Row], measure: str) -> None:
    """The mean over seeds against n, on a logarithmic scale, for each setting."""
    for (b, bound), (s, subdivision) in itertools.product(enumerate(BOUNDS), enumerate(SUBDIVISIONS)):
        these = [row for row in rows if (row["bound"], row["subdivision"]) == (bound, subdivision)]
        sizes = sorted({row["n"] for row in these})
        groups = [[row for row in these if row["n"] == n] for n in sizes]
        means = [np.mean([max(row[measure], 1e-3) for row in group]) for group in groups]
        look: dict[str, Any] = {"color": COLOURS[b], "marker": "os"[s], "markersize": 4}
        label = f"{bound.upper()}, {subdivision}"
        axis.plot(sizes, means, ("-", "--")[s], linewidth=1.2, label=label, **look)
        for n, mean, group in zip(sizes, means, groups):
            if any(row["status"] == "time_limit" for row in group):
                axis.plot(n, mean, markerfacecolor="white", **look)
    axis.set_yscale("log")
    axis.set_xticks(sorted({row["n"] for row in rows}))
