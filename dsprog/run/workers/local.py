"""Processes on this machine.

Each worker is a spawned process with a pipe of its own, so that the death of one does not disturb the others, as it
does in the pools of :mod:`concurrent.futures`. One block of shared memory holds the cutoff, the last lease that is to
stop at once, and for each worker the lease that is wanted back: they are read every batch, and cost no message. It has
no name, and goes when the last process does.

A worker ignores Ctrl-C, which is the supervisor's business, and ends when its pipe does: a supervisor that is killed
leaves no process behind.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import stand_at
from dsprog.run.blas import one_blas_thread
from dsprog.run.workers.executor import Done, Executor, Failed, Lost, News, SetsFound, WorkersGone
from dsprog.run.workers.link import Link
from dsprog.run.workers.unit import Job, Unit, Worktop, describe

CUTOFF, STOP, FIRST = 0, 1, 2  # places in the shared block; from FIRST on, the lease that each worker is to hand back
STILLBORN = 3  # workers in a row that end before they begin, after which no more are started
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
GRACE = 0.5  # seconds for a process to end before it is killed


# -- in the worker --------------------------------------------------------------------------------------------------


class SharedLink(Link):
    """The words of the supervisor in shared memory, sets by the pipe."""

    def __init__(self, place: int, shared: Any, pipe: Connection) -> None:
        super().__init__()
        self.place, self.shared, self.pipe, self.job = place, shared, pipe, 0

    def cutoff(self) -> float:
        """The best cutoff that anybody knows."""
        return float(self.shared[CUTOFF])

    def recalled(self) -> bool:
        """Whether this unit is wanted back."""
        return bool(self.shared[FIRST + self.place] == self.number)

    def stopped(self) -> bool:
        """Whether all stop at once."""
        return bool(0 < self.number <= self.shared[STOP])

    def report(self, masks: Masks, values: Floats, lower: float = -math.inf) -> None:
        """Send sets ahead of the answer, and the bound of a whole solve."""
        self.pipe.send(("found", self.job, self.number, masks, values, lower))


def serve(place: int, shared: Any, pipe: Connection) -> None:
    """The life of a worker: one message after the other, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stand_at(place)
    messages: queue.SimpleQueue = queue.SimpleQueue()
    link = SharedLink(place, shared, pipe)
    threading.Thread(target=listen, args=(pipe, messages, link), daemon=True).start()
    desk: Worktop | None = None
    with one_blas_thread():
        while True:
            kind, number, data = messages.get()
            try:
                if kind == "job":
                    link.job = number
                    desk = pickle.loads(data).desk(link)
                    pipe.send(("hello", number))
                else:
                    pipe.send(("answer", link.job, number, working(desk).work(number, data)))
            except BaseException as error:
                pipe.send(("failed", link.job, number if kind == "unit" else 0, describe(error)))


