"""How a search gains from workers: ``python -m benchmarks.workers --workers 1,2,4 --instances A60.0,B60.0``.

Every instance is solved with each number of workers, one worker first, and rows are saved as they come; what does not
fit into ``--minutes`` is left out and said. Speed-up is the time with one worker over the time with w, efficiency is
speed-up over w; both with processes that are started for the call ("cold"), and with processes that were there before
("warm": ``--warm``). Where a run alone meets ``--alone-limit``, ``pace`` tells the efficiency: nodes a second over w
times those of one worker. ``--side-by-side 16`` does all runs alone first, so many at once, where there are as many
cores. ``--card`` solves each instance on the machine's card as well. ``--ceiling`` also lets w processes solve the
instance at the same time, each for itself, and says what speed-up w cores of this machine allow, which may share caches
or be halves of one core. The value is recomputed from the functions. Kernels are compiled before anything is timed.
``--draw`` only draws what was saved. The units of each run are kept for ``benchmarks.simulated_workers``.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import machine, referee, table
from dsprog.applications import feature_selection_objective
from dsprog.core.problem import as_problem
from dsprog.experiments.data_folder import data_folder
from dsprog.experiments.energies import EnergyInstance, qubo_instances
from dsprog.generators import sparse_linear_model
from dsprog.run.workers.local import LocalProcesses

DEFAULT = "A60.0,A60.1,A60.2,B60.0,E36.0,g05_80.0,LS.0"
Row = dict[str, Any]


def build(name: str) -> ds.Problem:
    """An instance by its name.

    Family, n and seed (A60.0); a published QUBO or max-cut problem (g05_80.0), or a graph that is drawn like those
    (cut80.0); least squares with a penalty of 0.01 (LS.0).
    """
    published = published_instances()
    if name in published:
        return as_problem(published[name].load(), ())
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


@functools.cache
def published_instances() -> dict[str, EnergyInstance]:
    """Those of the data folder, by name; none without it."""
    try:
        return {instance.name: instance for instance in qubo_instances(data_folder())}
    except ValueError:
        return {}


def names_of(patterns: str) -> Iterator[str]:
    """The instances that were asked for; a pattern stands for all published ones that match it."""
    for pattern in patterns.split(","):
        if "*" in pattern:
            yield from fnmatch.filter(published_instances(), pattern)
        elif pattern.startswith("g05") and pattern not in published_instances():
            print(f"{pattern} is left out: it is not under DSPROG_DATA; cut80.0 is a graph like it", flush=True)
        else:
            yield pattern


def run_row(name: str, workers: int, pool: LocalProcesses | None, limit: float) -> Row:
    """One run: wall seconds of the solve, and what the workers did; with a pool its processes are there before."""
    problem = build(name)
    if pool is not None:
        warm_up(pool, problem)
    started, cpu = time.perf_counter(), time.process_time()
    result = ds.minimize(problem, time_limit=limit, workers=pool or workers)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    shares = result.workers
    busy, worker_cpu = sum(share.seconds for share in shares), sum(share.cpu for share in shares)
    return {
        "instance": name, "workers": workers, "processes": "warm" if pool else "cold", "status": result.status,
        "seconds": seconds, "cpu": cpu + worker_cpu, "supervisor_cpu": cpu, "nodes": result.nodes, "busy": busy,
        "idle": 1.0 - sum(1.0 - share.idle for share in shares) / workers if shares else 0.0,
        "units": sum(share.units for share in shares), **referee(problem.objective, result.S, result.lower_bound),
    }  # fmt: skip


def run_alone(name: str, limit: float) -> Row:
    """One worker, after a run of a second that loads the kernels."""
    ds.minimize(build(name), time_limit=1.0)
    return run_row(name, 1, None, limit)


def run_on_card(name: str, limit: float) -> Row:
    """The interval search on the machine's card, after a run that compiles."""
    problem, solver = build(name), ds.BranchAndBound(device="cuda")
    ds.minimize(problem, solver, time_limit=5.0)
    started = time.perf_counter()
    result = ds.minimize(problem, solver, time_limit=limit)
    row = {"instance": name, "workers": "card", "status": result.status, "seconds": time.perf_counter() - started}
    return {**row, "nodes": result.nodes, **referee(problem.objective, result.S, result.lower_bound)}


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


def compile_for(names: list[str]) -> None:
    """One instance of each kind is begun, so that its kernels are on disk: processes must not compile at once."""
    for name in {name.rstrip("0123456789._"): name for name in names}.values():
        ds.minimize(build(name), time_limit=2.0)


