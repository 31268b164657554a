"""The command line: `dsprog COMMAND`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
def bounds(quick: bool, out: Path, time_limit: float) -> None:
    """The prismatic algorithm: BILP against LP bound, bisection against subdivision at the optimum."""
    from dsprog.experiments.bounds import reproduce

    for path in reproduce(out, quick, time_limit, click.echo):
        click.echo(path)


if __name__ == "__main__":
    main()
