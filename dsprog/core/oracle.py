"""Counting oracle calls: how many values of set functions were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Tally:
    """How many values of set functions were asked for."""

    calls: int = 0


_tally: ContextVar[Tally | None] = ContextVar("oracle calls", default=None)


@contextmanager
def count_oracle_calls() -> Iterator[Tally]:
    """Count the values asked for inside the block; a row of marginals, or a chain, counts its length.

    >>> import dsprog as ds
    >>> with count_oracle_calls() as tally:
    ...     _ = ds.Modular([1.0, 2.0]).marginals([[True, False]])
    >>> tally.calls
    2
    """
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)
        count(tally.calls)


def count(calls: int) -> None:
    """Add to the tally of the block that is being counted, if there is one."""
    tally = _tally.get()
    if tally is not None:
        tally.calls += calls
