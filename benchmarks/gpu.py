"""The search on a card beside one core of the same machine: ``python -m benchmarks.gpu``.

``--rows A50:0,A60:0`` names families, sizes and seeds; each row runs on the ``--devices`` given, cuda,cpu.
Kernels are compiled and the card is woken by a short run before anything is timed. ``--kernels`` times the primitives
of a family alone, at the batch of a search. ``--files`` solves saved instances. Rows are saved as they come.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import BENCHMARK_FAMILIES
from benchmarks.harness import print_machine, referee, save, table
from dsprog.device.machine import machine_named
from dsprog.exact.interval.applicable_bounds import Material
from dsprog.exact.interval.descent import Minorants
from dsprog.exact.interval.node_kernels import kernels_on

ROWS = (
    "A30:0,A40:0,A50:0,A50:1,A50:2,A60:0,A60:1,A60:2,A60:60,A70:70,B40:0,B50:0,B60:0,B60:1,B60:2,B70:0,B80:0,"
    "C50:0,C70:0,C100:0,C100:1,C100:2,D24:0,D36:0,D36:1,D36:2,D48:0,E36"
)

WARM = 20.0  # seconds of the first run of a family, in which CuPy compiles
BRIEF = 1.0  # of that of others


def parsed(rows: str) -> list[tuple[str, int, int]]:
    """``A50:0`` as family, size and seed; the end of a file's name is left out."""
    found = re.findall(r"([A-F])(\d+)(?::(\d+))?", rows)
    return [(letter, int(n), int(seed or 0)) for letter, n, seed in found]


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
    """Each primitive of the functions of some families alone, and the steps at nodes, at the batch of a search.

    With ``--once`` each runs a single time, for a profiler: ``ncu --clock-control none --csv --metrics
    sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed python -m
    benchmarks.gpu --kernels --once``.
    """
    cuda: Any = machine_named("cuda")
    rows = []
    problems = [(f"{letter}{n}", BENCHMARK_FAMILIES[letter].build(n, seed)) for letter, n, seed in parsed(options.rows)]
    problems += [(Path(path).stem, ds.read(path).objective) for path in options.files]
    for label, objective in problems:
        problem = ds.Problem(ds.Difference(objective), (ds.Cardinality(1, objective.n // 2),))
        count = min(options.batch or cuda.batch, 4096 if label.startswith("E") else cuda.batch)
        for name, run in timed_parts(cuda, problem, count).items():
            if options.once:
                run()
                continue
            seconds = event_seconds(cuda.xp, run)
            rows.append({"family": label, "primitive": name, "ms": 1e3 * seconds, "M nodes/s": count / seconds / 1e6})
    save("gpu_kernels", rows)
    return rows


def timed_parts(cuda: Any, problem: ds.Problem, count: int) -> dict[str, Any]:
    """What a search does at ``count`` nodes, piece by piece."""
    n, rng, xp = problem.n, np.random.default_rng(0), cuda.xp
    I = rng.random((count, n)) < 0.25
    U = I | (rng.random(I.shape) < 0.7)
    nodes = {"I": cuda.send(I), "U": cuda.send(U), "x": cuda.send(rng.random(I.shape))}
    nodes["orders"] = xp.tile(xp.arange(n, dtype=np.int32), (count, 1))
    nodes |= {"count": xp.zeros(count, dtype=np.int64), "lower": xp.zeros(count)}
    nodes |= {"mean_constant": xp.zeros(count), "mean_d": xp.zeros((count, n))}
    kernels = kernels_on(cuda, problem.rows)
    kernels.sort_free(nodes)
    free, d, value = (
        nodes["U"] & ~nodes["I"],
        cuda.send(np.where(U & ~I, rng.normal(size=I.shape), 0.0)),
        xp.ones(count),
    )
    new = Minorants(nodes["orders"], d, value, value, d)
    timed: dict[str, Any] = {
        "sort_free": lambda: kernels.sort_free(nodes),
        "average": lambda: kernels.average(new, nodes, xp.empty(d.shape), xp.empty(count)),
        "step": lambda: kernels.step(d, value, nodes),
        "relax, one row": lambda: kernels.relax(nodes, value, d),
        "propagate, one row": lambda: kernels.propagate(nodes),
    }
    for side, function in zip("fg", Material(problem, machine=cuda).sides):
        for _, h in function.terms:
            there, name = cuda.function(h), f"{side}: {type(h).__name__}"
            timed[f"{name} values"] = lambda h=there: h.values(nodes["U"])
            timed[f"{name} marginals"] = lambda h=there: h.marginals(nodes["U"], free)
            timed[f"{name} chains"] = lambda h=there: h.chains(nodes["orders"], nodes["I"])
            if h.has_concave_extension and side == "g":
                timed[f"{name} tangents"] = lambda h=there: h.tangents(nodes["x"])
    return timed


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
            face = "white" if device == "cpu" else f"C{k}"
            axes.plot(sizes, medians, style, marker="o", markersize=5, mfc=face, color=f"C{k}", label=label)
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
    parser.add_argument("--once", action="store_true")
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
