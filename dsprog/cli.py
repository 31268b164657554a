"""The command line: `dsprog COMMAND`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from dsprog import __version__


def plain_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Show what the library says about bad input as one sentence, without a traceback."""

    @wraps(command)
    def guarded(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except (ValueError, TypeError, RuntimeError, ImportError) as error:
            raise click.ClickException(str(error)) from error

    return guarded


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsprog")
def main() -> None:
    """Minimise differences of submodular set functions, exactly and with a proof."""


@main.command()
def demo() -> None:
    """Solve a small, readable problem and show the proof."""
    from dsprog.experiments.demo import run

    run()


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format", "kind", help="uai, sparse, or-library, qbsolv, rudy or dimacs; recognised by content if left out."
)
@click.option("--problem", type=int, default=1, help="Which problem of an OR-Library file, from 1.")
@click.option("--time-limit", type=float, help="Seconds.")
@click.option("--node-limit", type=int, help="Nodes.")
@click.option("--gap", type=float, default=0.0, help="Relative gap to accept.")
@click.option("--checkpoint", type=click.Path(path_type=Path), help="File to save the run to.")
@click.option("--resume", is_flag=True, help="Continue from the checkpoint if it is there.")
@click.option("--k-best", type=int, help="List the K best sets.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the result to a file as JSON.")
@click.option("--quiet", is_flag=True, help="No live log.")
@plain_errors
def solve(
    file: Path,
    kind: str | None,
    problem: int,
    time_limit: float | None,
    node_limit: int | None,
    gap: float,
    checkpoint: Path | None,
    resume: bool,
    k_best: int | None,
    as_json: bool,
    save: Path | None,
    quiet: bool,
) -> None:
    """Solve the instance in FILE.

    Files are .json or .npz, as `objective.save` writes them, or text: UAI MARKOV (binary, pairwise), QUBO (BiqMac
    sparse, OR-Library, qbsolv), max-cut (rudy), maximum flow (DIMACS). Maximisation is read as minimisation of the
    negative.
    """
    from dsprog.core.native import load_problem
    from dsprog.files import read, recognised
    from dsprog.solve.enumerate import enumerate_best
    from dsprog.solve.minimize import minimize

    objective: Any
    constraints: list[Any] = []
    if kind is not None or (file.is_file() and recognised(file) is not None):
        objective = read(file, kind, problem)
    else:
        objective, constraints = load_problem(file)
    if resume and checkpoint is None:
        raise ValueError("--resume needs --checkpoint FILE, the run to continue")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise ValueError(f"{checkpoint} is there already: pass --resume to continue it, or remove it")
    limits = {"time_limit": time_limit, "node_limit": node_limit, "checkpoint": checkpoint, "verbose": int(not quiet)}
    if k_best is not None:
        best = enumerate_best(objective, k_best, constraints=constraints, **limits)  # type: ignore[arg-type]
        click.echo(json.dumps(vars(best)) if as_json else best_table(best))
        return
    result = minimize(objective, constraints=constraints, gap=gap, **limits)  # type: ignore[arg-type]
    if save is not None:
        result.save(save)
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))


def best_table(best: Any) -> str:
    """The best sets as lines of text."""
    lines = [f"{rank:>4}  {value:>16.10g}  {{{', '.join(map(str, S))}}}" for rank, (S, value) in enumerate(best, 1)]
    return "\n".join([*lines, f"{best.status}. {best.message}"])


@main.command()
@click.argument("instance")
@click.option("--solvers", default=None, help="Names with commas between; see below.")
@click.option("--time-limit", type=float, default=60.0, show_default=True, help="Seconds for each solver.")
@click.option("--seed", type=int, default=0, show_default=True, help="For solvers that draw random numbers.")
@click.option("--save", "folder", type=click.Path(file_okay=False), help="Folder for the rows and a picture.")
@plain_errors
def compare(instance: str, solvers: str | None, time_limit: float, seed: int, folder: str | None) -> None:
    """Run solvers on one INSTANCE, a file or a generator such as concave:n=30,seed=0, and print a table.

    Solvers: ssp, supsub, modmod, dca, cdca, forward, backward, bidirectional, double, flip, swap, tabu, and with
    a proof: exact, compact, brute, prism, scip. The gap is to the best lower bound that any of them proved.
    """
    from dsprog.experiments import compare as side_by_side

    names = side_by_side.solvers_named(side_by_side.DEFAULT if solvers is None else solvers)
    objective = side_by_side.load_instance(instance)
    results = side_by_side.run_all(objective, names, time_limit=time_limit, seed=seed)
    click.echo(side_by_side.table(side_by_side.rows_of(results)))
    if folder is not None:
        side_by_side.save(folder, results, instance)


