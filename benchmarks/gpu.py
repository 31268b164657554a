"""The search on a card beside one core of the same machine: ``python -m benchmarks.gpu``.

``--rows A50:0,A60:0`` names families, sizes and seeds; each row runs on the ``--devices`` given, cuda,cpu.
Kernels are compiled and the card is woken by a short run before anything is timed. ``--kernels`` times the primitives
of a family alone, at the batch of a search, and counts what they do: the share of the card's arithmetic or bandwidth
that each reaches. ``--files`` solves saved instances. Rows are saved as they come.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import print_machine, referee, save, table

ROWS = "A50:0,A50:1,A50:2,A60:0,A60:1,A60:2,A60:60,B60:0,B60:1,B60:2,C100:0,C100:1,C100:2,D36:0,D36:1,D36:2"

WARM = 20.0  # seconds of a first run, in which CuPy compiles


def parsed(rows: str) -> list[tuple[str, int, int]]:
    """``A50:0`` as family, size and seed."""
    return [(row[0], int(row[1:].partition(":")[0]), int(row.partition(":")[2] or 0)) for row in rows.split(",") if row]


def solve(label: str, problem: ds.Problem, device: str, time_limit: float, batch: int | None) -> dict[str, Any]:
    """One instance on one device, after a run of some seconds that compiles; what that one took is ``first``."""
    solver = ds.BranchAndBound(device=device, batch=batch)
    started = time.perf_counter()
    ds.minimize(problem, solver, time_limit=WARM if device == "cuda" else 2.0)
    first = time.perf_counter() - started
    started = time.perf_counter()
    result = ds.minimize(problem, solver, time_limit=time_limit)
    seconds = time.perf_counter() - started
    row = {"instance": label, "device": device, "status": result.status, "seconds": seconds, "nodes": result.nodes}
    row["first"] = first
    checked = referee(problem.objective, result.S, result.lower_bound)
    return {**row, "nodes_per_s": result.nodes / seconds, **checked}


def side_by_side(options: argparse.Namespace) -> list[dict[str, Any]]:
    """All rows, on the card and on one core."""
    rows: list[dict[str, Any]] = []
    problems = []
    for letter, n, seed in parsed(options.rows):
        family = BENCHMARK_FAMILIES[letter]
        problem = ds.Problem(ds.Difference(family.build(n, seed)), tuple(family.constraints(n)))
        problems.append((f"{letter}{n}:{seed}", problem))
    for path in options.files:
        problems.append((path.rpartition("/")[2], ds.read(path)))
    for label, problem in problems:
        for device in options.devices.split(","):
            limit = options.time_limit if device == "cuda" else options.cpu_limit
            rows.append(solve(label, problem, device, limit, options.batch if device == "cuda" else None))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
        save("gpu", rows)
    return rows


def primitives(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Each primitive of the functions of some families alone, at the batch of a search."""
    from dsprog.device.machine import machine_named
    from dsprog.exact.interval.applicable_bounds import Material
    from dsprog.exact.interval.node_kernels import kernels_on

    cuda: Any = machine_named("cuda")
    rows = []
    for letter, n, seed in parsed(options.rows):
        family = BENCHMARK_FAMILIES[letter]
        problem = ds.Problem(ds.Difference(family.build(n, seed)))
        rng = np.random.default_rng(0)
        I = rng.random((options.batch or cuda.batch, n)) < 0.25
        U = I | (rng.random(I.shape) < 0.7)
        nodes = {"I": cuda.send(I), "U": cuda.send(U), "x": cuda.send(rng.random(I.shape))}
        nodes["orders"] = cuda.xp.tile(cuda.xp.arange(n, dtype=np.int32), (len(I), 1))
        kernels = kernels_on(cuda, problem.rows)
        kernels.sort_free(nodes)
        free = nodes["U"] & ~nodes["I"]
        timed: dict[str, Any] = {"sort_free": lambda kernels=kernels, nodes=nodes: kernels.sort_free(nodes)}
        for side, function in zip("fg", Material(problem, machine=cuda).sides):
            for _, h in function.terms:
                there, name = cuda.function(h), f"{side}: {type(h).__name__}"
                timed[f"{name} values"] = lambda h=there, nodes=nodes: h.values(nodes["U"])
                timed[f"{name} marginals"] = lambda h=there, nodes=nodes, free=free: h.marginals(nodes["U"], free)
                timed[f"{name} chains"] = lambda h=there, nodes=nodes: h.chains(nodes["orders"], nodes["I"])
                if h.has_concave_extension and side == "g":
                    timed[f"{name} tangents"] = lambda h=there, nodes=nodes: h.tangents(nodes["x"])
        for name, run in timed.items():
            seconds = event_seconds(cuda.xp, run)
            rate = {"ms": 1e3 * seconds, "M nodes/s": len(I) / seconds / 1e6}
            rows.append({"family": f"{letter}{n}", "primitive": name, **rate})
    save("gpu_kernels", rows)
    return rows


def event_seconds(xp: Any, run: Any, repeats: int = 5) -> float:
    """The median of some runs by the card's own clock, after two that warm up."""
    times = []
    for k in range(repeats + 2):
        begin, end = xp.cuda.Event(), xp.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        if k >= 2:
            times.append(xp.cuda.get_elapsed_time(begin, end) * 1e-3)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--cpu-limit", type=float, default=30.0)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--devices", default="cuda,cpu")
    parser.add_argument("--kernels", action="store_true")
    options = parser.parse_args()
    print_machine()
    print(table(primitives(options) if options.kernels else side_by_side(options)))


if __name__ == "__main__":
    main()
