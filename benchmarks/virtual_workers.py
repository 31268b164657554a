"""More workers than there are cores: ``python -m benchmarks.virtual_workers --workers 2,16 --instances A60.0,B60.0``.

The real supervisor shares a real search among workers that are threads of this process, of which one at a time runs:
the one whose clock is behind all others. A clock counts the CPU seconds of its thread, and 0.7 ms for every message, so
that what comes out is how long the search would take if each worker had a core of its own, whatever else this machine
does. It leaves out what cores share, caches and memory, and the start of processes. ``benchmarks.simulated_workers``
goes further, to thousands of workers, with recorded units in place of the search.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import machine, referee, table
from benchmarks.workers import build
from dsprog.run.workers.executor import Done, Executor, Failed, News, SetsFound
from dsprog.run.workers.link import Link
from dsprog.run.workers.unit import Job, Unit

LATENCY = 0.0007  # seconds of a message by a pipe
BOSS = -1  # the supervisor's place; those of workers count from 0


class Turns:
    """Of all threads with a clock the one whose clock is least may run."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.clocks: dict[int, float] = {BOSS: 0.0}
        self.running = BOSS

    def enter(self, place: int, clock: float) -> None:
        """A thread is to begin when all others have come so far."""
        with self.changed:
            self.clocks[place] = clock

    def wait(self, place: int, clock: float) -> None:
        """Until no other clock is behind this one."""
        with self.changed:
            self.clocks[place] = clock
            self._choose()
            while self.running != place:
                self.changed.wait()

    def leave(self, place: int) -> None:
        """A thread is over."""
        with self.changed:
            del self.clocks[place]
            self._choose()

    @property
    def next_of_others(self) -> float:
        """The least clock of the workers."""
        return min((clock for place, clock in self.clocks.items() if place != BOSS), default=math.inf)

    def _choose(self) -> None:
        first = min(self.clocks, key=self.clocks.__getitem__)
        if first != self.running:
            self.running = first
            self.changed.notify_all()


class VirtualLink(Link):
    """A worker's clock, and what it hears of messages that have arrived by it."""

    def __init__(self, workers: VirtualWorkers, place: int) -> None:
        super().__init__()
        self.workers, self.place, self.clock, self.cpu = workers, place, 0.0, 0.0
        self.is_timed = False  # what is done before the first unit is not

    def begin(self, number: int, seconds: float) -> None:
        super().begin(number, seconds)
        self.began = self.clock

    @property
    def elapsed(self) -> float:
        return self.clock - self.began

    def advance(self) -> None:
        """Count what was computed since the last time."""
        now = time.thread_time()
        self.clock, self.cpu = self.clock + now - self.cpu, now

    def yield_turn(self) -> None:
        """Go on when all others have come as far."""
        if not self.is_timed:
            return
        self.advance()
        self.workers.turns.wait(self.place, self.clock)
        self.cpu = time.thread_time()

    def over(self) -> bool:
        self.yield_turn()
        return super().over()

    def cutoff(self) -> float:
        return self.workers.told

    def recalled(self) -> bool:
        return self.workers.recalls.get(self.number, math.inf) + LATENCY <= self.clock

    def stopped(self) -> bool:
        return 0 < self.number <= self.workers.last_stopped

    def report(self, masks: Any, values: Any, lower: float = -math.inf) -> None:
        self.yield_turn()
        self.workers.send(self.clock, SetsFound(self.number, masks, values, lower))


