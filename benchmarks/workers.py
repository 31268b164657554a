"""How a search gains from workers: ``python -m benchmarks.workers --workers 1,2,4 --instances A60.0,B60.0``.

Every instance is solved with each number of workers, one worker first, and rows are saved as they come; what does not
fit into ``--minutes`` is left out and said. Speed-up is the time with one worker over the time with w, efficiency is
speed-up over w; both with processes that are started for the call ("cold"), and with processes that were there before
("warm": ``--warm``). ``--ceiling`` also lets w processes solve the instance at the same time, each for itself, and says
what speed-up w cores of this machine allow, which may share caches or be halves of one core. The value is recomputed
from the functions. Kernels are compiled before anything is timed. ``--draw`` only draws what was saved. The units of
each run are kept for ``benchmarks.simulated_workers``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import machine, referee, table
from dsprog.applications import feature_selection_objective
from dsprog.core.problem import as_problem
from dsprog.experiments.instances import read_instance
from dsprog.generators import sparse_linear_model
from dsprog.run.workers.local import LocalProcesses

DEFAULT = "A60.0,A60.1,A60.2,B60.0,E36.0,g05_80.0,LS.0"
Row = dict[str, Any]


def build(name: str) -> ds.Problem:
    """An instance by its name.

    Family, n and seed (A60.0); a max-cut file (g05_80.0), or a graph that is drawn like it (cut80.0); least squares
    with a penalty of 0.01 (LS.0).
    """
    if name.startswith("g05"):
        return read_instance(Path(os.environ.get("DSPROG_DATA", "data")) / "qubo" / "maxcut" / name, "rudy")
    if name.startswith("cut"):
        n, seed = map(int, name[3:].split("."))
        upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1).astype(float)
        return as_problem(-1.0 * ds.Cut(upper + upper.T), ())
    if name.startswith("LS."):
        X, y = sparse_linear_model(np.random.default_rng(int(name[3:])), 150, 120, 10)[:2]
        return as_problem(feature_selection_objective(X, y, 0.01), ())
    letter, (n, seed) = name[0], map(int, name[1:].split("."))
    family = BENCHMARK_FAMILIES[letter]
    return as_problem(family.build(n, seed), family.constraints(n))


def run_row(name: str, workers: int, warm: bool, limit: float) -> Row:
    """One run: wall seconds of the solve, and what the workers did."""
    problem = build(name)
    pool: Any = LocalProcesses(workers) if warm and workers > 1 else workers
    try:
        if isinstance(pool, LocalProcesses):
            warm_up(pool, problem)
        started, cpu = time.perf_counter(), time.process_time()
        result = ds.minimize(problem, time_limit=limit, workers=pool)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    finally:
        if isinstance(pool, LocalProcesses):
            pool.close()
    shares = result.workers
    busy, worker_cpu = sum(share.seconds for share in shares), sum(share.cpu for share in shares)
    return {
        "instance": name, "workers": workers, "processes": "warm" if warm else "cold", "status": result.status,
        "seconds": seconds, "cpu": cpu + worker_cpu, "supervisor_cpu": cpu, "nodes": result.nodes, "busy": busy,
        "idle": 1.0 - sum(1.0 - share.idle for share in shares) / workers if shares else 0.0,
        "units": sum(share.units for share in shares), **referee(problem.objective, result.S, result.lower_bound),
    }  # fmt: skip


def warm_up(pool: LocalProcesses, problem: ds.Problem) -> None:
    """Start the processes of a pool: a run of a second on the problem does, and their kernels are loaded by then."""
    ds.minimize(problem, time_limit=0.5, workers=pool)
    until = time.perf_counter() + 60.0
    while pool.ready < pool.size and time.perf_counter() < until:
        time.sleep(0.05)


def ceiling(name: str, workers: int, alone: float) -> float:
    """The speed-up that so many cores allow: w times the seconds of a run alone over those of w runs side by side."""
    context = multiprocessing.get_context("spawn")
    together, seconds = context.Barrier(workers), context.Queue()
    copies = [context.Process(target=solve_beside, args=(name, together, seconds)) for _ in range(workers)]
    for copy in copies:
        copy.start()
    slowest = max(seconds.get() for _ in copies)
    for copy in copies:
        copy.join()
    return workers * alone / slowest


def solve_beside(name: str, together: Any, seconds: Any) -> None:
    """One of several runs that begin together."""
    problem = build(name)
    ds.minimize(problem, time_limit=2.0)  # kernels are loaded
    together.wait()
    started = time.perf_counter()
    ds.minimize(problem)
    seconds.put(time.perf_counter() - started)


def run(options: argparse.Namespace) -> list[Row]:
    """All rows that fit into the time, saved one by one."""
    began, rows = time.perf_counter(), []
    counts = sorted(int(count) for count in options.workers.split(","))
    for name in options.instances.split(","):
        if name.startswith("g05") and not (Path(os.environ.get("DSPROG_DATA", "data")) / "qubo/maxcut" / name).exists():
            print(f"{name} is left out: it is not under DSPROG_DATA; cut80.0 is a graph like it", flush=True)
            continue
        ds.minimize(build(name), time_limit=2.0)  # compile
        alone: Row | None = None
        for workers in counts:
            left = 60.0 * options.minutes - (time.perf_counter() - began)
            if left < (alone or {"seconds": 1.0})["seconds"] / workers + 5.0:
                print(f"{name} with {workers} workers is left out: {left:.0f} s are left", flush=True)
                continue
            row = run_row(name, workers, options.warm, min(left, options.limit))
            alone = row if workers == 1 else alone
            if alone is not None and "optimal" == row["status"] == alone["status"]:
                row["speed-up"] = alone["seconds"] / row["seconds"]
                row["efficiency"] = row["speed-up"] / workers
                if options.ceiling and workers > 1:
                    row["ceiling"] = ceiling(name, workers, alone["seconds"])
            rows.append(row)
            save(options.out, rows)
            print(table([row]).splitlines()[-1], flush=True)
    return rows


def save(folder: Path, rows: list[Row]) -> None:
    """Rows and the machine."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workers.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))
    (folder / "workers.md").write_text(table(rows) + "\n")


def draw(folder: Path) -> Path:
    """Speed-up over workers, one line an instance."""
    import matplotlib.pyplot as plt

    rows = json.loads((folder / "workers.json").read_text())["rows"]
    figure, axis = plt.subplots(figsize=(5.5, 4))
    most = max(row["workers"] for row in rows)
    axis.plot([1, most], [1, most], color="0.7", lw=1, label="ideal")
    for name in dict.fromkeys(row["instance"] for row in rows):
        own = [row for row in rows if row["instance"] == name and "speed-up" in row]
        if own:
            axis.plot([row["workers"] for row in own], [row["speed-up"] for row in own], marker="o", ms=4, label=name)
    axis.set(xlabel="workers", ylabel="speed-up", xscale="log", yscale="log")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "workers.png", dpi=150)
    plt.close(figure)
    return folder / "workers.png"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="1,2,4,8,16")
    parser.add_argument("--instances", default=DEFAULT)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/workers"))
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of one run")
    parser.add_argument("--warm", action="store_true", help="start processes before the clock")
    parser.add_argument("--ceiling", action="store_true", help="also runs side by side that share nothing")
    parser.add_argument("--draw", action="store_true", help="only draw what was saved")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    options = parsed()
    if not options.draw:
        print(", ".join(f"{key} {value}" for key, value in machine().items()), flush=True)
        print(table(run(options)))
    try:
        print(draw(options.out))
    except ImportError:
        print("no plot: matplotlib is not there; --draw draws what was saved")