@main.group()
def reproduce() -> None:
    """Run an experiment: rows are saved as they come, then drawn; a second run goes on where the first stopped."""


def experiment_options(default_time_limit: float) -> Callable[[Any], Any]:
    """--quick, --out and --time-limit, which every experiment has."""
    folder = click.Path(file_okay=False, path_type=Path)
    quick = click.option("--quick", is_flag=True, help="A small version that takes seconds.")
    out = click.option("--out", type=folder, default="results", show_default=True, help="Folder.")
    limit = click.option("--time-limit", default=default_time_limit, show_default=True, help="Seconds for each run.")
    return lambda command: quick(out(limit(command)))


@reproduce.command()
@experiment_options(default_time_limit=10.0)
@plain_errors
def bounds(quick: bool, out: Path, time_limit: float) -> None:
    """The prismatic algorithm: BILP against LP bound, bisection against subdivision at the optimum."""
    from dsprog.experiments.bounds import reproduce

    for path in reproduce(out, quick, time_limit, click.echo):
        click.echo(path)


@reproduce.command()
@experiment_options(default_time_limit=30.0)
@plain_errors
def energies(quick: bool, out: Path, time_limit: float) -> None:
    """QUBO, max-cut and UAI energies with published optima, beside HiGHS, SCIP and toulbar2 where they are installed.

    The instances are read from the folder that DSPROG_DATA names.
    """
    from dsprog.experiments.energies import reproduce

    for path in reproduce(out, quick, time_limit, click.echo):
        click.echo(path)


@reproduce.command()
@experiment_options(default_time_limit=1.0)
@click.option("--draws", type=int, help="At most so many draws of each data set.")
@click.option("--data", multiple=True, help="Only this data set; may be repeated.")
@plain_errors
def table2(quick: bool, out: Path, time_limit: float, draws: int | None, data: tuple[str, ...]) -> None:
    """The paper's Table 2: TAN classifiers on four data sets. The time limit is that of each cut of PRISM.

    CENSUS-INCOME is read from the folder that DSPROG_CENSUS names, or fetched from OpenML, or left out.
    """
    from dsprog.experiments.table2 import DATA, reproduce

    for path in reproduce(out, quick, time_limit, draws, data or DATA, click.echo):
        click.echo(path)


def selection_options(datasets: int) -> Callable[[Any], Any]:
    """--datasets and --methods, which the experiments on feature selection share."""
    number = click.option("--datasets", default=datasets, show_default=True, help="How many data sets.")
    methods = click.option("--methods", default=None, help="Names with commas between; all by default.")
    return lambda command: number(methods(command))


@reproduce.command()
@experiment_options(default_time_limit=60.0)
@selection_options(datasets=20)
@plain_errors
def figure2(quick: bool, out: Path, time_limit: float, datasets: int, methods: str | None) -> None:
    """Feature selection: training error, test error and time against λ, for exact, PRISM and SSP."""
    from dsprog.experiments.figure2 import CHOSEN, reproduce

    names = CHOSEN if methods is None else tuple(methods.split(","))
    for path in reproduce(out, quick, time_limit, datasets, names, click.echo):
        click.echo(path)


@reproduce.command()
@experiment_options(default_time_limit=60.0)
@selection_options(datasets=10)
@plain_errors
def table1(quick: bool, out: Path, time_limit: float, datasets: int, methods: str | None) -> None:
    """Feature selection: errors and seconds of exact, PRISM, SSP, greedy and lasso for k = 5, 10, 20, 40."""
    from dsprog.experiments.selection import METHODS
    from dsprog.experiments.table1 import reproduce

    names = METHODS if methods is None else tuple(methods.split(","))
    for path in reproduce(out, quick, time_limit, datasets, names, click.echo):
        click.echo(path)


@reproduce.command("ds-benchmarks")
@experiment_options(default_time_limit=60.0)
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="Folder of the data.")
@plain_errors
def ds_benchmarks(quick: bool, out: Path, time_limit: float, data: Path | None) -> None:
    """The published benchmarks: certified optima, and the heuristics beside them."""
    from dsprog.experiments.ds_benchmarks import reproduce

    for path in reproduce(out, quick, time_limit, click.echo, data):
        click.echo(path)


if __name__ == "__main__":
    main()
