"""SIGTERM ends a run that keeps a checkpoint as Ctrl-C does: it is saved first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
