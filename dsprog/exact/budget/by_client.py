"""The maxima and survivals of rewards by client, for problems whose clients are about few elements each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.gain_model import Clients
from dsprog.core.validation import Floats, Ints

SPARSE = 4  # times the entries of a table that has them all: gains are kept up to date if a table has fewer


class ByClient(NamedTuple):
    """Entries of the client at place i lie between ``heads[i]`` and ``heads[i + 1]``; all empty where not sparse."""

    heads: Ints
    members: Ints
    amounts: Floats
    hazards: Floats  # nothing if there are no survivals

    def largest_gains(self, clients: Clients, n: int) -> Floats:
        """What each element adds to these clients at most, alone."""
        scale = np.where(np.arange(len(self.heads) - 1) < clients.offsets[1], 1.0, clients.first[: len(self.heads) - 1])
        gains = np.zeros(n)
        np.add.at(gains, self.members, self.amounts * np.repeat(scale, np.diff(self.heads)))
        return gains


def by_client_of(clients: Clients, n: int) -> ByClient:
    """The same entries in another order; nothing where there are many, or curves."""
    ends = clients.indptr[:2, [0, n]]
    count = int((ends[:, 1] - ends[:, 0]).sum())
    if count == 0 or clients.offsets[3] > clients.offsets[2] or SPARSE * count > n * int(clients.offsets[2]):
        return ByClient(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
    elements = np.concatenate([np.repeat(np.arange(n), np.diff(row)) for row in clients.indptr[:2]])
    entries = np.concatenate([np.arange(first, last) for first, last in ends])
    order = np.argsort(clients.rows[entries], kind="stable")
    heads = np.searchsorted(clients.rows[entries][order], np.arange(clients.offsets[2] + 1))
    hazards = clients.hazards[entries][order] if len(clients.hazards) else np.zeros(0)
    return ByClient(heads, elements[order], clients.data[entries][order], hazards)


def prices_of(clients: Clients, n: int) -> int:
    """How many prices there are: for rewards that are sparse survivals alone."""
    only_survivals = clients.offsets[1] == 0 and clients.offsets[2] > 0
    return len(by_client_of(clients, n).members) if only_survivals else 0
