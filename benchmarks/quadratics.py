"""QUBO and max-cut with published optima: ``python -m benchmarks.quadratics --jobs 2 --time-limit 120 --only 'g05_*'``.

One process for each instance, one BLAS thread, kernels compiled and loaded before the clock starts; CPU seconds of the
solve. The value of the returned set is recomputed and compared with ``optima.csv``. ``--out`` receives a JSON line for
each instance as it comes, a Markdown table, and a profile: the share of instances proved against CPU seconds.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import RESULTS, machine, referee, table
from dsprog.experiments.data_folder import data_folder
from dsprog.experiments.energies import EnergyInstance, qubo_instances

Row = dict[str, Any]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def instances(pattern: str) -> list[EnergyInstance]:
    """Those of the data folder whose names match one of the patterns, with commas between."""
    found = list(qubo_instances(data_folder()))
    return [i for i in found if any(fnmatch.fnmatch(i.name, one) for one in pattern.split(","))]


def warm_up() -> None:
    """Call the kernels of every bound: a dense and a sparse max-cut that need a search."""
    rng = np.random.default_rng(0)
    for n, density in ((40, 0.5), (40, 0.08)):
        upper = np.triu(rng.integers(-50, 51, (n, n)) * (rng.random((n, n)) < density), 1)
        for sparse in (0.0, 1.0):
            ds.minimize(ds.Pairwise(upper, rng.integers(-50, 51, n)), ds.QuadraticBranchAndBound(2, sparse))


def run_row(instance: EnergyInstance, time_limit: float, seed: int | None = None) -> Row:
    """One solve, judged by the value of its set."""
    objective = instance.load()
    cpu, wall = time.process_time(), time.perf_counter()
    result = ds.minimize(objective, time_limit=time_limit, seed=seed)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    judged = referee(objective, result.S, result.lower_bound)
    reached = abs(judged["value"] - instance.optimum) <= 1e-5 * max(1.0, abs(instance.optimum) * 1e-4)
    return {
        "instance": instance.name,
        "n": objective.n,
        "status": result.status,
        "certified": bool(result.certified),
        "published": instance.optimum,
        "value": judged["value"],
        "agrees": bool(reached),
        "gap": judged["gap"] / max(1.0, abs(judged["value"])),
        "nodes": result.nodes,
        "cpu_seconds": round(cpu, 3),
        "wall_seconds": round(wall, 3),
        "proof": result.proof,
    }


def run_in_process(name: str, time_limit: float) -> Row:
    """The row of a process of its own; what went wrong, if it did."""
    command = [sys.executable, "-m", "benchmarks.quadratics", "--worker", name, "--time-limit", str(time_limit)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, check=False)
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return {"instance": name, "status": "failed", "certified": False, "agrees": False, "error": done.stderr[-500:]}


def family(name: str) -> str:
    """The name without the number of the draw."""
    return name.rpartition("-")[0] if name.startswith("bqp") else name.rpartition(".")[0] or name.rstrip("0123456789")


def summary(rows: list[Row]) -> list[Row]:
    """A line for each family: proved, mean and largest CPU seconds."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(family(row["instance"]), []).append(row)
    lines = []
    for name, group in sorted(groups.items()):
        seconds = [row.get("cpu_seconds", np.nan) for row in group]
        lines.append(
            {
                "family": name,
                "proved": f"{sum(row['certified'] for row in group)}/{len(group)}",
                "agree": f"{sum(row['agrees'] for row in group)}/{len(group)}",
                "mean CPU s": round(statistics.fmean(seconds), 2),
                "largest": round(max(seconds), 2),
                "nodes": int(statistics.fmean(row.get("nodes", 0) for row in group)),
            }
        )
    return lines


def draw(rows: list[Row], path: Path) -> None:
    """The share of instances that are proved within some CPU seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    seconds = np.sort([row["cpu_seconds"] for row in rows if row["certified"]])
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    axis.step(seconds, np.arange(1, len(seconds) + 1) / len(rows), where="post")
    axis.set(xscale="log", xlabel="CPU seconds", ylabel=f"share of {len(rows)} instances proved", ylim=(0, 1.02))
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write(rows: list[Row], out: Path) -> str:
    """The table and the profile; returns the table."""
    columns = ("instance", "n", "status", "agrees", "gap", "nodes", "cpu_seconds", "wall_seconds")
    short = [{key: row.get(key, "") for key in columns} for row in sorted(rows, key=lambda row: row["instance"])]
    slow = [row["instance"] for row in rows if not row["certified"] or row["cpu_seconds"] > 60]
    head = ", ".join(f"{key} {value}" for key, value in machine().items())
    counts = (
        f"{sum(row['certified'] for row in rows)} of {len(rows)} proved; open or beyond 60 s: {', '.join(slow) or '-'}"
    )
    text = "\n\n".join([head, counts, table(summary(rows)), table(short)]) + "\n"
    (out / "quadratics.md").write_text(text)
    draw(rows, out / "quadratics.png")
    return text


def run(options: argparse.Namespace) -> None:
    """All instances that were asked for, some at a time."""
    chosen = instances(options.only)
    options.out.mkdir(parents=True, exist_ok=True)
    warm_up()  # compiled here once, loaded from disk by each process
    rows: list[Row] = []
    with open(options.out / "quadratics.jsonl", "a") as lines, ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(run_in_process, i.name, options.time_limit) for i in chosen]
        for done in as_completed(waiting):
            rows.append(done.result())
            lines.write(json.dumps(rows[-1]) + "\n")
            lines.flush()
            print(
                json.dumps({key: rows[-1].get(key) for key in ("instance", "status", "cpu_seconds", "nodes", "agrees")})
            )
    print(write(rows, options.out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds of the clock for each")
    parser.add_argument("--only", default="*", help="names or patterns with commas between")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for lines, table and profile")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is None:
        run(options)
        return
    warm_up()
    print(json.dumps(run_row(instances(options.worker)[0], options.time_limit)))


if __name__ == "__main__":
    main()
