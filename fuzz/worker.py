"""Cases run in a process of their own, which is started again if it dies or hangs."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from fuzz.cases import Case
from fuzz.claims import check
from fuzz.generators import random_case
from fuzz.shrink import shrink

HANG = 60.0  # seconds of a case; every call in it has a time limit of a few
SHRINKING = 40.0  # seconds for making a failing case smaller


@dataclass(frozen=True)
class Outcome:
    """What came of a case: how it ended, what was wrong, and a smaller case that is wrong in the same way."""

    ended: str
    failures: list[str] = field(default_factory=list)
    smaller: Case | None = None


def kinds(failures: list[str]) -> set[str]:
    """The words before the colons."""
    return {failure.partition(":")[0] for failure in failures}


def run_case(case: Case) -> Outcome:
    """Check a case and shrink it if it fails."""
    failures, ended = check(case)
    if not failures:
        return Outcome(ended)
    end = time.monotonic() + SHRINKING
    smaller = shrink(case, lambda other: time.monotonic() < end and kinds(failures) <= kinds(check(other)[0]))
    return Outcome(ended, check(smaller)[0] or failures, smaller)


def serve(connection: Connection) -> None:
    """Answer (seed, index) with an outcome until told to stop."""
    while True:
        asked = connection.recv()
        if asked is None:
            return
        connection.send(run_case(random_case(*asked)))


class Worker:
    """A process that checks cases."""

    def __init__(self, hang: float = HANG + SHRINKING) -> None:
        self.hang = hang
        self._begin()

    def _begin(self) -> None:
        self.connection, other = multiprocessing.get_context("spawn").Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()  # so that the end of the process is the end of the pipe

    def check(self, seed: int, index: int) -> Outcome:
        """The outcome of a case; a process that died or hangs is one, too."""
        self.connection.send((seed, index))
        try:
            if self.connection.poll(self.hang):
                outcome: Outcome = self.connection.recv()
                return outcome
            self.process.kill()
            outcome = Outcome("hang", [f"hang: no answer after {self.hang:.0f} seconds"])
        except (EOFError, ConnectionError):
            self.process.join()
            outcome = Outcome("crash", [f"crash: the process ended with code {self.process.exitcode}"])
        self._begin()
        return outcome

    def close(self) -> None:
        """Let the process end."""
        self.connection.send(None)
        self.process.join(5)
