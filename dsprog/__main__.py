"""`python -m dsprog` is the command line."""

from dsprog.cli import main

if __name__ == "__main__":
    main(prog_name="dsprog")
