"""Executors of :mod:`concurrent.futures`: the user's pool of processes or threads, on this machine or on others.

Such a pool can neither be told a new cutoff nor be asked for a unit back, so that its units are short. When a process
of a pool dies, the whole pool is broken, and all its units with it: another one like it is made, and they are leased
again.
"""

from __future__ import annotations

import concurrent.futures as cf
import os
import pickle
import uuid
from typing import Any

from dsprog.run.workers.elsewhere import work_elsewhere
from dsprog.run.workers.executor import Done, Failed, Guest, Lost, News, WorkersGone
from dsprog.run.workers.unit import Job, Unit

BROKEN = 5  # pools in a row that break before a unit is answered, after which no other is made


class PoolWorkers(Guest):
    """A :class:`concurrent.futures.Executor`."""

    longest = 0.5

    def __init__(self, pool: cf.Executor) -> None:
        self.pool, self._own = pool, False
        self.size = int(getattr(pool, "_max_workers", 0) or os.cpu_count() or 1)
        self._running: dict[cf.Future[Any], tuple[int, Unit]] = {}
        self._lost: list[News] = []
        self._token, self._job, self._known, self._broken = "", b"", 0, 0

    def start(self, job: Job) -> None:
        """Remember a search, which goes along with the first units."""
        self._token, self._job, self._known = uuid.uuid4().hex, pickle.dumps(job), 0
        self._running = {}

    @property
    def ready(self) -> int:
        """A pool starts its workers by itself."""
        return self.size

    def _send(self, number: int, unit: Unit, job: bytes | None) -> None:
        try:
            future = self.pool.submit(work_elsewhere, self._token, job, number, unit)
        except RuntimeError as error:  # a broken pool, or one that was shut down
            self._lost.append(Lost(number, f"the pool takes no more work: {error}"))
            self._renew(error)
        else:
            self._running[future] = (number, unit)

    def poll(self, seconds: float) -> list[News]:
        """Answers so far."""
        news, self._lost = self._lost, []
        done, _ = cf.wait(list(self._running), 0.0 if news else seconds, cf.FIRST_COMPLETED)
        for future in done:
            news += self._heard(*self._running.pop(future), future)
        return news

    def _heard(self, number: int, unit: Unit, future: cf.Future[Any]) -> list[News]:
        error = future.exception() if not future.cancelled() else cf.CancelledError()
        if isinstance(error, (cf.BrokenExecutor, cf.CancelledError)):
            self._renew(error)
            return [Lost(number, f"the pool broke: {error}")]
        if error is not None:
            return [Failed(number, error)]
        found = future.result()
        if found is None:  # a worker that does not know the search yet
            self._send(number, unit, self._job)
            return []
        self._broken = 0
        return [Done(number, found[1], found[0])]

    def _renew(self, error: BaseException) -> None:
        """Another pool of processes in the place of a broken one."""
        if not is_broken(self.pool):
            return
        self._broken += 1
        if self._broken > BROKEN or not isinstance(self.pool, cf.ProcessPoolExecutor):
            raise WorkersGone(f"the pool is broken: {error}")
        if self._own:
            self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool, self._own, self._known = cf.ProcessPoolExecutor(self.size, like(self.pool)), True, 0

    def tell_cutoff(self, cutoff: float) -> None:
        """Units to come bring it along."""

    def recall(self, number: int) -> None:
        """Units are short."""

    def stop(self) -> None:
        """Those that did not begin are taken back."""
        for future in self._running:
            future.cancel()

    def replace(self, number: int) -> None:
        """Forget a unit: its worker cannot be reached."""
        for future, (known, _) in list(self._running.items()):
            if known == number:
                del self._running[future]
                self._lost.append(Lost(number, "it is given to another worker"))

    def close(self) -> None:
        """A pool that was made here ends; the user's stays."""
        if self._own:
            self.pool.shutdown(wait=False, cancel_futures=True)


def is_broken(pool: cf.Executor) -> bool:
    """Whether a pool takes no more work."""
    return bool(getattr(pool, "_broken", False) or getattr(pool, "_shutdown", False))


def like(pool: cf.ProcessPoolExecutor) -> Any:
    """How a pool starts its processes."""
    return getattr(pool, "_mp_context", None)