def listen(pipe: Connection, messages: queue.SimpleQueue, link: Link) -> None:
    """Take messages as they come; without a supervisor there is nothing left to do, whatever is being computed."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            message = ("end",)
        if message[0] == "end":
            os._exit(0)
        if message[0] == "sets":
            link.inbox.append(message[1:])
        else:
            messages.put(message)


def working(desk: Worktop | None) -> Worktop:
    """The desk, which the first message made."""
    if desk is None:
        raise RuntimeError("a unit came before its search")
    return desk


# -- in the supervisor ----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Worker:
    """A process, its pipe, the thread that writes to it, and the lease it works on."""

    name: str
    place: int
    process: Any
    pipe: Connection
    outgoing: queue.SimpleQueue
    lease: int | None = None
    greeted: bool = False

    @property
    def is_free(self) -> bool:
        """Whether it is there and has nothing to do."""
        return self.greeted and self.lease is None


class LocalProcesses(Executor):
    """Some processes on this machine."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._context = multiprocessing.get_context("spawn")
        self._shared = self._context.RawArray("d", FIRST + size)
        self._shared[CUTOFF], self._shared[STOP] = math.inf, -1.0
        self._news: queue.SimpleQueue[tuple[Worker, Any]] = queue.SimpleQueue()  # None: its pipe ended
        self._heard: list[News] = []
        self._workers: dict[int, Worker] = {}
        self._job, self._number = b"", 0  # the search that all work on, and its number
        self._names = (f"process {k}" for k in itertools.count(1))
        self._stillborn = 0

    def start(self, job: Job) -> None:
        """Send a search to all workers, and start those that are not there yet."""
        self._job = pickle.dumps(job)
        self._number += 1
        self._heard.clear()  # news of the search before, if it ended without listening
        self._shared[CUTOFF] = math.inf
        for place in range(self.size):
            if place in self._workers:
                self._workers[place].outgoing.put(("job", self._number, self._job))
            else:
                self._hire(place)

    @property
    def ready(self) -> int:
        """How many workers are there."""
        self._drain()
        return sum(worker.greeted for worker in self._workers.values())

    @property
    def free(self) -> int:
        """How many have nothing to do."""
        return sum(worker.is_free for worker in self._workers.values())

    @property
    def pids(self) -> list[int]:
        """The processes that are alive, by their numbers in the system."""
        return [worker.process.pid for worker in self._workers.values()]

    def submit(self, number: int, unit: Unit) -> None:
        """Give a unit to a free worker."""
        worker = next(worker for worker in self._workers.values() if worker.is_free)
        worker.lease = number
        worker.outgoing.put(("unit", number, unit))

    def poll(self, seconds: float) -> list[News]:
        """What happened."""
        self._drain(seconds)
        heard, self._heard = self._heard, []
        return heard

    def tell_cutoff(self, cutoff: float) -> None:
        """Write the cutoff where all workers read it."""
        self._shared[CUTOFF] = cutoff

    def recall(self, number: int) -> None:
        """Write the lease where its worker reads it."""
        for worker in self._workers.values():
            if worker.lease == number:
                self._shared[FIRST + worker.place] = number

    def share(self, masks: Masks, values: Floats) -> None:
        """Send sets to all that work."""
        for worker in self._workers.values():
            if worker.lease is not None:
                worker.outgoing.put(("sets", masks, values))

    def stop(self) -> None:
        """Every lease so far is to come back."""
        self._shared[STOP] = max([worker.lease or 0 for worker in self._workers.values()], default=0)

    def replace(self, number: int) -> None:
        """Kill the worker; the end of its pipe is the news that the lease is lost."""
        for worker in self._workers.values():
            if worker.lease == number:
                worker.process.kill()

    def close(self) -> None:
        """End all processes: their pipes end, and whoever is still there after a moment is killed."""
        workers = list(self._workers.values())
        self._workers = {}
        for worker in workers:
            worker.outgoing.put(("end",))
            worker.outgoing.put(None)
            if not worker.is_free:
                worker.process.kill()
        for worker in workers:
            worker.process.join(GRACE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()

    # -- news -------------------------------------------------------------------------------------------------------

    def _drain(self, seconds: float = 0.0) -> None:
        """Take in all messages that are there, the first of them after some seconds at most."""
        with contextlib.suppress(queue.Empty):
            while True:
                worker, message = self._news.get(timeout=seconds) if seconds > 0 else self._news.get_nowait()
                seconds = 0.0
                if self._workers.get(worker.place) is worker:
                    self._heard += self._understood(worker, message)

    def _understood(self, worker: Worker, message: Any) -> list[News]:
        """What a message says of the present search; those of an earlier one only tell that a worker is free."""
        if message is None:
            return self._buried(worker)
        kind, job, *rest = message
        if kind == "hello":
            worker.greeted, self._stillborn = True, 0
            return []
        if kind == "found":
            return [SetsFound(*rest)] if job == self._number else []
        worker.greeted, worker.lease = True, None  # one that failed to begin a search is there, too
        if job != self._number:
            return []
        number, said = rest
        return [Failed(number, said)] if kind == "failed" else [Done(number, said, worker.name)]

    def _buried(self, worker: Worker) -> list[News]:
        """Its process ended: its lease is lost, and another takes its place."""
        worker.process.join()
        code = worker.process.exitcode
        worker.process.close()
        worker.outgoing.put(None)
        del self._workers[worker.place]
        if not worker.greeted:
            self._stillborn += 1
        if self._stillborn >= STILLBORN:
            if not self._workers:
                raise WorkersGone(f"{STILLBORN} processes in a row ended before they began, the last with {code}")
        else:
            self._hire(worker.place)
        return [] if worker.lease is None else [Lost(worker.lease, f"{worker.name} ended with exit code {code}")]

    # -- processes --------------------------------------------------------------------------------------------------

    def _hire(self, place: int) -> None:
        """Start a process; Ctrl-C does not reach it."""
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(place, self._shared, theirs), daemon=True)
        with sigint_blocked(), one_thread_environment(), main_module_hidden(b"__main__" not in self._job):
            process.start()
        theirs.close()
        worker = Worker(next(self._names), place, process, ours, queue.SimpleQueue())
        self._workers[place] = worker
        worker.outgoing.put(("job", self._number, self._job))
        for target in (self._write, self._read):
            threading.Thread(target=target, args=(worker,), daemon=True).start()

    def _write(self, worker: Worker) -> None:
        """Send what is to be sent; a process that does not read delays nobody but itself."""
        with contextlib.suppress(OSError, ValueError):
            while (message := worker.outgoing.get()) is not None:
                worker.pipe.send(message)

    def _read(self, worker: Worker) -> None:
        """Take what comes, and say when it ends."""
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                self._news.put((worker, worker.pipe.recv()))
        self._news.put((worker, None))  # the pipe is closed with the last who holds it: another thread may write to it


@contextlib.contextmanager
def sigint_blocked() -> Iterator[None]:
    """A block in which SIGINT waits; a process that is started in it never gets one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def one_thread_environment() -> Iterator[None]:
    """A block in which a process that is started has one BLAS thread, in libraries that it loads later as well."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def main_module_hidden(wanted: bool) -> Iterator[None]:
    """A block in which a spawned process does not run the user's script again, as it would to find names of it."""
    main = sys.modules["__main__"]
    if wanted:
        sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