class VirtualWorkers(Executor):
    """So many workers, each a thread while it has a unit; ``clock`` is the supervisor's."""

    def __init__(self, size: int) -> None:
        self.size, self.turns = size, Turns()
        self.clock, self.cpu, self.supervisor = 0.0, time.thread_time(), 0.0
        self.told, self.last_stopped = math.inf, -1
        self.recalls: dict[int, float] = {}
        self.busy: dict[int, int] = {}  # lease -> place
        self.work, self.units, self.messages = 0.0, 0, 0
        self._news: list[tuple[float, int, News]] = []

    def start(self, job: Job) -> None:
        self.advance()
        self.told, self.last_stopped = math.inf, -1
        data, self.links = pickle.dumps(job), [VirtualLink(self, place) for place in range(self.size)]
        self.desks = [pickle.loads(data).desk(link) for link in self.links]
        self.cpu = time.thread_time()  # each worker makes its desk, with nobody waiting

    @property
    def ready(self) -> int:
        return self.size

    @property
    def free(self) -> int:
        return self.size - len(self.busy)

    def submit(self, number: int, unit: Unit) -> None:
        data = pickle.dumps(unit)
        self.advance()
        place = min(set(range(self.size)) - set(self.busy.values()))
        self.busy[number] = place
        self.turns.enter(place, self.clock + LATENCY)
        threading.Thread(target=self.work_on, args=(number, place, data, self.clock + LATENCY), daemon=True).start()
        self.cpu = time.thread_time()

    def work_on(self, number: int, place: int, data: bytes, begin: float) -> None:
        """A unit, by a worker whose clock stands at its arrival."""
        link = self.links[place]
        self.turns.wait(place, begin)
        link.clock, link.cpu, link.is_timed = begin, time.thread_time(), True
        try:
            answer = self.desks[place].work(number, pickle.loads(data))
            news: News = Done(number, pickle.loads(pickle.dumps(answer)), f"worker {place}")
        except BaseException as error:
            news = Failed(number, error)
        link.advance()
        self.work, self.units = self.work + link.clock - begin, self.units + 1
        self.send(link.clock, news)
        self.turns.leave(place)

    def send(self, clock: float, news: News) -> None:
        """A message to the supervisor."""
        self.messages += 1
        heapq.heappush(self._news, (clock + LATENCY, self.messages, news))

    def advance(self) -> None:
        """Count what the supervisor computed since the last time."""
        spent = time.thread_time() - self.cpu
        self.clock, self.supervisor, self.cpu = self.clock + spent, self.supervisor + spent, time.thread_time()

    def poll(self, seconds: float) -> list[News]:
        self.advance()
        self.clock = self._sleep(self.clock, self.clock + seconds)
        heard = []
        while self._news and self._news[0][0] <= self.clock:
            heard.append(heapq.heappop(self._news)[2])
            if isinstance(heard[-1], (Done, Failed)):
                self.busy.pop(heard[-1].number, None)
                self.recalls.pop(heard[-1].number, None)
        self.turns.enter(BOSS, self.clock)
        self.cpu = time.thread_time()
        return heard

    def _sleep(self, now: float, until: float) -> float:
        """Let the workers go on until the first message arrives, or it is late enough; when that is."""
        while True:
            arrives, others = self._news[0][0] if self._news else math.inf, self.turns.next_of_others
            if arrives <= now or arrives <= min(others, until):
                return max(now, arrives)
            if others >= until:
                return until
            self.turns.wait(BOSS, min(until, math.nextafter(others, math.inf)))

    def tell_cutoff(self, cutoff: float) -> None:
        self.told = cutoff

    def recall(self, number: int) -> None:
        self.advance()
        self.recalls[number] = self.clock

    def stop(self) -> None:
        self.last_stopped = max(self.busy, default=-1)

    def replace(self, number: int) -> None:
        return

    def close(self) -> None:
        return


def run_row(name: str, problem: ds.Problem, workers: int, alone: float) -> dict[str, Any]:
    """One shared run; ``cpu`` counts the workers together, ``supervisor`` what it did itself, its start included."""
    executor = VirtualWorkers(workers)
    result = ds.minimize(problem, workers=executor)
    executor.advance()
    return {
        "instance": name, "workers": workers, "alone": alone, "seconds": executor.clock,
        "speed-up": alone / executor.clock, "efficiency": alone / executor.clock / workers, "nodes": result.nodes,
        "cpu": executor.work, "supervisor": executor.supervisor, "units": executor.units, "status": result.status,
        **referee(problem.objective, result.S, result.lower_bound),
    }  # fmt: skip


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for name in options.instances.split(","):
        problem = build(name)
        ds.minimize(problem, time_limit=1.0)  # kernels are loaded
        began = time.thread_time()
        ds.minimize(problem)
        alone = time.thread_time() - began
        for workers in (int(w) for w in options.workers.split(",")):
            rows.append(run_row(name, problem, workers, alone))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
            options.out.mkdir(parents=True, exist_ok=True)
            saved = {"machine": machine(), "latency": LATENCY, "rows": rows}
            (options.out / "virtual_workers.json").write_text(json.dumps(saved, indent=1, default=np.ndarray.tolist))
    return rows


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", default="A60.0,A60.1,B60.0,E44.1,g05_80.3,LS.1", help="as in benchmarks.workers")
    parser.add_argument("--workers", default="2,4,16,64")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/workers"))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(table(run(parsed())))
