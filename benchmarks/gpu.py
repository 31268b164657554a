"""The search on a card beside one core of the same machine: ``python -m benchmarks.gpu``.

``--rows A50:0,A60:0`` names families, sizes and seeds; each row runs on the ``--devices`` given, cuda,cpu.
Kernels are compiled and the card is woken by a short run before anything is timed. ``--kernels`` times the primitives
of a family alone, at the batch of a search, and counts what they do: the share of the card's arithmetic or bandwidth
that each reaches. ``--files`` solves saved instances. Rows are saved as they come.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import print_machine, referee, save, table

ROWS = (
    "A30:0,A40:0,A50:0,A50:1,A50:2,A60:0,A60:1,A60:2,A60:60,A70:70,B40:0,B50:0,B60:0,B60:1,B60:2,B70:0,B80:0,"
    "C50:0,C70:0,C100:0,C100:1,C100:2,D24:0,D36:0,D36:1,D36:2,D48:0,E36"
)

WARM = 20.0  # seconds of the first run of a family, in which CuPy compiles
BRIEF = 1.0  # of that of others


def parsed(rows: str) -> list[tuple[str, int, int]]:
    """``A50:0`` as family, size and seed."""
    return [(row[0], int(row[1:].partition(":")[0]), int(row.partition(":")[2] or 0)) for row in rows.split(",") if row]


def solve(label: str, problem: ds.Problem, device: str, time_limit: float, warm: float) -> dict[str, Any]:
    """One instance on one device, after a run of some seconds that compiles; what that one took is ``first``."""
    solver = ds.BranchAndBound(device=device)
    started = time.perf_counter()
    ds.minimize(problem, solver, time_limit=warm)
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
            seen = any(row["instance"][0] == label[0] and row["device"] == device for row in rows)
            rows.append(solve(label, problem, device, limit, BRIEF if seen else WARM))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
        save(options.out, rows)
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


def draw(paths: list[str]) -> None:
    """Seconds over n, on a card and on one core, from saved rows: ``benchmarks/gpu.png``."""
    import csv
    import statistics

    import matplotlib.pyplot as plt

    found: dict[tuple[str, str], dict[int, list[float]]] = {}
    for path in paths:
        with open(path) as file:
            for row in csv.DictReader(file):
                letter, n, _ = parsed(row["instance"])[0]
                if row["status"] == "optimal":
                    found.setdefault((letter, row["device"]), {}).setdefault(n, []).append(float(row["seconds"]))
    names = {letter: family.name for letter, family in BENCHMARK_FAMILIES.items()}
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for k, letter in enumerate(sorted({letter for letter, _ in found})):
        for device, style in (("cpu", "--"), ("cuda", "-")):
            sizes = sorted(found.get((letter, device), {}))
            medians = [statistics.median(found[letter, device][n]) for n in sizes]
            label = f"{letter} {names[letter]}, {'a card' if device == 'cuda' else 'one core'}"
            axes.plot(sizes, medians, style, marker="o", markersize=4, color=f"C{k}", label=label)
    axes.set(yscale="log", xlabel="n", ylabel="seconds to a proof", title="One H200 beside one core of its machine")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8, ncols=2)
    figure.savefig(Path(__file__).parent / "gpu.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--cpu-limit", type=float, default=30.0)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--devices", default="cuda,cpu")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--out", default="gpu")
    parser.add_argument("--draw", nargs="*", help="Saved rows to draw, as CSV files.")
    options = parser.parse_args()
    if options.draw:
        draw(options.draw)
        return
    print_machine()
    print(table(primitives(options) if options.kernels else side_by_side(options)))


if __name__ == "__main__":
    main()
