"""`dsprog reproduce NAME`: the experiments as commands, each from its line in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)
SOLVERS = click.Choice(["dsprog", "HiGHS", "SCIP", "toulbar2"])
SELECTION = (
    click.Option(
        ["--datasets"],
        type=click.IntRange(min=1),
        help="How many data sets; 20 for figure2 and 10 for table1 if left out.",
    ),
    click.Option(["--methods"], help="Names with commas between, of exact, prism, ssp, greedy and lasso."),
    click.Option(["--device"], help="cuda, or cuda:1: where the exact method bounds its nodes."),
)


@dataclass(frozen=True)
class ExperimentCommand:
    """What the help says, seconds for each run, and options beside those that every experiment has."""

    words: str
    time_limit: float
    options: Sequence[click.Parameter] = ()


COMMANDS = {
    "bounds": ExperimentCommand(
        "The prismatic algorithm: BILP against LP bound, bisection against subdivision at the optimum.", 10.0
    ),
    "figure2": ExperimentCommand(
        "Feature selection: training error, test error and time against λ, for exact, PRISM and SSP.", 60.0, SELECTION
    ),
    "table1": ExperimentCommand(
        "Feature selection: errors and seconds of exact, PRISM, SSP, greedy and lasso for k = 5, 10, 20, 40.",
        60.0,
        SELECTION,
    ),
    "table2": ExperimentCommand(
        "The paper's Table 2: TAN classifiers on four data sets. The time limit is that of each cut of PRISM.\n\n"
        "CENSUS-INCOME is read from the folder that DSPROG_CENSUS names, or fetched from OpenML, or left out.",
        1.0,
        (
            click.Option(["--draws"], type=int, help="At most so many draws of each data set."),
            click.Option(["--data"], multiple=True, help="Only this data set; may be repeated."),
        ),
    ),
    "energies": ExperimentCommand(
        "QUBO, max-cut and UAI energies with published optima, beside HiGHS, SCIP and toulbar2 where they are "
        "installed.\n\nThe instances are read from the folder that DSPROG_DATA names.",
        30.0,
        (click.Option(["--solver"], multiple=True, type=SOLVERS, help="Run only this one; may be repeated."),),
    ),
    "autocorrelations": ExperimentCommand(
        "Low-autocorrelation windows (MINLPLib's autocorr_bern n-R), proved by bucket elimination.", 300.0
    ),
    "ds_benchmarks": ExperimentCommand(
        "The published benchmarks: certified optima, and the heuristics beside them.",
        60.0,
        (click.Option(["--data"], type=FOLDER, help="Folder of the data; ds in that of DSPROG_DATA if left out."),),
    ),
}


@click.group()
def reproduce() -> None:
    """Run an experiment: rows are saved as they come, then drawn; a second run goes on where the first stopped."""


def run(module: str, **options: Any) -> None:
    """Run the experiment of a module with the options that were given, and print the paths of what it wrote."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    for path in import_module(f"dsprog.experiments.{module}").reproduce(**given, say=click.echo):
        click.echo(path)


def command_of(module: str, experiment: ExperimentCommand) -> click.Command:
    """The command that runs the experiment of a module."""
    limit = experiment.time_limit
    params = [
        click.Option(["--quick"], is_flag=True, help="A small version that takes seconds."),
        click.Option(["--out"], type=FOLDER, default="results", show_default=True, help="Folder."),
        click.Option(
            ["--time-limit"],
            type=click.FloatRange(min=0),
            default=limit,
            show_default=True,
            help="Seconds for each run.",
        ),
        click.Option(["--n-jobs"], type=int, help="Processes beside each other; -1 for all processors."),
        *experiment.options,
    ]
    return click.Command(module.replace("_", "-"), params=params, callback=partial(run, module), help=experiment.words)


for module, experiment in COMMANDS.items():
    reproduce.add_command(command_of(module, experiment))
