"""The live log of a run: one line for each improvement, and at most one a second otherwise."""

from __future__ import annotations

import math
import sys
from typing import TextIO

from dsprog.result import Event

COLUMNS = ("source", "seconds", "nodes", "open", "bound", "value", "gap")
WIDTHS = (14, 9, 12, 10, 16, 16, 9)


def number(value: float) -> str:
    """A bound or value in the width of its column."""
    return "-" if math.isinf(value) else f"{value:.9g}"


def cells(event: Event) -> tuple[str, ...]:
    """An event as the cells of a line."""
    gap = "-" if math.isinf(event.gap) else f"{100 * event.gap:.3g} %"
    counts = (f"{event.seconds:.2f}", f"{event.nodes:,}", f"{event.open:,}")
    return (event.source, *counts, number(event.lower_bound), number(event.value), gap)


class Log:
    """Prints events; in colour through rich on a terminal, as plain text elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.console = None
        self.started = False
        if self.stream.isatty():
            from rich.console import Console

            self.console = Console(file=self.stream, highlight=False)

    def write(self, event: Event, improved: bool) -> None:
        """Print an event, after the header if it is the first."""
        if not self.started:
            self._line(COLUMNS, "bold")
            self.started = True
        self._line(cells(event), "green" if improved else "")

    def _line(self, texts: tuple[str, ...], style: str) -> None:
        first, *rest = (text.rjust(width) for text, width in zip(texts, WIDTHS))
        line = " ".join([first.strip().ljust(WIDTHS[0]), *rest])
        if self.console is None:
            print(line, file=self.stream, flush=True)
        else:
            self.console.print(line, style=style or None)
