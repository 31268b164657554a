"""SIGTERM ends a run that keeps a checkpoint as Ctrl-C does: it is saved first. A supervisor of workers notes both."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Interruptible(Protocol):
    """What can be told to stop."""

    interrupted: bool


@contextmanager
def sigterm_interrupts(wanted: bool) -> Iterator[None]:
    """A block in which SIGTERM raises KeyboardInterrupt, in the main thread and if that is wanted."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupt(number: int, frame: Any) -> None:
    """As Ctrl-C does."""
    raise KeyboardInterrupt


@contextmanager
def interruptions_noted(run: Interruptible) -> Iterator[None]:
    """A block in which the first Ctrl-C, or SIGTERM in its place, stops the run at its next look; a second raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: Any) -> None:
        if run.interrupted:
            raise KeyboardInterrupt
        run.interrupted = True

    noted = [number for number, handler in before.items() if handler in (signal.default_int_handler, interrupt)]
    for number in noted:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in noted:
            signal.signal(number, before[number])
