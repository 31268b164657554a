"""Which of several ways to bound goes next: what each closed so far decides; counters keep the score, not clocks."""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats

ROUND = 12  # turns in which every way has one


class Contest:
    """The way that closed the largest share of the gaps it was given has most turns, each other one in every round.

    >>> contest = Contest(2)
    >>> for _ in range(24):
    ...     way = contest.next()
    ...     contest.report(way, 10, 9.0 if way else 1.0)
    >>> [contest.next() for _ in range(6)]
    [0, 1, 1, 1, 1, 1]
    """

    def __init__(self, ways: int) -> None:
        self.closed, self.given, self.turns = np.zeros(ways), np.zeros(ways), 0

    def next(self) -> int:
        """Whose turn it is."""
        turn = self.turns % ROUND
        self.turns += 1
        return turn if turn < len(self.given) else int(np.argmax((self.closed + 1.0) / (self.given + 2.0)))

    def report(self, way: int, count: int, closed: float) -> None:
        """A way was given so many gaps and closed so much of them."""
        self.given[way] += count
        self.closed[way] += closed


def shares(before: Floats, after: Floats, cutoff: float) -> Floats:
    """The part of cutoff - before that a bound has closed, node by node; 0 where there was no gap to speak of."""
    with np.errstate(invalid="ignore", divide="ignore"):
        part = (after - before) / (cutoff - before)
    return np.where(np.isfinite(part), np.clip(part, 0.0, 1.0), 0.0)
