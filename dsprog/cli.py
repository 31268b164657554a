"""The command line: `dsprog COMMAND`."""

from __future__ import annotations

import errno
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from dsprog import __version__
from dsprog.experiments.commands import reproduce

SPOKEN = (ValueError, TypeError, RuntimeError, ImportError, OSError)  # their words alone can be understood
FILE = click.Path(path_type=Path)
FORMAT = click.option(
    "--format", "kind", help="uai, sparse, or-library, qbsolv, rudy or dimacs; recognised by content if left out."
)
NUMBER = click.option("--problem", "number", type=int, default=1, help="Which problem of an OR-Library file, from 1.")


class PlainGroup(click.Group):
    """Commands whose errors are one sentence, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click's own exceptions and a closed pipe are left to click."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:  # whatever happens, a traceback is nothing for a user
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise click.ClickException(sentence(error)) from error


def sentence(error: BaseException) -> str:
    """What an error says; its kind in front where that alone would not be understood.

    >>> sentence(KeyError("weights")), sentence(MemoryError())
    ("KeyError: 'weights'", 'MemoryError')
    """
    words = " ".join(str(error).split())
    if isinstance(error, SPOKEN) and words:
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


@click.group(cls=PlainGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsprog")
def main() -> None:
    """Minimise differences of submodular set functions, exactly and with a proof.

    \b
    Exit status of every command:
      0  done; of solve: with a proof
      1  an error, said in one sentence
      2  a mistake in the command
      3  solve only: stopped without a proof
    """  # noqa: D301  # a backspace before lines that click must not wrap


main.add_command(reproduce)


@main.command()
def demo() -> None:
    """Solve a small, readable problem and show the proof."""
    from dsprog.experiments.demo import run

    run()


@main.command()
def warmup() -> None:
    """Compile all kernels now, once on this machine, so that no later run waits for it."""
    from dsprog.experiments.warmup import warm_up

    click.echo(warm_up())


@main.command()
@click.argument("file", type=FILE)
@FORMAT
@NUMBER
@click.option("--solver", default="exact", show_default=True, help="A name, as `dsprog compare --help` lists them.")
@click.option("--seed", type=int, help="For solvers that draw random numbers.")
@click.option("--time-limit", type=float, help="Seconds.")
@click.option("--node-limit", type=int, help="Nodes.")
@click.option("--gap", type=float, help="Relative gap to accept.")
@click.option("--checkpoint", type=FILE, help="File to save the run to.")
@click.option("--resume", is_flag=True, help="Continue from the checkpoint if it is there.")
@click.option("--k-best", type=int, help="List the K best sets.")
@click.option("--workers", default="1", show_default=True, help="Processes that share the search, or `all`.")
@click.option("--device", default="cpu", show_default=True, help="cuda, or cuda:1: bound nodes on a card.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--save", type=FILE, help="Write the result to a file as JSON.")
@click.option("--quiet", is_flag=True, help="No live log.")
@click.pass_context
def solve(ctx: click.Context, file: Path, **options: Any) -> None:
    """Solve the instance in FILE.

    Files are .json or .npz, as `objective.save` writes them, or text: UAI MARKOV (binary, pairwise), QUBO (BiqMac
    sparse, OR-Library, qbsolv), max-cut (rudy), maximum flow (DIMACS). Maximisation is read as minimisation of the
    negative.

    \b
    Exit status:
      0  proved: optimal, within --gap, or that no set is feasible
      1  an error, said in one sentence
      2  a mistake in the command
      3  stopped without a proof
    """  # noqa: D301  # a backspace before lines that click must not wrap
    refuse_what_would_be_ignored(**options)
    answer = solved(file, **options)
    data = answer.to_dict() if hasattr(answer, "to_dict") else answer_as_data(answer)
    if options["save"] is not None:
        options["save"].write_text(json.dumps(data, indent=1) + "\n")
    click.echo(json.dumps(data) if options["as_json"] else str(answer))
    ctx.exit(0 if answer.certified or answer.status == "infeasible" else 3)


def answer_as_data(best: Any) -> dict[str, Any]:
    """The best sets as plain data."""
    return {**vars(best), "workers": [vars(share) for share in best.workers]}


def refuse_what_would_be_ignored(
    k_best: int | None, gap: float | None, checkpoint: Path | None, resume: bool, save: Path | None, **others: Any
) -> None:
    """Raise where an option has no meaning beside another, or a file cannot be written, before anything is solved."""
    for name, path in (("--checkpoint", checkpoint), ("--save", save)):
        if path is not None and (not path.parent.is_dir() or path.is_dir() or not os.access(path.parent, os.W_OK)):
            raise click.UsageError(f"{name} must be a file in a folder that can be written to, got {path}")
    if k_best is not None and gap is not None:
        raise click.UsageError("--k-best takes no --gap: the best sets are listed exactly")
    if resume and checkpoint is None:
        raise click.UsageError("--resume needs --checkpoint FILE, the run to continue")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise click.UsageError(f"{checkpoint} is there already: pass --resume to continue it, or remove it")


def solved(
    file: Path, kind: str | None, number: int, solver: str, gap: float | None, k_best: int | None, **others: Any
) -> Any:
    """The :class:`dsprog.Result`, or the :class:`dsprog.BestSets` if several were asked for."""
    from dsprog.experiments.instances import read_instance
    from dsprog.experiments.solvers import solver_named, solver_on
    from dsprog.solve.enumerate import enumerate_best
    from dsprog.solve.minimize import minimize

    problem = read_instance(file, kind, number)
    used = solver_named(solver) if others["device"] == "cpu" else solver_on(others["device"], solver, problem)
    settings = {name: others[name] for name in ("seed", "time_limit", "node_limit", "checkpoint")}
    settings |= {"solver": used, "constraints": problem.constraints}
    settings["verbose"] = int(not others["quiet"])
    settings["workers"] = int(others["workers"]) if others["workers"].isdigit() else others["workers"]
    if k_best is not None:
        return enumerate_best(problem.objective, k_best, **settings)
    return minimize(problem.objective, gap=gap or 0.0, **settings)


@main.command()
@click.argument("instance")
@FORMAT
@NUMBER
@click.option("--solvers", help="Names with commas between; see below.")
@click.option("--time-limit", type=float, default=60.0, show_default=True, help="Seconds for each solver.")
@click.option("--seed", type=int, default=0, show_default=True, help="For solvers that draw random numbers.")
@click.option("--save", "folder", type=click.Path(file_okay=False), help="Folder for the rows and a picture.")
def compare(
    instance: str, kind: str | None, number: int, solvers: str | None, time_limit: float, seed: int, folder: str | None
) -> None:
    """Run solvers on one INSTANCE and print a table: a file, or a generator such as concave:n=30,seed=0.

    Solvers: ssp, supsub, modmod, dca, cdca, forward, backward, bidirectional, double, flip, swap, tabu, and with
    a proof: exact (the best for the problem), interval, compact, brute, prism, race, scip. The gap is to the best
    lower bound that any of them proved. Constraints in a file are kept; a solver that does not
    take them is left out.
    """
    from dsprog.experiments import compare as side_by_side
    from dsprog.experiments.instances import load_instance
    from dsprog.experiments.solvers import checked_names

    names = side_by_side.DEFAULT if solvers is None else checked_names(solvers)
    problem = load_instance(instance, kind, number)
    results = side_by_side.run_all(problem, names, partial(click.echo, err=True), time_limit=time_limit, seed=seed)
    click.echo(side_by_side.table(side_by_side.rows_of(results)))
    if folder is not None:
        side_by_side.save(folder, results, instance)


if __name__ == "__main__":
    main()
