"""`python -m dsprog` is the command line."""

from dsprog.cli import main

main(prog_name="dsprog")
