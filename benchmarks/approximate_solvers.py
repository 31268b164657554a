"""Approximate solvers: gaps, large n, published data: ``python -m benchmarks.approximate_solvers``.

``--parts gaps`` crosses families with seeds, ``large`` runs n = 2,000, ``published`` two published data sets, which are
skipped where they are not at hand.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.families import chess_residual
from benchmarks.harness import print_machine, save, table
from dsprog.experiments.published_instances import OPTIMA, load_published
from dsprog.experiments.solvers import solver_named
from dsprog.generators import FAMILIES, incidence, sparse_weights

METHODS = {  # names of the table of all solvers, and variants that have none
    "SSP, 20 restarts": solver_named("ssp"),
    "SSP, random order": ds.SSP("random"),
    "SSP, best of 4 orders": ds.SSP("best"),
    "SSP, 1 restart": ds.SSP(restarts=1),
    "SupSub, 20 restarts": solver_named("supsub"),
    "ModMod, 20 restarts": solver_named("modmod"),
    "DCA, 5 restarts": solver_named("dca"),
    "complete DCA, 5 restarts": solver_named("cdca"),
    "forward greedy": solver_named("forward"),
    "backward greedy": solver_named("backward"),
    "bidirectional greedy": solver_named("bidirectional"),
    "bidirectional greedy, 200 restarts": ds.Greedy("bidirectional", restarts=200),
    "flips, 20 restarts": solver_named("flip"),
    "flips and swaps, 20 restarts": solver_named("swap"),
    "tabu, 20 restarts": solver_named("tabu"),
}
WITHIN = 0.01
INSTANCES = {**FAMILIES, "explaining_away": chess_residual}


def gap_rows(families: list[str], sizes: list[int], seeds: int) -> list[dict[str, Any]]:
    """One row for each run, the optimum proved by the default solver."""
    rows = []
    for family in families:
        for n in sizes:
            for seed in range(seeds):
                objective = INSTANCES[family](n, seed)
                optimum = ds.minimize(objective)
                assert optimum.certified, f"{family} n={n} seed={seed}: {optimum.message}"
                for name, solver in METHODS.items():
                    result = ds.minimize(objective, solver, seed=seed)
                    gap = (objective(result.S) - optimum.value) / abs(optimum.value)
                    run = {"family": family, "n": n, "seed": seed, "solver": name, "gap": max(0.0, gap)}
                    rows.append({**run, "seconds": result.seconds, "oracle_calls": result.oracle_calls})
            save("approximate_gaps", rows)
    return rows


def summary(rows: list[dict[str, Any]], families: list[str]) -> list[dict[str, str]]:
    """For each method and family: mean and worst gap; over all: how often within 1 %, and the mean time."""
    result = []
    for name in METHODS:
        mine = [row for row in rows if row["solver"] == name]
        line = {"solver": name}
        for family in families:
            gaps = [row["gap"] for row in mine if row["family"] == family]
            line[family] = f"{100 * np.mean(gaps):.2f} / {100 * np.max(gaps):.1f} %"
        line["optimum"] = f"{sum(row['gap'] <= 1e-9 for row in mine)} of {len(mine)}"
        line["within 1 %"] = f"{sum(row['gap'] <= WITHIN for row in mine)} of {len(mine)}"
        line["mean ms"] = f"{1e3 * np.mean([row['seconds'] for row in mine]):.1f}"
        result.append(line)
    return result


def large_instance(n: int, seed: int = 0) -> ds.Difference:
    """Σ√ of n/2 groups of 20 members on average minus coverage of 3n items of mean degree 4."""
    rng = np.random.default_rng(seed)
    f = 0.7 * ds.ConcaveOfModular(sparse_weights(rng, n // 2, n, 20 / n))
    return f - ds.Coverage(incidence(rng, 3 * n, n), rng.random(3 * n))


def run_rows(title: str, objective: ds.SetFunction, optimum: float | None) -> list[dict[str, Any]]:
    """Every method once, at most a minute each."""
    rows = []
    for name, solver in METHODS.items():
        result = ds.minimize(objective, solver, seed=0, time_limit=60.0)
        value = objective(result.S)
        row = {"instance": title, "solver": name, "value": f"{value:.6f}", "size": len(result.S)}
        if optimum is not None:
            row["above the optimum"] = f"{max(0.0, value - optimum):.1e}"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows.append({**row, "seconds": result.seconds, "status": result.status, "MB": memory})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="gaps,large,published")
    parser.add_argument("--families", default="concave,coverage,facility,logdet,explaining_away")
    parser.add_argument("--sizes", default="20", help="ground set sizes of the gaps, with commas")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--large", type=int, default=2000)
    options = parser.parse_args()
    print_machine()
    families = options.families.split(",")
    if "gaps" in options.parts:
        rows = gap_rows(families, [int(n) for n in options.sizes.split(",")], options.seeds)
        print(table(summary(rows, families)), "\n")
    if "large" in options.parts:
        rows = run_rows(f"concave - coverage, n = {options.large}", large_instance(options.large), None)
        save("approximate_large", rows)
        print(table(rows), "\n")
    if "published" in options.parts:
        rows = []
        for name in ("speech_seed42", "mushroom_train_1"):
            try:
                rows += run_rows(name, load_published(name), OPTIMA[name])
            except FileNotFoundError as error:
                print(f"skipped: {error}")
        save("approximate_published", rows)
        print(table(rows))


if __name__ == "__main__":
    main()
