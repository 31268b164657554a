"""The best k features against OKRidge, abess, l0bnb and El0ps: ``python -m benchmarks.subsets [--peers PYTHON]``.

Every row is a data set: rows x features, k true features, an AR(ρ) design, a signal-to-noise ratio, a ridge. OKRidge
and abess get the budget k, as dsprog does. l0bnb and El0ps know no budget: they get the price of a feature half-way
between what the k-th one and the next one are worth, and the bound on coefficients that they need from the best set; so
does ``dsprog penalised``. A number is CPU seconds of one run on one thread; ``open at`` is no proof, with the CPU
seconds until then, ``fails`` an error. abess proves nothing: a * says that its set is
not the best one. Peers run in an interpreter of their own, ``--peers``; without it only dsprog is run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dsprog as ds
from benchmarks.harness import RESULTS, print_machine, save, table
from benchmarks.subset_peers import SOLVERS

GRID = (  # rows, features, k, ρ, SNR, ridge
    (500, 100, 10, 0.3, 5, 0.01),
    (500, 100, 10, 0.8, 2, 0.01),
    (1000, 500, 10, 0.5, 3, 0.01),
    (200, 300, 8, 0.5, 5, 0.01),
    (500, 1000, 5, 0.5, 5, 0.01),
    (200, 60, 15, 0.9, 1, 0.01),
    (500, 100, 10, 0.8, 0.5, 0.0),
    (200, 100, 5, 0.1, 10, 0.0),
    (1000, 500, 10, 0.9, 5, 0.1),
    (2000, 1000, 10, 0.5, 3, 0.01),
    (5000, 500, 15, 0.5, 1, 0.0),
    (500, 3000, 5, 0.5, 5, 0.1),
    (200, 300, 8, 0.5, 5, 0.0),
    (1000, 5000, 10, 0.5, 5, 0.1),
)


def autoregressive(
    rng: np.random.Generator, rows: int, p: int, k: int, rho: float, snr: float
) -> tuple[np.ndarray, np.ndarray]:
    """Columns correlated by rho with the next one, and y the sum of k of them, evenly spaced, and noise; centred."""
    Z = rng.normal(size=(rows, p))
    X = np.empty((rows, p))
    X[:, 0] = Z[:, 0]
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * Z[:, j]
    signal = X[:, np.linspace(0, p - 1, k).astype(int)].sum(axis=1)
    y = signal + rng.normal(size=rows) * np.sqrt(signal.var() / snr)
    return X - X.mean(axis=0), y - y.mean()


def price_and_bound(X: np.ndarray, y: np.ndarray, ridge: float, k: int, limit: float) -> tuple[float, float]:
    """What half-way between the k-th and the next feature is worth, and twice the largest coefficient."""
    f = ds.LeastSquares(X, y, ridge)
    sets = [ds.minimize(f, constraints=[ds.Cardinality(max=size)], time_limit=limit) for size in (k - 1, k, k + 1)]
    A = X[:, sets[1].S]
    w = np.linalg.solve(A.T @ A / len(y) + ridge * np.eye(A.shape[1]), A.T @ y / len(y))
    return 0.5 * (sets[0].value - sets[2].value), 2.0 * float(np.abs(w).max())


def answers(python: str, name: str, paths: list[Path], limit: float) -> list[dict[str, Any]]:
    """What a solver says to each file, in processes of its own on one thread: where one dies, a new one goes on."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    script, folder = str(Path(__file__).with_name("subset_peers.py")), str(Path(ds.__file__).parent.parent)
    environment = {**os.environ, **one, "PYTHONPATH": folder if name.startswith("dsprog") else ""}
    said: list[dict[str, Any]] = []
    while len(said) < len(paths):
        command = [python, script, name, str(limit), *map(str, paths[len(said) :])]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        said += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if len(said) < len(paths):
            said.append({"error": f"the process ended with {done.returncode}"})
    return said


def cell(said: dict[str, Any], name: str, best: float, f: ds.LeastSquares) -> str:
    """One cell of the table; a budget's set is compared with the best value known."""
    if "error" in said:
        return "fails"
    if name == "abess":
        return f"{said['seconds']:.2g}{'' if f(said['S']) <= best * (1 + 1e-6) else ' *'}"
    return f"{said['seconds']:.2g}" if said["proved"] else f"open at {said['seconds']:.2g}"


def write_data(folder: Path, number: int, case: tuple[Any, ...], limit: float) -> Path:
    """The data of a row in a file."""
    rows, p, k, rho, snr, ridge = case
    X, y = autoregressive(np.random.default_rng(0), rows, p, k, rho, snr)
    lam, M = price_and_bound(X, y, ridge, k, limit)
    path = folder / f"{number}.npz"
    np.savez(path, X=X, y=y, k=k, ridge=ridge, lam=lam, M=M)
    return path


def fill(rows: list[dict[str, Any]], name: str, said: list[dict[str, Any]], paths: list[Path]) -> None:
    """Add what a solver said to the rows, and what the table shows of it."""
    for row, one, path in zip(rows, said, paths):
        with np.load(path) as data:
            f = ds.LeastSquares(data["X"], data["y"], float(data["ridge"]))
        if name == "dsprog" and "S" in one:
            row["best"] = f(one["S"])
        row[name] = cell(one, name, row.get("best", np.inf), f)
        row |= {f"{name} {key}": value for key, value in one.items()}


def draw_profile(rows: list[dict[str, Any]], path: Path) -> None:
    """How many rows each solver has proved within so many seconds."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in SOLVERS:
        times = sorted(row[f"{name} seconds"] for row in rows if row.get(f"{name} proved"))
        if times:
            axis.step(times, np.arange(1, len(times) + 1), where="post", label=name, marker=".")
    axis.set(xscale="log", xlabel="CPU seconds", ylabel=f"data sets proved, of {len(rows)}", ylim=(0, len(rows) + 0.5))
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="an interpreter with okridge, abess, l0bnb and el0ps")
    parser.add_argument("--limit", type=float, default=8.0, help="CPU seconds for each run")
    parser.add_argument("--rows", type=int, default=len(GRID), help="so many rows of the grid only")
    options = parser.parse_args()
    print_machine()
    names = ("rows", "p", "k", "ρ", "SNR", "ridge")
    rows: list[dict[str, Any]] = [dict(zip(names, case)) for case in GRID[: options.rows]]
    with tempfile.TemporaryDirectory() as folder:
        cases = enumerate(GRID[: options.rows])
        paths = [write_data(Path(folder), number, case, 5 * options.limit) for number, case in cases]
        for name in SOLVERS:
            if options.peers is None and not name.startswith("dsprog"):
                continue
            python = sys.executable if name.startswith("dsprog") else str(options.peers)
            fill(rows, name, answers(python, name, paths, options.limit), paths)
            print(name, [row[name] for row in rows], flush=True)
            save("subsets", rows)
            draw_profile(rows, RESULTS / "subsets.png")
    shown = [name for name in SOLVERS if name in rows[0]]
    print("\n" + table([{key: row[key] for key in (*names, *shown)} for row in rows]))


if __name__ == "__main__":
    main()
