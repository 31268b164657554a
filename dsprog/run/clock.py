"""The clock of a run: it stands still while kernels are compiled, which happens once on a machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dsprog.core.kernel import compilations, watch

COMPILING = "compiling kernels, once on this machine"


class Clock:
    """Seconds since it was made, compilation left out."""

    def __init__(self) -> None:
        self._started = self._now()

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - compilations().seconds

    @property
    def seconds(self) -> float:
        """So far."""
        return self._now() - self._started


@contextmanager
def compilation_announced(say: Callable[[str], None] | None) -> Iterator[None]:
    """A block in which the first compilation is announced: in the log, or on a terminal where there is none."""
    said = False

    def announce(name: str) -> None:
        nonlocal said
        if not said and say is not None:
            say(COMPILING)
        elif not said and sys.stderr.isatty():
            print(COMPILING, file=sys.stderr, flush=True)
        said = True

    with watch(announce):
        yield
