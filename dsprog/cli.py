"""The command line: `dsprog COMMAND`."""

from __future__ import annotations

import click

from dsprog import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsprog")
def main() -> None:
    """Minimise differences of submodular set functions, exactly and with a proof."""


@main.command()
def demo() -> None:
    """Solve a small, readable problem and show the proof."""
    from dsprog.demo import run

    run()


@main.command()
@click.argument("instance")
@click.option("--solvers", default=None, help="Names with commas between; see below.")
@click.option("--time-limit", type=float, default=60.0, show_default=True, help="Seconds for each solver.")
@click.option("--seed", type=int, default=0, show_default=True, help="For solvers that draw random numbers.")
@click.option("--save", "folder", type=click.Path(file_okay=False), help="Folder for the rows and a picture.")
def compare(instance: str, solvers: str | None, time_limit: float, seed: int, folder: str | None) -> None:
    """Run solvers on one INSTANCE, a file or a generator such as concave:n=30,seed=0, and print a table.

    Solvers: ssp, supsub, modmod, dca, cdca, forward, backward, bidirectional, flip, swap, tabu, and with a proof:
    brute, exact. The gap is to the best lower bound that any of them proved.
    """
    from dsprog import compare as side_by_side

    try:
        names = side_by_side.solvers_named(side_by_side.DEFAULT if solvers is None else solvers)
        objective = side_by_side.load_instance(instance)
        results = side_by_side.run_all(objective, names, time_limit=time_limit, seed=seed)
        click.echo(side_by_side.table(side_by_side.rows_of(results)))
        if folder is not None:
            side_by_side.save(folder, results, instance)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
