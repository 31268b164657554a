"""The worker's side where an executor of the user's runs the units: a function of plain data, in any process or thread.

The search itself travels once to each worker: a unit that comes to one that does not know it is sent back, and comes
again with the search. What the supervisor broadcasts, where it can, is kept here by the token of the search.
"""

from __future__ import annotations

import math
import os
import pickle
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

from dsprog.core.validation import Floats, Masks
from dsprog.run.blas import one_blas_thread
from dsprog.run.workers.link import Link
from dsprog.run.workers.unit import Unit, UnitAnswer, Worktop

Report = Callable[[str, int, Masks, Floats, float], None]


@dataclass(frozen=True)
class Words:
    """What the supervisor said last: a cutoff, the last lease that is to stop, and those that are wanted back."""

    cutoff: float = math.inf
    stop: int = -1
    wanted: tuple[int, ...] = ()


SILENCE = Words()
WORDS: dict[str, Words] = {}  # of the latest searches, by their tokens
MOST_WORDS = 16
LOCAL = threading.local()  # the desk of each thread, and the token of its search


def hear(token: str, words: Words) -> None:
    """Take note of what the supervisor said."""
    WORDS[token] = words
    while len(WORDS) > MOST_WORDS:
        del WORDS[next(iter(WORDS))]


class HeardLink(Link):
    """The words of a broadcast, if there is one."""

    def __init__(self, token: str, tell: Report | None) -> None:
        super().__init__()
        self.token, self.tell = token, tell

    @property
    def words(self) -> Words:
        """What was heard last."""
        return WORDS.get(self.token, SILENCE)

    def cutoff(self) -> float:
        """The best cutoff that anybody knows."""
        return self.words.cutoff

    def recalled(self) -> bool:
        """Whether this unit is wanted back."""
        return self.number in self.words.wanted

    def stopped(self) -> bool:
        """Whether all stop at once."""
        return 0 < self.number <= self.words.stop

    def report(self, masks: Masks, values: Floats, lower: float = -math.inf) -> None:
        """Send sets ahead of the answer, where that is possible."""
        if self.tell is not None:
            self.tell(self.token, self.number, masks, values, lower)


def worker_name() -> str:
    """Of the machine, the process and the thread."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident() % 100_000}"


def work_elsewhere(
    token: str, job: bytes | None, number: int, unit: Unit, tell: Report | None = None
) -> tuple[str, UnitAnswer] | None:
    """The answer to a unit and who gave it; None if the search did not come along and is not known here."""
    with one_blas_thread():
        if getattr(LOCAL, "token", None) != token:
            if job is None:
                return None
            LOCAL.desk = pickle.loads(job).desk(HeardLink(token, tell))
            LOCAL.token = token
        desk: Worktop = LOCAL.desk
        return worker_name(), desk.work(number, unit)
