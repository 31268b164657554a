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


if __name__ == "__main__":
    main()
