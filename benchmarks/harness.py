"""Rows first: run, referee, save; drawing and tables come after.

Only ``run`` is timed. The referee recomputes the value of the returned set from the objective, so that no solver
reports its own success.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dsprog.experiments.saved_rows import write_rows

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    names = ("numpy", "scipy", "llvmlite", "highspy")
    models = [line.split(":")[1].strip() for line in cpu_lines() if line.startswith("model name")]
    packages = {name: version(name) for name in names}
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **packages,
    }


def print_machine() -> None:
    """One line."""
    print(", ".join(f"{key} {value}" for key, value in machine().items()), "\n")


def cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def best_seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of some runs after a first that compiles and warms up."""
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def referee(objective: Any, S: Any, lower_bound: float) -> dict[str, float]:
    """Value of the set, recomputed, and the gap to the claimed bound."""
    value = objective(S)
    return {"value": value, "lower_bound": lower_bound, "gap": value - lower_bound}


def save(name: str, rows: list[dict[str, Any]]) -> Path:
    """Write rows as CSV and, with the machine, as JSON."""
    RESULTS.mkdir(exist_ok=True)
    write_rows(RESULTS / f"{name}.csv", rows)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))
    return path


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = (f"{v:.4g}" if isinstance(v, float) else str(v) for v in (row.get(c, "") for c in columns))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
