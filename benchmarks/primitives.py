"""Speed of the primitives and of submodular minimisation: ``python -m benchmarks.primitives``."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import dsprog as ds
from benchmarks.families import chess_data
from benchmarks.harness import best_seconds, print_machine, save, table
from dsprog.applications.vision import grid_pairs
from dsprog.generators import correlation_kernel, random_graph, sparse_weights


def row(what: str, seconds: float, target: str, note: str = "") -> dict[str, str]:
    unit, factor = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3) if seconds < 1 else ("s", 1.0)
    return {"what": what, "measured": f"{seconds * factor:.3g} {unit}", "target": target, "note": note}


def numpy_chains(W: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The vectorised NumPy way: cumulative sums of all chains at once."""
    sums = np.cumsum(np.moveaxis(W[:, orders], 0, 2), axis=1)
    values = np.sqrt(sums).sum(axis=2)
    return np.diff(values, axis=1, prepend=0.0)


def concave_rows() -> list[dict[str, str]]:
    rng = np.random.default_rng(0)
    W = rng.random((30, 50))
    f = ds.ConcaveOfModular(W)
    orders = rng.permuted(np.tile(np.arange(50), (1000, 1)), axis=1)
    start = np.zeros((1000, 50), dtype=bool)
    np.testing.assert_allclose(f.chains(orders), numpy_chains(W, orders), atol=1e-9)
    kernel = best_seconds(lambda: f.chains(orders)) / 1000
    by_numpy = best_seconds(lambda: numpy_chains(W, orders), 2) / 1000
    default = best_seconds(lambda: ds.SetFunction._chains(f, orders, start), 2) / 1000
    note = (
        f"{by_numpy / kernel:.1f} times faster than cumulative sums in NumPy, {default / kernel:.0f} than the default"
    )
    return [row("ConcaveOfModular n=50 K=30, one chain in a batch of 1,000", kernel, "6 µs, 4 times NumPy", note)]


def entropy_rows() -> list[dict[str, str]]:
    f = ds.Entropy(chess_data()[0])
    rows = []
    for size in (1, 18, 35):
        mask = np.zeros((1, 36), dtype=bool)
        mask[0, :size] = True
        seconds = best_seconds(lambda mask=mask: f.marginals(mask))
        rows.append(row(f"Entropy on CHESS 3,196 × 36, a row of marginals at |S| = {size}", seconds, "2 ms"))
    return rows


def determinant_rows() -> list[dict[str, str]]:
    rows = []
    for n in (50, 100, 200):
        rng = np.random.default_rng(n)
        f = ds.LogDet(correlation_kernel(rng, n))
        orders = rng.permuted(np.tile(np.arange(n), (20, 1)), axis=1)
        rows.append(row(f"LogDet n={n}, one chain", best_seconds(lambda f=f, o=orders: f.chains(o)) / 20, "O(n³)"))
    return rows


def minimisation_rows() -> list[dict[str, str]]:
    rng = np.random.default_rng(0)
    n = 200
    cut = ds.Cut(random_graph(rng, n, 0.03)) + ds.Modular(1.5 * rng.normal(size=n))
    concave = ds.ConcaveOfModular(sparse_weights(rng, 100, n)) + ds.Modular(-2 - 4 * rng.random(n))
    rows = []
    for name, f, methods in (("cut", cut, ("min_norm_point", "max_flow")), ("concave", concave, ("min_norm_point",))):
        for method in methods:
            result = ds.minimize_submodular(f, method)
            seconds = best_seconds(lambda f=f, method=method: ds.minimize_submodular(f, method), 3)
            note = f"gap {result.gap:.1e}, {result.iterations} iterations, value {result.value:.6f}"
            rows.append(row(f"{method} on a {name} function, n={n}", seconds, "gap 1e-8", note))
    return rows


def quadratic_rows() -> list[dict[str, str]]:
    """Dense QUBOs to a proof, and one maximum flow on a grid of pixels."""
    rows, side = [], 512
    for n, target in ((60, "2 s"), (80, "20 s")):
        energy = ds.Pairwise(np.triu(np.random.default_rng(0).integers(-50, 51, (n, n))))
        result = ds.minimize(energy)
        seconds = best_seconds(lambda energy=energy: ds.minimize(energy), 2)
        rows.append(row(f"dense QUBO ±50, n={n}, to a proof", seconds, target, f"value {result.value:g}"))
    noise = np.random.default_rng(0).normal(size=side * side)
    grid = ds.Cut(grid_pairs((side, side), 1.0)) + ds.Modular(noise)
    seconds = best_seconds(lambda: ds.minimize(grid), 1)
    return [*rows, row(f"a grid of {side} × {side} pixels by one flow", seconds, "4 s")]


def start_rows() -> list[dict[str, str]]:
    def fresh(code: str) -> float:
        return best_seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True), 3)

    bare = fresh("pass")
    imported = fresh("import dsprog")
    demo = fresh("from dsprog.experiments.demo import run; run()")
    return [
        row("import dsprog", imported - bare, "0.5 s"),
        row("dsprog demo, compiled before, whole process", demo, "1 s for the solve"),
    ]


def main() -> None:
    rows = concave_rows() + entropy_rows() + determinant_rows() + minimisation_rows() + quadratic_rows() + start_rows()
    save("primitives", rows)
    print_machine()
    print(table(rows))


if __name__ == "__main__":
    main()
