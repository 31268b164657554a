"""The live log of a run: one line for each improvement, and at most one a second otherwise."""

from __future__ import annotations

import math
import sys
from typing import TextIO

from dsprog.run.result import Event, Staff

WIDTHS = {"source": 12, "seconds": 8, "nodes": 10, "open": 8, "cuts": 6, "bound": 13, "value": 13, "gap": 8}
WIDTHS |= {"workers": 7, "nodes/s": 9, "busy": 5}


def number(value: float) -> str:
    """A bound or value in the width of its column."""
    return "-" if math.isinf(value) else f"{value:.9g}"


def cells(event: Event) -> dict[str, str]:
    """An event as the cells of a line, by column; cuts only where the solver has cuts, workers where there are some."""
    staff = event.staff
    return {
        "source": event.source,
        "seconds": f"{event.seconds:.2f}",
        "nodes": f"{event.nodes:,}",
        "open": f"{event.open:,}",
        **({} if event.cuts is None else {"cuts": f"{event.cuts:,}"}),
        "bound": number(event.lower_bound),
        "value": number(event.value),
        "gap": "-" if math.isinf(event.gap) else f"{100 * event.gap:.3g} %",
        **({} if staff is None else shared(staff)),
    }


def shared(staff: Staff) -> dict[str, str]:
    """How many workers there are, the nodes a second of all, and which part of the time they worked."""
    return {"workers": f"{staff.workers}", "nodes/s": f"{staff.rate:,.0f}", "busy": f"{100 * staff.efficiency:.0f} %"}


class Log:
    """Prints events; in colour through rich on a terminal, as plain text elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.console = None
        self.columns: tuple[str, ...] = ()
        if self.stream.isatty():
            from rich.console import Console

            self.console = Console(file=self.stream, highlight=False)

    def write(self, event: Event, improved: bool) -> None:
        """Print an event, after a header if it is the first with these columns."""
        texts = cells(event)
        if tuple(texts) != self.columns:
            self.columns = tuple(texts)
            self._line({name: name for name in texts}, "bold")
        self._line(texts, "green" if improved else "")

    def say(self, sentence: str) -> None:
        """Print a sentence."""
        print(sentence, file=self.stream, flush=True)

    def _line(self, texts: dict[str, str], style: str) -> None:
        first, *rest = (text.rjust(WIDTHS[name]) for name, text in texts.items())
        line = " ".join([first.strip().ljust(WIDTHS["source"]), *rest])
        if self.console is None:
            print(line, file=self.stream, flush=True)
        else:
            self.console.print(line, style=style or None, soft_wrap=True)
