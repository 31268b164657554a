"""Log determinants with a budget: ``python -m benchmarks.determinants [63] [124] [rbf] [information] [seconds]``.

Maximum-entropy sampling on published covariance matrices (every size of n = 63, every tenth of n = 124), with the best
published value and the gaps that the published root bounds linx and DDFact leave to the value found here; a kernel of
60 places; mutual information of fields without a budget. CPU seconds of one core, root and heuristics included.
"""

from __future__ import annotations

import csv
import sys
import time
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import print_machine, save, table
from dsprog.applications import field_covariance, sensor_objective
from dsprog.experiments.data_folder import data_folder

SECONDS = 120.0


def solved(objective: ds.SetFunction, constraints: list[ds.Cardinality], seconds: float) -> dict[str, Any]:
    started = time.process_time()
    result = ds.minimize(objective, constraints=constraints, time_limit=seconds, seed=0)
    cpu = time.process_time() - started
    early = [event.value for event in result.trace if event.seconds <= 1.0]
    return {
        "value": f"{-result.value:.6f}",
        "gap": float(f"{result.value - result.lower_bound:.2g}"),
        "status": result.status,
        "late": float(f"{min(early, default=np.inf) - result.value:.2g}"),
        "nodes": result.nodes,
        "cpu": round(cpu, 2),
    }


def sampling_rows(n: int, sizes: list[int], seconds: float) -> list[dict[str, Any]]:
    """Published instances."""
    folder = data_folder() / "mesp"
    if not (folder / f"data{n}.npz").exists():
        print(f"no data{n}.npz in {folder}: set DSPROG_DATA")
        return []
    C = np.load(folder / f"data{n}.npz")["C"]
    with open(folder / f"published{n}.csv") as lines:
        published = {int(row["s"]): row for row in csv.DictReader(lines)}
    objective = ds.Modular(np.full(n, np.log(2 * np.pi * np.e))) - 2 * ds.GaussianEntropy(C)
    rows = []
    for s in sizes:
        own, other = solved(objective, [ds.Cardinality(s, s)], seconds), published[s]
        found = float(own["value"])
        factored = min(float(other["ddfact"]), float(other["ddfact_complement"] or np.inf))
        gaps = {"linx": round(float(other["linx"]) - found, 3), "DDFact": round(factored - found, 3)}
        rows.append({"n": n, "s": s, "published": f"{float(other['best_known']):.6f}", **gaps, **own})
        print(rows[-1], flush=True)
    return rows


def kernel_rows(seconds: float) -> list[dict[str, Any]]:
    """log det(I + K_S/.1) of 60 places."""
    points = np.random.default_rng(3).random((60, 2))
    K = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 0.08)
    objective = ds.Modular(np.zeros(60)) - ds.LogDet(K / 0.1)
    return [{"k": k, **solved(objective, [ds.Cardinality(k, k)], seconds)} for k in (3, 5, 8, 12)]


def information_rows(seconds: float) -> list[dict[str, Any]]:
    """|S| - I(X_S; X_{V∖S}) of fields, without a budget."""
    rows = []
    for n, length in ((40, 0.2), (86, 0.2), (86, 0.1)):
        cov = field_covariance(np.random.default_rng(0).random((n, 2)), length)
        rows.append({"n": n, "length": length, **solved(sensor_objective(cov, "information", np.ones(n)), [], seconds)})
    return rows


def main(words: list[str]) -> None:
    numbers = [float(word) for word in words if word.replace(".", "").isdigit() and word not in ("63", "124")]
    seconds = numbers[0] if numbers else SECONDS
    makers = {
        "63": lambda: sampling_rows(63, list(range(3, 61)), seconds),
        "124": lambda: sampling_rows(124, list(range(10, 121, 10)), seconds),
        "rbf": lambda: kernel_rows(seconds),
        "information": lambda: information_rows(seconds),
    }
    print_machine()
    for name in [word for word in words if word in makers] or list(makers):
        rows = makers[name]()
        if rows:
            save(f"determinants_{name}", rows)
            print(table(rows), "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
