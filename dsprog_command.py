"""The command ``dsprog``. It lies beside the package, so that Ctrl-C while that loads ends in one word as well."""

import signal
import sys
from typing import Any


def main() -> Any:
    """Load the package whole, then run the command line."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        from dsprog.cli import main as command
    finally:
        signal.signal(signal.SIGINT, before)
    if came and before is not signal.SIG_IGN:
        sys.exit("Aborted!")
    return command()
