"""Solvers side by side on one instance: a table, rows as CSV, and a picture of value against time.

An instance is a file or a generator, named like ``concave:n=30,seed=0``.

>>> objective = load_instance("coverage:n=8,seed=1")
>>> [row["solver"] for row in compare(objective, ["forward", "exact"])]
['forward', 'exact']
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.approximate.dca import DCA
from dsprog.approximate.double_greedy import DoubleGreedy
from dsprog.approximate.greedy import Greedy
from dsprog.approximate.local_search import LocalSearch
from dsprog.approximate.mod_mod import ModMod
from dsprog.approximate.ssp import SSP
from dsprog.approximate.sup_sub import SupSub
from dsprog.core.native import load
from dsprog.core.set_function import SetFunction
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.exact.race import Race
from dsprog.exact.scip import Scip
from dsprog.generators import FAMILIES
from dsprog.run.result import Result, relative_gap
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

SOLVERS: dict[str, Callable[[], Solver | None]] = {
    "ssp": SSP,
    "supsub": SupSub,
    "modmod": ModMod,
    "dca": DCA,
    "cdca": lambda: DCA(complete=True),
    "forward": lambda: Greedy("forward"),
    "backward": lambda: Greedy("backward"),
    "bidirectional": lambda: Greedy("bidirectional"),
    "double": DoubleGreedy,
    "flip": LocalSearch,
    "swap": lambda: LocalSearch("swap"),
    "tabu": lambda: LocalSearch("tabu"),
    "brute": BruteForce,
    "compact": CompactModel,
    "prism": lambda: Prismatic(subdivision="optimum"),
    "race": Race,
    "scip": Scip,
    "exact": lambda: None,  # the default of minimize
}
DEFAULT = "ssp,supsub,modmod,dca,forward,backward,bidirectional,flip,swap,tabu"
COLUMNS = ("solver", "value", "gap", "seconds", "oracle_calls", "size", "status")


def load_instance(name: str) -> SetFunction:
    """The objective in a file, or of a generator with its n and seed."""
    family, _, options = name.partition(":")
    if family in FAMILIES:
        return FAMILIES[family](*generator_options(options))
    if not Path(name).exists():
        raise ValueError(
            f"instance must be a file or a generator such as concave:n=30,seed=0 "
            f"(one of {', '.join(FAMILIES)}), got {name!r}"
        )
    return load(name)


def generator_options(text: str) -> tuple[int, int]:
    """N and the seed of ``n=30,seed=0``; 20 and 0 where left out."""
    options = {"n": 20, "seed": 0}
    for part in filter(None, text.split(",")):
        key, _, number = part.partition("=")
        if key not in options or not number.isdecimal():
            raise ValueError(f"a generator takes n=NUMBER and seed=NUMBER, got {part!r}")
        options[key] = int(number)
    return options["n"], options["seed"]


def solvers_named(names: str) -> list[str]:
    """The names in a list with commas, checked."""
    listed = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in listed if name not in SOLVERS]
    if unknown or not listed:
        raise ValueError(f"solvers must be among {', '.join(SOLVERS)}, got {', '.join(unknown) or 'none'}")
    return listed


def run_all(objective: SetFunction, names: Sequence[str], **limits: Any) -> dict[str, Result]:
    """One result for each named solver; kernels are compiled before anything is timed."""
    empty = np.zeros((1, objective.n), dtype=bool)
    for primitive in (objective.values, objective.marginals, objective.complement().marginals):
        primitive(empty)
    objective.chains(np.arange(objective.n)[None, :])
    return {name: minimize(objective, SOLVERS[name](), **limits) for name in names}


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


def compare(objective: SetFunction, names: Sequence[str], **limits: Any) -> list[dict[str, Any]]:
    """The rows of :func:`run_all`; ``limits`` go to :func:`dsprog.minimize`."""
    return rows_of(run_all(objective, names, **limits))


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
    with open(folder / "compare.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows_of(results))
    draw(folder / "compare.png", results, title)


def draw(path: Path, results: dict[str, Result], title: str) -> None:
    """Value against time, from the traces."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("drawing needs matplotlib: pip install dsprog[plot]") from None
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, result in results.items():
        times = [event.seconds for event in result.trace] + [result.seconds]
        values = [event.value for event in result.trace] + [result.value]
        axes.step(times, values, where="post", label=f"{name}: {result.value:.6g}", alpha=0.8)
    axes.set(xscale="log", xlabel="seconds", ylabel="best value so far", title=title)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
