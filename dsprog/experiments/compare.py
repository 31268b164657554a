"""Solvers side by side on one instance: a table, rows as CSV, and a picture of value against time.

>>> from dsprog.experiments.instances import load_instance
>>> [row["solver"] for row in compare(load_instance("coverage:n=8,seed=1"), ["forward", "exact"])]
['forward', 'exact']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.problem import Problem
from dsprog.experiments.figures import plotting, saved
from dsprog.experiments.saved_rows import write_rows
from dsprog.experiments.solvers import SOLVERS
from dsprog.run.result import Result, relative_gap
from dsprog.solve.minimize import minimize

DEFAULT = ("ssp", "supsub", "modmod", "dca", "forward", "backward", "bidirectional", "flip", "swap", "tabu")
COLUMNS = ("solver", "value", "gap", "seconds", "oracle_calls", "size", "status")


def run_all(
    problem: Problem, names: Sequence[str], say: Callable[[str], object] = print, **limits: Any
) -> dict[str, Result]:
    """One result for each named solver that takes the problem; kernels are compiled before anything is timed."""
    objective = problem.objective
    empty = np.zeros((1, objective.n), dtype=bool)
    for primitive in (objective.values, objective.marginals, objective.complement().marginals):
        primitive(empty)
    objective.chains(np.arange(objective.n)[None, :])
    results, refusals = {}, {}
    for name in names:
        try:
            results[name] = minimize(objective, SOLVERS[name](), constraints=problem.constraints, **limits)
        except ValueError as error:
            refusals[name] = error
    if not results:
        raise next(iter(refusals.values()))
    for name, reason in refusals.items():
        say(f"{name} is left out: {reason}")
    return results


def rows_of(results: dict[str, Result]) -> list[dict[str, Any]]:
    """A row for each solver, with its gap to the best lower bound that any of them proved."""
    bound = max(result.lower_bound for result in results.values())
    return [
        {
            "solver": name,
            "value": result.value,
            "gap": relative_gap(result.value, bound),
            "seconds": result.seconds,
            "oracle_calls": result.oracle_calls,
            "size": len(result.S),
            "status": result.status,
        }
        for name, result in results.items()
    ]


def compare(problem: Problem, names: Sequence[str], **limits: Any) -> list[dict[str, Any]]:
    """The rows of :func:`run_all`; ``limits`` go to :func:`dsprog.minimize`."""
    return rows_of(run_all(problem, names, **limits))


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as aligned text."""
    lines = [COLUMNS] + [tuple(cell(column, row[column]) for column in COLUMNS) for row in rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(COLUMNS))]
    words = {"solver", "status"}
    aligned = [
        [
            text.ljust(width) if column in words else text.rjust(width)
            for column, text, width in zip(COLUMNS, line, widths)
        ]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def cell(column: str, value: Any) -> str:
    """One number in words."""
    if column == "gap":
        return "-" if math.isinf(value) else f"{100 * value:.3g} %"
    if column == "seconds":
        return f"{value:.3f}"
    return f"{value:.9g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def save(folder: str | Path, results: dict[str, Result], title: str) -> None:
    """Write ``compare.csv`` first, then ``compare.png``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "compare.csv", rows_of(results), COLUMNS)
    draw(folder / "compare.png", results, title)


def draw(path: Path, results: dict[str, Result], title: str) -> Path:
    """Value against time, from the traces."""
    figure, axes = plotting().subplots(figsize=(8, 5))
    for name, result in results.items():
        times = [event.seconds for event in result.trace] + [result.seconds]
        values = [event.value for event in result.trace] + [result.value]
        axes.step(times, values, where="post", label=f"{name}: {result.value:.6g}", alpha=0.8)
    axes.set(xscale="log", xlabel="seconds", ylabel="best value so far", title=title)
    axes.legend(fontsize="small")
    return saved(figure, path)
