"""The ledger of a shared search: which bundles are open, which are leased, and what the closed ones prove.

A bundle leaves the ledger only when the answer to its lease arrives, and what is left of it enters in the same step.
So at any moment

    min over open, leased and closed of their bounds  <=  the value of every set that was not reported yet,

whatever happens to workers. Delivery is at least once: a lease that was lost is open again, and of two answers the
second is dropped. A bundle that was lost is leased alone and halved each time, until a single node that was lost
``PATIENCE`` times is a *suspect*, for the supervisor itself to expand.

This file knows neither processes nor clocks.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

from dsprog.run.driver import Bundle, take

PATIENCE = 3  # losses of one node before the supervisor expands it itself


@dataclass(frozen=True)
class Entry:
    """A bundle, packed or not, and how often its lease was lost."""

    bundle: Bundle
    losses: int = 0

    @property
    def lower(self) -> float:
        """The least bound of its nodes."""
        return float(self.bundle["lower"].min())

    @property
    def rows(self) -> int:
        """How many nodes."""
        return len(self.bundle["lower"])

    def split(self, rows: int) -> tuple[Entry, Entry]:
        """The first nodes, and the others."""
        first, rest = take(self.bundle, slice(0, rows)), take(self.bundle, slice(rows, None))
        return Entry(first, self.losses), Entry(rest, self.losses)


@dataclass(frozen=True)
class Lease:
    """Bundles that somebody works on."""

    number: int
    entries: tuple[Entry, ...]
    lower: float
    rows: int

    @property
    def bundles(self) -> list[Bundle]:
        """As they travel."""
        return [entry.bundle for entry in self.entries]

    @property
    def losses(self) -> int:
        """The most that one of them was lost."""
        return max(entry.losses for entry in self.entries)


@dataclass
class WorkLedger:
    """Open, leased, closed.

    >>> import numpy as np
    >>> ledger = WorkLedger()
    >>> ledger.enter({"lower": np.array([1.0, 2.0, 3.0])})
    >>> lease = ledger.lease(rows=2)
    >>> lease.bundles, ledger.rows, ledger.lower
    ([{'lower': array([1., 2.])}], 1, 1.0)
    >>> ledger.answer(lease.number, [{"lower": np.array([2.5])}], closed=4.0), ledger.lower
    (True, 2.5)
    >>> ledger.answer(lease.number, [], closed=5.0)  # a late second answer
    False
    """

    closed: float = math.inf
    leased: dict[int, Lease] = field(default_factory=dict)
    rows: int = 0  # open nodes that nobody works on
    serial: int = 0
    _heap: list[tuple[float, int, Entry]] = field(default_factory=list)

    # -- what is there ----------------------------------------------------------------------------------------------

    @property
    def lower(self) -> float:
        """What is proved: no set that was not reported yet is below this."""
        leased = min((lease.lower for lease in self.leased.values()), default=math.inf)
        return min(self.closed, self._heap[0][0] if self._heap else math.inf, leased)

    @property
    def ended(self) -> bool:
        """Whether nothing is open or leased."""
        return not self._heap and not self.leased

    @property
    def size(self) -> int:
        """Nodes open or leased."""
        return self.rows + sum(lease.rows for lease in self.leased.values())

    def bundles(self) -> list[Bundle]:
        """All that a checkpoint must keep: the leased ones are as open as the others, newest last."""
        waiting = [entry.bundle for _, _, entry in sorted(self._heap, key=lambda item: -item[1])]
        return waiting + [bundle for lease in self.leased.values() for bundle in lease.bundles]

    # -- what happens -----------------------------------------------------------------------------------------------

    def enter(self, bundle: Bundle) -> None:
        """A bundle is open."""
        self._push(Entry(bundle))

    def lease(self, rows: int) -> Lease | None:
        """The bundles of least bound, about ``rows`` nodes of them; None if there are none. Lost ones go alone."""
        taken: list[Entry] = []
        wanted = max(1, rows)
        while self._heap and wanted > 0 and not (taken and (taken[0].losses or self._heap[0][2].losses)):
            entry = self._pop()
            piece = wanted if entry.losses == 0 else min(wanted, (entry.rows + 1) // 2)
            if entry.rows > piece:
                entry, rest = entry.split(piece)
                self._push(rest)
            taken.append(entry)
            wanted -= entry.rows
        if not taken:
            return None
        self.serial += 1
        lower, count = min(entry.lower for entry in taken), sum(entry.rows for entry in taken)
        self.leased[self.serial] = Lease(self.serial, tuple(taken), lower, count)
        return self.leased[self.serial]

    def answer(self, number: int, bundles: list[Bundle], closed: float) -> bool:
        """A lease is done: what is left of it is open. False, and nothing changes, if it was so before."""
        lease = self.leased.get(number)
        if lease is None:
            return False
        for bundle in bundles:  # an interruption here leaves a node twice, never loses one
            self.enter(bundle)
        self.closed = min(self.closed, closed)
        del self.leased[number]
        return True

    def lose(self, number: int) -> Lease | None:
        """A lease will not be answered: its bundles are open again, and remember it."""
        lease = self.leased.get(number)
        if lease is None:
            return None
        for entry in lease.entries:
            self._push(Entry(entry.bundle, entry.losses + 1))
        del self.leased[number]
        return lease

    def give_back(self, number: int) -> None:
        """A lease that nobody has begun is open again, and nothing is held against it."""
        for entry in self.leased[number].entries:
            self._push(entry)
        del self.leased[number]

    def close(self, cutoff: float) -> None:
        """Close what is open if no bound of it lies below the cutoff."""
        if self._heap and self._heap[0][0] >= cutoff:
            self.closed = min(self.closed, self._heap[0][0])
            self._heap, self.rows = [], 0

    def suspect(self) -> Lease | None:
        """A lease on a single node that was lost again and again, for the supervisor itself; None if there is none."""
        if not self._heap or not is_suspect(self._heap[0][2]):
            return None
        return self.lease(1)

    # -- the heap ---------------------------------------------------------------------------------------------------

    def _push(self, entry: Entry) -> None:
        if entry.rows:
            self.serial += 1
            self.rows += entry.rows
            heapq.heappush(self._heap, (entry.lower, -self.serial, entry))

    def _pop(self) -> Entry:
        entry = heapq.heappop(self._heap)[2]
        self.rows -= entry.rows
        return entry


def is_suspect(entry: Entry) -> bool:
    """Whether the supervisor is to expand it."""
    return entry.losses >= PATIENCE and entry.rows == 1
