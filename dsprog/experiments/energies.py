"""QUBO, max-cut and UAI energies with published optima: dsprog beside HiGHS, SCIP and toulbar2 in the same run."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.experiments.referees import NEEDS, REFEREES
from dsprog.experiments.rows import Row, Rows
from dsprog.files import read
from dsprog.functions.graph import Pairwise

QUICK = ("bqp50-1", "gka5b", "t2g10_5555", "Segmentation_12")
WARM = ("bqp50-10", "bqp100-1", "g05_60.0", "t2g10_5555")  # together they call every kernel, which compiles it
KEY = ("instance", "solver")
TITLE = "Energies, QUBO and max-cut"


def data_folder() -> Path:
    """Where the instances are: DSPROG_DATA, or ``../shared/data`` beside the repository."""
    return Path(os.environ.get("DSPROG_DATA", Path(__file__).parents[3] / "shared" / "data"))


@dataclass(frozen=True)
class Instance:
    """A file (and a problem in it), and the published minimum."""

    name: str
    path: Path
    problem: int
    optimum: float

    def load(self) -> Pairwise:
        """The function to minimise."""
        return read(self.path, problem=self.problem)


def qubo_instances(data: Path) -> Iterator[Instance]:
    """Those of ``qubo/optima.csv``; a maximum cut is published as it is, and minimised as its negative."""
    folder = data / "qubo"
    for row in table_of(folder / "optima.csv"):
        name, value = row["name"], float(row["value"])
        if row["set"] == "beasley":
            family, _, number = name.partition("-")
            yield Instance(name, folder / f"{family}.txt", int(number), value)
        elif row["set"] == "gka":
            yield Instance(name, folder / "gka" / f"{name}.sparse", 1, value)
        else:
            yield Instance(name, folder / "maxcut" / name, 1, -value)


def energy_instances(data: Path) -> Iterator[Instance]:
    """Those of ``energies/optima.csv``."""
    folder = data / "energies"
    for row in table_of(folder / "optima.csv"):
        value = next(float(entry) for column, entry in row.items() if column.startswith("min_energy"))
        yield Instance(row["name"], folder / f"{row['name']}.uai", 1, value)


def table_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    if not path.exists():
        raise ValueError(f"{path} does not exist: set DSPROG_DATA to the folder that holds qubo/ and energies/")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def reproduce(
    out: Path, quick: bool = False, time_limit: float = 30.0, say: Callable[[str], object] = print
) -> tuple[Path, Path]:
    """Run what is missing, save each row as it comes, write a page. Returns the paths of both."""
    data = data_folder()
    instances = [*qubo_instances(data), *energy_instances(data)]
    solvers = [name for name in REFEREES if name not in NEEDS or find_spec(NEEDS[name]) is not None]
    if quick:
        instances = [instance for instance in instances if instance.name in QUICK]
    rows = Rows(out / "energies.csv", KEY)
    for instance in instances:
        if instance.name in WARM:
            measured(instance, "dsprog", time_limit)
    for solver in solvers:
        measured(instances[0], solver, time_limit)
    for instance in instances:
        for solver in solvers:
            if not rows.has({"instance": instance.name, "solver": solver}):
                rows.append(measured(instance, solver, time_limit))
                say(" ".join(map(str, rows.rows[-1].values())))
    page = out / "energies.html"
    page.write_text(page_of(rows.rows, time_limit))
    return rows.path, page


def measured(instance: Instance, solver: str, time_limit: float) -> Row:
    """One run, judged against the published minimum; CPU seconds, building the model included."""
    form = QuadraticForm.of(instance.load())
    assert form is not None
    started, wall = time.process_time(), time.perf_counter()
    answer = REFEREES[solver](form, time_limit)
    seconds, wall = time.process_time() - started, time.perf_counter() - wall
    slack = 1e-4 if form.scale % 1 else 1e-6
    return {
        "instance": instance.name,
        "solver": solver,
        "n": form.n,
        "pairs": form.pairs.nnz // 2,
        "published": instance.optimum,
        "value": round(answer.value, 6),
        "bound": round(answer.lower, 6),
        "proved": int(answer.proved and abs(answer.value - instance.optimum) <= slack),
        "seconds": round(seconds, 4),
        "wall_seconds": round(wall, 4),
    }


def geometric_mean(rows: list[Row], solver: str, time_limit: float) -> float:
    """Of CPU seconds, the time limit where nothing was proved."""
    seconds = [row["seconds"] if row["proved"] else time_limit for row in rows if row["solver"] == solver]
    return float(np.exp(np.mean(np.log(np.maximum(seconds, 1e-3))))) if seconds else np.nan


def page_of(rows: list[Row], time_limit: float) -> str:
    """A page: geometric means, then one line an instance."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    cells = {(row["instance"], row["solver"]): row for row in rows}
    head = "".join(f"<th>{escape(solver)}</th>" for solver in solvers)
    means = "".join(f"<td>{geometric_mean(rows, solver, time_limit):.3g}</td>" for solver in solvers)
    proved = "".join(f"<td>{sum(row['proved'] for row in rows if row['solver'] == s)}</td>" for s in solvers)
    lines = []
    for name in dict.fromkeys(row["instance"] for row in rows):
        first = next(row for row in rows if row["instance"] == name)
        times = "".join(f"<td>{cell_of(cells.get((name, solver)))}</td>" for solver in solvers)
        lines.append(f"<tr><td>{escape(name)}</td><td>{first['n']}</td><td>{first['published']:g}</td>{times}</tr>")
    return PAGE.format(title=TITLE, limit=time_limit, head=head, means=means, proved=proved, lines="\n".join(lines))


def cell_of(row: Row | None) -> str:
    """CPU seconds of a proof, or the gap that was left."""
    if row is None:
        return ""
    if row["proved"]:
        return f"{row['seconds']:.3g}"
    gap = (row["value"] - row["bound"]) / max(abs(row["published"]), 1e-9)
    return f"<em>open, gap {gap:.1%}</em>" if np.isfinite(gap) else "<em>open</em>"


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }} td, th {{ padding: .15rem .7rem; text-align: right; }}
td:first-child {{ text-align: left; }} tr {{ border-bottom: 1px solid #ddd; }} em {{ color: #a40; font-style: normal; }}
</style>
<h1>{title}</h1>
<p>CPU seconds to a proof at the published optimum, building the model included; limit {limit:g} s of wall time.
HiGHS and SCIP have the linearised model, toulbar2 and dsprog the energy itself.</p>
<table><tr><th></th><th></th><th></th>{head}</tr>
<tr><td>geometric mean, the limit where open</td><td></td><td></td>{means}</tr>
<tr><td>proved</td><td></td><td></td>{proved}</tr></table>
<table><tr><th>instance</th><th>n</th><th>minimum</th>{head}</tr>
{lines}
</table></html>
"""
