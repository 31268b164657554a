"""A Dask cluster: processes here, on many machines, or in a batch system, behind one :class:`dask.distributed.Client`.

Dask sends functions by cloudpickle, so that callables of any kind reach its workers, and runs the tasks of a dead
worker again by itself. After some deaths it gives a task up (``KilledWorker``), which is a lost lease here. A new
cutoff, and the leases that are wanted back, are broadcast; sets come back at once as events.
"""

from __future__ import annotations

import math
import pickle
import queue
import time
import uuid
from typing import Any

from dsprog.core.validation import Floats, Masks
from dsprog.run.workers.elsewhere import Words, hear, work_elsewhere
from dsprog.run.workers.executor import Done, Failed, Guest, Lost, News, SetsFound, WorkersGone
from dsprog.run.workers.unit import Job, Unit

SECONDS_BETWEEN_COUNTS = 2.0  # of the threads of a cluster, which may grow and shrink
SECONDS_WITHOUT_WORKERS = 60.0
TOPIC = "dsprog"


def tell_by_event(token: str, number: int, masks: Masks, values: Floats, lower: float) -> None:
    """Send sets to the client as an event."""
    from distributed import get_worker

    get_worker().log_event(TOPIC, {"token": token, "sets": pickle.dumps((number, masks, values, lower))})


class DaskWorkers(Guest):
    """The threads of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._news: queue.SimpleQueue = queue.SimpleQueue()
        self._running: dict[int, tuple[Any, Unit]] = {}
        self._token, self._job, self._known = "", b"", 0
        self._words, self._counted, self._seen = Words(), -math.inf, time.perf_counter()
        self._threads = 0
        client.subscribe_topic(TOPIC, self._event)

    @property
    def size(self) -> int:  # type: ignore[override]
        """Threads of the cluster now; at least one, since it may be starting."""
        now = time.perf_counter()
        if now - self._counted >= SECONDS_BETWEEN_COUNTS:
            self._counted, self._threads = now, sum(self.client.nthreads().values())
            self._seen = now if self._threads else self._seen
        return max(1, self._threads)

    def start(self, job: Job) -> None:
        """Remember a search, which goes along with the first units."""
        import cloudpickle

        self._token, self._job, self._known = uuid.uuid4().hex, cloudpickle.dumps(job), 0
        self._words, self._running = Words(), {}
        self._news = queue.SimpleQueue()  # sets of the search before are none of this one

    @property
    def ready(self) -> int:
        """Threads of the cluster now."""
        return self.size if self._threads else 0

    def _send(self, number: int, unit: Unit, job: bytes | None) -> None:
        name = f"dsprog-{self._token[:8]}-{number}-{uuid.uuid4().hex[:6]}"
        words = (self._token, job, number, unit, tell_by_event)
        future = self.client.submit(work_elsewhere, *words, key=name, pure=False)
        self._running[number] = (future, unit)
        future.add_done_callback(lambda done: self._news.put((number, done)))

    def poll(self, seconds: float) -> list[News]:
        """What happened."""
        heard: list[News] = []
        try:
            while True:
                number, future = self._news.get(timeout=seconds) if seconds > 0 else self._news.get_nowait()
                seconds = 0.0
                heard += self._heard(number, future)
        except queue.Empty:
            pass
        if self.size and not self._threads and time.perf_counter() - self._seen > SECONDS_WITHOUT_WORKERS:
            raise WorkersGone(f"the cluster had no worker for {SECONDS_WITHOUT_WORKERS:.0f} s")
        return heard

    def _heard(self, number: int, future: Any) -> list[News]:
        if number < 0:  # an event
            return [SetsFound(*pickle.loads(future))]
        known = self._running.get(number)
        if known is None or known[0] is not future:
            return []
        del self._running[number]
        if future.status != "finished":
            return [self._trouble(number, future)]
        found = future.result()
        if found is None:  # a worker that does not know the search yet
            self._send(number, known[1], self._job)
            return []
        return [Done(number, found[1], found[0])]

    def _trouble(self, number: int, future: Any) -> News:
        from distributed import KilledWorker

        error = future.exception() if future.status == "error" else None
        if error is None or isinstance(error, KilledWorker):
            return Lost(number, f"the cluster gave a unit up ({future.status})")
        return Failed(number, error)

    def _event(self, event: Any) -> None:
        data = event[1] if isinstance(event, tuple) else event
        if isinstance(data, dict) and data.get("token") == self._token:
            self._news.put((-1, data["sets"]))

    def tell_cutoff(self, cutoff: float) -> None:
        """Broadcast a better cutoff."""
        self._broadcast(Words(cutoff, self._words.stop, self._words.wanted))

    def recall(self, number: int) -> None:
        """Broadcast which units are wanted back."""
        wanted = (*(known for known in self._words.wanted if known in self._running), number)
        self._broadcast(Words(self._words.cutoff, self._words.stop, wanted))

    def stop(self) -> None:
        """Broadcast that all units so far are to come back."""
        self._broadcast(Words(self._words.cutoff, max(self._running, default=-1), ()))

    def _broadcast(self, words: Words) -> None:
        self._words = words
        self.client.run(hear, self._token, words, wait=False, on_error="ignore")

    def replace(self, number: int) -> None:
        """Cancel a unit: whatever its worker still says is not heard."""
        future, _ = self._running.pop(number)
        future.cancel()
        self._news.put((number, future))
        self._running[number] = (future, Unit([], math.inf, 0.0))

    def close(self) -> None:
        """The cluster is the user's."""
        self.client.unsubscribe_topic(TOPIC)
