"""QUBO, max-cut and UAI energies with published optima: dsprog beside HiGHS, SCIP and toulbar2 in the same run."""

from __future__ import annotations

import csv
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.experiments.data_folder import data_folder
from dsprog.experiments.energy_profile import draw_profile
from dsprog.experiments.page import Html, paragraph, picture, table, write_page
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.referees import NEEDS, REFEREES
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.files import read
from dsprog.functions.graph import Pairwise

QUICK = ("bqp50-1", "gka5b", "t2g10_5555", "Segmentation_12")
WARM = ("bqp50-10", "bqp100-1", "g05_60.0", "t2g10_5555")  # together they call every kernel, which compiles it
KEY = ("instance", "solver")
TITLE = "Energies, QUBO and max-cut"


@dataclass(frozen=True)
class EnergyInstance:
    """A file (and a problem in it), and the published minimum."""

    name: str
    path: Path
    problem: int
    optimum: float

    def load(self) -> Pairwise:
        """The function to minimise."""
        energy = read(self.path, problem=self.problem)
        assert isinstance(energy, Pairwise)
        return energy


def qubo_instances(data: Path) -> Iterator[EnergyInstance]:
    """Those of ``qubo/optima.csv``; a maximum cut is published as it is, and minimised as its negative."""
    folder = data / "qubo"
    for row in table_of(folder / "optima.csv"):
        name, value = row["name"], float(row["value"])
        if row["set"] == "beasley":
            family, _, number = name.partition("-")
            yield EnergyInstance(name, folder / f"{family}.txt", int(number), value)
        elif row["set"] in ("gka", "be"):
            yield EnergyInstance(name, folder / row["set"] / f"{name}.sparse", 1, value)
        else:
            yield EnergyInstance(name, folder / "maxcut" / name, 1, -value)


def energy_instances(data: Path) -> Iterator[EnergyInstance]:
    """Those of ``energies/optima.csv``."""
    folder = data / "energies"
    for row in table_of(folder / "optima.csv"):
        value = next(float(entry) for column, entry in row.items() if column.startswith("min_energy"))
        yield EnergyInstance(row["name"], folder / f"{row['name']}.uai", 1, value)


def table_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    if not path.exists():
        raise ValueError(f"{path} does not exist: set DSPROG_DATA to the folder that holds qubo/ and energies/")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 30.0,
    say: Say = print,
    n_jobs: int | None = None,
    solver: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw, write a page. Returns the paths of all three.

    Named solvers are run alone, all that are installed by default; the page has all rows that are there.
    """
    data = data_folder()
    instances = {instance.name: instance for instance in (*qubo_instances(data), *energy_instances(data))}
    solvers = list(solver) or [name for name in REFEREES if name not in NEEDS or find_spec(NEEDS[name]) is not None]
    rows = SavedRows(out / "energies.csv", KEY)
    cells = [dict(zip(KEY, cell)) for cell in itertools.product(QUICK if quick else instances, solvers)]

    def warm_up() -> None:
        for name in set(WARM) & {cell["instance"] for cell in cells}:
            measured(instances[name], "dsprog", time_limit)
        for solver in solvers:
            measured(instances[cells[0]["instance"]], solver, time_limit)

    def measure(cell: Row) -> Row:
        return measured(instances[cell["instance"]], cell["solver"], time_limit)

    run_missing(rows, cells, measure, say, warm_up, n_jobs)
    profile = draw_profile(rows.rows, out / "energies.png")
    page = write_page(out / "energies.html", TITLE, parts(rows.rows, profile))
    return rows.path, profile, page


def measured(instance: EnergyInstance, solver: str, time_limit: float) -> Row:
    """One run, judged against the published minimum; CPU seconds, building the model included."""
    form = QuadraticForm.of(instance.load())
    assert form is not None
    started, wall = time.process_time(), time.perf_counter()
    answer = REFEREES[solver](form, time_limit)
    seconds, wall = time.process_time() - started, time.perf_counter() - wall
    slack = 1e-4 if form.scale % 1 else 1e-6
    return {
        "n": form.n,
        "pairs": form.pairs.nnz // 2,
        "published": instance.optimum,
        "value": round(answer.value, 6),
        "bound": round(answer.lower, 6),
        "proved": int(answer.proved and abs(answer.value - instance.optimum) <= slack),
        "seconds": round(seconds, 4),
        "wall_seconds": round(wall, 4),
    }


def geometric_mean(rows: list[Row], solver: str) -> float:
    """Of CPU seconds, those of the whole run, which its limit ended, where nothing was proved."""
    seconds = [row["seconds"] for row in rows if row["solver"] == solver]
    return float(np.exp(np.mean(np.log(np.maximum(seconds, 1e-3))))) if seconds else np.nan


def parts(rows: list[Row], profile: Path) -> list[Html]:
    """What the page says: the profile, geometric means where all have run, then one line an instance."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    cells = {(row["instance"], row["solver"]): row for row in rows}
    shared = [row for row in rows if all((row["instance"], solver) in cells for solver in solvers)]
    means = [f"{geometric_mean(shared, solver):.3g}" for solver in solvers]
    proved = [proofs(shared, solver) for solver in solvers]
    everywhere = [proofs(rows, solver) for solver in solvers]
    facts = {row["instance"]: [row["n"], f"{row['published']:g}"] for row in rows}
    lines = [[name, *fact, *(cell_of(cells.get((name, solver))) for solver in solvers)] for name, fact in facts.items()]
    return [
        paragraph(
            "CPU seconds to a proof at the published optimum. HiGHS and SCIP have the linearised model, toulbar2 and "
            "dsprog the energy itself. Limits are of wall time; an empty cell was not run."
        ),
        picture(profile, "Share of instances that are proved within some CPU seconds"),
        table(
            ["", *solvers],
            [
                ["geometric mean where all have run, the whole run where open", *means],
                ["proved of these", *proved],
                ["proved of all that were run", *everywhere],
            ],
        ),
        table(["instance", "n", "minimum", *solvers], lines),
    ]


def proofs(rows: list[Row], solver: str) -> str:
    """How many of the runs of a solver ended with a proof."""
    proved = [row["proved"] for row in rows if row["solver"] == solver]
    return f"{sum(proved)} of {len(proved)}"


def cell_of(row: Row | None) -> str:
    """CPU seconds of a proof, or the gap that was left."""
    if row is None:
        return ""
    if row["proved"]:
        return f"{row['seconds']:.3g}"
    gap = (row["value"] - row["bound"]) / max(abs(row["published"]), 1e-9)
    return Html(f"<em>open, gap {gap:.1%}</em>" if np.isfinite(gap) else "<em>open</em>")
