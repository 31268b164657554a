"""Blocks that Ctrl-C must not end in the middle: the signal waits, and is handled when they are over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any


@contextmanager
def signals_deferred(stop: Callable[[], None] = lambda: None) -> Iterator[None]:
    """A block in which SIGINT and SIGTERM call ``stop``, and are handled as they would have been at its end."""
    if threading.current_thread() is not threading.main_thread():  # signals do not come here
        yield
        return
    pending: list[tuple[Callable[..., Any], int, Any]] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = {number: handler for number, handler in before.items() if callable(handler)}

    def defer(number: int, frame: Any) -> None:
        pending.append((ours[signal.Signals(number)], number, frame))
        stop()

    with ExitStack() as undo:  # one that is interrupted itself still undoes the rest
        for number, handler in ours.items():
            undo.callback(signal.signal, number, handler)
            signal.signal(number, defer)
        yield
    for late, *arguments in pending:
        late(*arguments)
