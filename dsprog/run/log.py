"""The live log of a run: one line for each improvement, and at most one a second otherwise.

``verbose=1`` prints lines, ``verbose=2`` shows a bar; whoever listens to the logger ``dsprog`` gets the lines there.
"""

from __future__ import annotations

import logging
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import Any, TextIO

from dsprog.run.result import Event, Staff

LOGGER = logging.getLogger("dsprog")

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


def line_of(texts: dict[str, str]) -> str:
    """Cells in the widths of their columns."""
    first, *rest = (text.rjust(WIDTHS[name]) for name, text in texts.items())
    return " ".join([first.strip().ljust(WIDTHS["source"]), *rest])


class Log(ABC):
    """What a run tells while it goes on."""

    @abstractmethod
    def write(self, event: Event, improved: bool) -> None:
        """Tell of an event."""

    @abstractmethod
    def say(self, sentence: str) -> None:
        """Tell a sentence."""

    def close(self) -> None:
        """The run has ended."""
        return


class Lines(Log):
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
        if self.console is None:
            print(line_of(texts), file=self.stream, flush=True)
        else:
            self.console.print(line_of(texts), style=style or None, soft_wrap=True)


class Logger(Log):
    """Sends improvements and sentences to the logger ``dsprog`` as information, progress as detail.

    >>> import logging
    >>> logging.getLogger("dsprog").setLevel(logging.WARNING)  # INFO or DEBUG to listen
    """

    def write(self, event: Event, improved: bool) -> None:
        """One record."""
        words = ", ".join(f"{name} {text}" for name, text in cells(event).items() if text)
        LOGGER.log(logging.INFO if improved else logging.DEBUG, "%s", words)

    def say(self, sentence: str) -> None:
        """One record."""
        LOGGER.info("%s", sentence)


class Bar(Log):
    """One line that moves: how much of the first gap is closed, with value, bound and nodes; by rich."""

    def __init__(self, stream: TextIO | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(bar_width=16), TextColumn("{task.fields[words]}"), TimeElapsedColumn())
        console = Console(file=stream) if stream is not None else Console(stderr=True)
        self.progress = Progress(*columns, console=console)
        self.task: Any = None
        self.first_gap = math.inf

    def write(self, event: Event, improved: bool) -> None:
        """Move the bar."""
        if self.task is None:
            self.progress.start()
            self.task = self.progress.add_task("", total=1.0, words="")
        self.first_gap = event.gap if math.isinf(self.first_gap) else max(self.first_gap, event.gap)
        share = closed_share(event.gap, self.first_gap)
        self.progress.update(self.task, completed=share, words=words_of(event))

    def say(self, sentence: str) -> None:
        """A line above the bar."""
        self.progress.console.print(sentence, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self.progress.stop()


class NotebookBar(Log):
    """The same in a notebook: one cell of HTML that is drawn anew, and stays in the file that is saved."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self.html, self.sentences = HTML, ""
        self.bar, self.first_gap = "", math.inf
        self.shown = display(HTML(""), display_id=True)

    def write(self, event: Event, improved: bool) -> None:
        """Move the bar."""
        self.first_gap = event.gap if math.isinf(self.first_gap) else max(self.first_gap, event.gap)
        share = closed_share(event.gap, self.first_gap)
        self.bar = f'<progress value="{share:.3f}" max="1"></progress> {event.seconds:.1f} s  {words_of(event)}'
        self._draw()

    def say(self, sentence: str) -> None:
        """A line above the bar."""
        self.sentences += f"{escape(sentence)}<br>"
        self._draw()

    def _draw(self) -> None:
        self.shown.update(self.html(f'<div style="white-space:pre-wrap">{self.sentences}{self.bar}</div>'))


def words_of(event: Event) -> str:
    """What stands beside a bar."""
    texts = cells(event)
    return f"value {texts['value']}  bound {texts['bound']}  gap {texts['gap']}  {texts['nodes']} nodes"


def closed_share(gap: float, first: float) -> float:
    """How much of the first gap is closed.

    >>> closed_share(0.5, 2.0), closed_share(float("inf"), float("inf")), closed_share(0.0, 0.0)
    (0.75, 0.0, 1.0)
    """
    if gap == 0:
        return 1.0
    return 0.0 if math.isinf(gap) or math.isinf(first) else 1.0 - gap / first


class Several(Log):
    """Logs side by side."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs

    def write(self, event: Event, improved: bool) -> None:
        """To all of them."""
        for log in self.logs:
            log.write(event, improved)

    def say(self, sentence: str) -> None:
        """To all of them."""
        for log in self.logs:
            log.say(sentence)

    def close(self) -> None:
        """All of them."""
        for log in self.logs:
            log.close()


def bar() -> Log:
    """A bar for where we are."""
    from rich import get_console

    return NotebookBar() if get_console().is_jupyter else Bar()


def log_for(verbose: int) -> Log | None:
    """What the user wants to see: nothing, lines or a bar; and records where somebody listens to the logger."""
    logs: list[Log] = [bar()] if verbose >= 2 else [Lines()] if verbose else []
    if LOGGER.isEnabledFor(logging.INFO):
        logs.append(Logger())
    return Several(logs) if len(logs) > 1 else logs[0] if logs else None
