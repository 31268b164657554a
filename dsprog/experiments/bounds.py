"""BILP against LP bound, and bisection against subdivision at the optimum, in the prismatic algorithm.

The comparison that the paper leaves to its supplement: iterations, programmes solved, oracle calls and seconds, over
families and n.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.problem import as_problem
from dsprog.core.set_function import count_oracle_calls
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.experiments.rows import COLOURS, Row, Rows, plotting
from dsprog.generators import FAMILIES
from dsprog.run.run import Limits, Monitor

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
    out: Path, quick: bool = False, time_limit: float = 10.0, say: Callable[[str], object] = print
) -> tuple[Path, Path]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of the rows and of the figure."""
    sizes, seeds, families = ((2, 3), (0,), CHOSEN[:2]) if quick else ((3, 4, 5, 6), (0, 1), CHOSEN)
    rows = Rows(out / "bounds.csv", KEY)
    for cell in itertools.product(families, sizes, seeds, BOUNDS, SUBDIVISIONS):
        name = dict(zip(KEY, cell))
        if not rows.has(name):
            rows.append(measured(name, time_limit))
            say(" ".join(map(str, rows.rows[-1].values())))
    return rows.path, draw(rows.rows, out / "bounds.png")


def measured(name: Row, time_limit: float) -> Row:
    """One run; the functions are compiled and warm before the clock starts."""
    objective = FAMILIES[name["family"]](name["n"], name["seed"])
    solver = Prismatic(bound=name["bound"], subdivision=name["subdivision"])
    run(objective, solver, Limits(node_limit=1))
    return {**name, **run(objective, solver, Limits(time_limit=time_limit))}


def run(objective: Any, solver: Prismatic, limits: Limits) -> Row:
    """What one run cost and what it proved."""
    problem = as_problem(objective, ())
    with count_oracle_calls() as tally:
        monitor = Monitor(problem, limits)
        method = solver.method(problem, monitor)
        verdict = method.run(monitor)
    return {
        "status": verdict.status,
        "iterations": monitor.nodes,
        "programmes": method.programmes,
        "oracle_calls": tally.calls,
        "seconds": round(monitor.seconds, 4),
        "cuts": len(method.slopes),
        "value": monitor.value,
        "lower_bound": monitor.lower_bound,
    }


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
    figure.savefig(path)
    plt.close(figure)
    return path


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
