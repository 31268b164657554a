"""How far a search could be shared: ``python -m benchmarks.simulated_workers --out FOLDER``.

A real search is recorded as a tree of units: how many nodes each looked at, and whose answers its nodes came from. The
simulator then lets w workers do the tree again, with units of two seconds: a unit can begin when the answers are there
that its nodes came from; every unit costs the one supervisor some time, one after the other, and a message some
latency. Larger searches are made of copies of the recorded tree below a common root. Nothing here depends on how fast
or how busy the machine is, apart from the supervisor's cost of a unit, which is measured.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import pickle
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
import dsprog.run.workers.crew as crew
from benchmarks.harness import machine, table
from benchmarks.workers import build
from dsprog.run.workers.executor import Done, Executor, News
from dsprog.run.workers.link import Link
from dsprog.run.workers.unit import Job, Unit, Worktop
from dsprog.run.workers.work_ledger import WorkLedger

SECONDS_OF_A_UNIT, SECONDS_OF_THE_FIRST = 2.0, 0.05
TAG = "unit"  # the array that says whose answer a node came from


class Silent(Link):
    def cutoff(self) -> float:
        return math.inf

    def recalled(self) -> bool:
        return False

    def stopped(self) -> bool:
        return False

    def report(self, masks: Any, values: Any, lower: float = -math.inf) -> None:
        return


@dataclass
class Recorder(Executor):
    """One worker in this process that writes down each unit: its nodes, and the units that its own came from."""

    nodes: int
    size: int = 1
    units: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    desk: Worktop | None = None
    waiting: list[tuple[int, Unit]] = field(default_factory=list)

    def start(self, job: Job) -> None:
        self.desk = job.desk(Silent())

    @property
    def ready(self) -> int:
        return 1

    @property
    def free(self) -> int:
        return 1 - len(self.waiting)

    def submit(self, number: int, unit: Unit) -> None:
        self.waiting.append((number, unit))

    def poll(self, seconds: float) -> list[News]:
        if not self.waiting or self.desk is None:
            return []
        number, unit = self.waiting.pop()
        tags = [int(tag) for bundle in unit.bundles for tag in bundle.pop(TAG, ())]
        answer = self.desk.work(number, Unit(unit.bundles, unit.cutoff, math.inf, unit.left, self.nodes))
        for bundle in answer.bundles:
            bundle[TAG] = np.full(len(bundle["lower"]), len(self.units))
        self.units.append((answer.nodes, tuple(sorted(set(tags)))))
        return [Done(number, answer, "recorder")]

    def tell_cutoff(self, cutoff: float) -> None:
        return

    def recall(self, number: int) -> None:
        return

    stop = replace = close = lambda self, *number: None  # type: ignore[assignment]


def recorded(name: str, nodes: int) -> list[tuple[int, tuple[int, ...]]]:
    """The units of a real run, each of about so many nodes."""
    recorder = Recorder(nodes)
    patience, crew.PATIENCE, crew.WARM_PATIENCE = (crew.PATIENCE, crew.WARM_PATIENCE), 0.0, 0.0
    try:
        problem = build(name)
        solver = ds.BranchAndBound(unit=nodes, batch=max(1, nodes // 8)) if name[0] in "AB" else None
        ds.minimize(problem, solver, workers=recorder)
    finally:
        crew.PATIENCE, crew.WARM_PATIENCE = patience
    return recorder.units


def supervisor_cost(n: int = 60, rows: int = 1000, repeats: int = 200) -> float:
    """CPU seconds of the supervisor for one unit: unpickle an answer, enter its nodes, lease, pickle a unit."""
    node = {"lower": np.zeros(rows), f"bits:{n}:I": np.zeros((rows, (n + 7) // 8), dtype=np.uint8)}
    node |= {f"bits:{n}:U": node[f"bits:{n}:I"], "single:x": np.zeros((rows, n), dtype=np.float32)}
    ledger, answer = WorkLedger(), pickle.dumps([node])
    ledger.enter(node)
    began = time.process_time()
    for _ in range(repeats):
        lease = ledger.lease(rows)
        if lease is not None:
            pickle.dumps(Unit(lease.bundles, 0.0, 2.0))
            ledger.answer(lease.number, pickle.loads(answer), 0.0)
    return (time.process_time() - began) / repeats


def grown(units: list[tuple[int, tuple[int, ...]]], copies: int) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
    """The work of each unit (1 is the mean), whom its answer lets begin, and for how many it waits.

    The root of all is split in two again and again until there is a piece for each copy, as a search does at its start.
    """
    first = SECONDS_OF_THE_FIRST / SECONDS_OF_A_UNIT  # units are short as long as there are few
    work, parents = [first] * copies, [()] + [((k - 1) // 2,) for k in range(1, copies)]
    mean = float(np.mean([nodes for nodes, _ in units])) or 1.0
    for copy in range(copies):
        base = len(work)
        work += [nodes / mean for nodes, _ in units]
        parents += [tuple(base + p for p in before) or (copy,) for _, before in units]
    followers: list[list[int]] = [[] for _ in work]
    for unit, before in enumerate(parents):
        for parent in before:
            followers[parent].append(unit)
    return np.array(work), followers, np.array([len(before) for before in parents])


def simulated(tree: Any, workers: int, cost: float, latency: float, supervisors: int = 1) -> float:
    """The efficiency of some workers on a tree of units."""
    work, followers, missing = tree[0] * SECONDS_OF_A_UNIT, tree[1], tree[2].copy()
    ready = deque([0])  # first come, first served
    idle, busy_until = workers, [0.0] * supervisors  # when each supervisor has handled what came before
    heapq.heapify(busy_until)
    events: list[tuple[float, int]] = []
    now = end = 0.0
    while ready or events:
        while ready and idle:
            unit = ready.popleft()
            idle -= 1
            handled = max(now, heapq.heappop(busy_until)) + cost
            heapq.heappush(busy_until, handled)
            heapq.heappush(events, (handled + latency + work[unit], unit))
        now, unit = heapq.heappop(events)
        idle, end = idle + 1, max(end, now)
        for follower in followers[unit]:
            missing[follower] -= 1
            if missing[follower] == 0:
                ready.append(follower)
    return float(work.sum() / (workers * end))


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    cost = supervisor_cost()
    print(f"the supervisor's cost of a unit with 1,000 open nodes: {1e3 * cost:.2f} ms of CPU")
    rows = []
    for name, nodes in (entry.split(":") for entry in options.instances.split(",")):
        units = recorded(name, int(nodes))
        mean = np.mean([count for count, _ in units])
        print(f"{name}: {len(units)} units of {mean:.0f} nodes", flush=True)
        for workers in (int(w) for w in options.workers.split(",")):
            copies = math.ceil(workers * options.minutes * 60 / SECONDS_OF_A_UNIT / len(units))
            tree = grown(units, copies)
            row: dict[str, Any] = {"tree": name, "workers": workers, "units": len(tree[0])}
            for label, c, latency in (("free", 0.0, 0.0), ("pipes", cost, 1e-3), ("Dask", 0.013, 0.02)):
                row[label] = round(simulated(tree, workers, c, latency), 3)
            row["8 supervisors"] = round(simulated(tree, workers, cost, 1e-3, supervisors=8), 3)
            rows.append(row)
            print(table([row]).splitlines()[-1], flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    saved = {"machine": machine(), "cost": cost, "minutes": options.minutes, "rows": rows}
    (options.out / "simulated_workers.json").write_text(json.dumps(saved, indent=1))
    return rows


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", default="A50.50:100,B50.0:100,LS.0:4", help="name:nodes of a unit, ...")
    parser.add_argument("--workers", default="100,1000,10000")
    parser.add_argument("--minutes", type=float, default=2.0, help="how long the simulated search would take, ideally")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/workers"))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(table(run(parsed())))