def side_by_side(names: list[str], processes: int, limit: float) -> dict[str, Row]:
    """The runs with one worker, so many at once, each in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=8) as pool:
        asked = {name: pool.apply_async(run_alone, (name, limit)) for name in names}
        return {name: row.get() for name, row in asked.items()}


def beside(row: Row, alone: Row | None, workers: int) -> Row:
    """Speed-up and efficiency if both runs ended, and the part of the pace of so many runs alone."""
    if alone is None:
        return {}
    pace = (row["nodes"] / row["seconds"]) / (workers * max(alone["nodes"], 1) / alone["seconds"])
    if not "optimal" == row["status"] == alone["status"]:
        return {"pace": pace}
    speed_up = alone["seconds"] / row["seconds"]
    return {"pace": pace, "speed-up": speed_up, "efficiency": speed_up / workers}


def run(options: argparse.Namespace) -> list[Row]:
    """All rows that fit into the time, saved one by one."""
    began, rows = time.perf_counter(), []
    counts = sorted(int(count) for count in options.workers.split(","))
    names = list(dict.fromkeys(names_of(options.instances)))
    compile_for(names)
    ready = side_by_side(names, options.side_by_side, options.alone_limit) if options.side_by_side else {}

    def left() -> float:
        return 60.0 * options.minutes - (time.perf_counter() - began)

    def keep(row: Row) -> Row:
        rows.append(row)
        save(options.out, rows)
        print(table([row]).splitlines()[-1], flush=True)
        return row

    with ExitStack() as open_pools:
        pools = {w: open_pools.enter_context(LocalProcesses(w)) for w in counts if options.warm and w > 1}
        for name in names:
            alone: Row | None = None
            if options.card and name[0] in BENCHMARK_FAMILIES:
                keep(run_on_card(name, min(left(), options.limit)))
            for workers in counts:
                if left() < (alone or {"seconds": 1.0})["seconds"] / workers + 5.0:
                    print(f"{name} with {workers} workers is left out: {left():.0f} s are left", flush=True)
                    continue
                if workers == 1:
                    alone = keep(ready.get(name) or run_row(name, 1, None, min(left(), options.alone_limit)))
                    continue
                row = run_row(name, workers, pools.get(workers), min(left(), options.limit))
                row |= beside(row, alone, workers)
                if options.ceiling and alone is not None and "efficiency" in row:
                    row["ceiling"] = ceiling(name, workers, alone["seconds"])
                keep(row)
    return rows


def save(folder: Path, rows: list[Row]) -> None:
    """Rows and the machine."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workers.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))
    (folder / "workers.md").write_text(table(rows) + "\n")


KINDS = ("families", "least squares", "quadratic")
MARKERS = "o^sDv"


def kind(name: str) -> str:
    """What is solved: a family, least squares, or a quadratic function."""
    if name.startswith("LS."):
        return "least squares"
    return "families" if name[0] in BENCHMARK_FAMILIES else "quadratic"


def draw(folder: Path) -> Path:
    """Speed-up over the seconds of one worker: a search must last for workers to be worth it."""
    import matplotlib.pyplot as plt

    rows = json.loads((folder / "workers.json").read_text())["rows"]
    alone = {row["instance"]: row["seconds"] for row in rows if row["workers"] == 1}
    figure, axis = plt.subplots(figsize=(6, 4))
    for marker, workers in zip(MARKERS, sorted({row["workers"] for row in rows if "speed-up" in row}), strict=False):
        axis.axhline(workers, lw=1, color="0.7")
        for name in KINDS:
            own = [
                row for row in rows if row["workers"] == workers and "speed-up" in row and kind(row["instance"]) == name
            ]
            seconds, gains = [alone[row["instance"]] for row in own], [row["speed-up"] for row in own]
            colour, label = f"C{KINDS.index(name)}", f"{name}, {workers} workers"
            axis.scatter(seconds, gains, s=22, marker=marker, color=colour, alpha=0.7, label=label)
    axis.set(xlabel="seconds of one worker", ylabel="speed-up", xscale="log", yscale="log")
    axis.legend(fontsize=8, loc="upper left")
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
    parser.add_argument("--alone-limit", type=float, default=300.0, help="seconds of a run with one worker")
    parser.add_argument("--side-by-side", type=int, default=0, metavar="J", help="first all runs alone, J at once")
    parser.add_argument("--card", action="store_true", help="on the machine's card as well")
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
