"""What a first run waits for: ``python -m benchmarks.first_use [path ...]``.

Each path runs in a process of its own, first with an empty cache of compiled kernels, then with the cache that it left.
CPU seconds of the whole process, imports included, and how many kernels were compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.harness import machine, save, table


def family(name: str, n: int, **constraints: int) -> None:
    import dsprog as ds
    from dsprog.generators import FAMILIES

    ds.minimize(FAMILIES[name](n, 0), constraints=[ds.Cardinality(**constraints)] if constraints else [])


def regression() -> None:
    from dsprog.applications import SubmodularFeatureSelector
    from dsprog.generators import sparse_linear_model

    X, y, _, _ = sparse_linear_model(np.random.default_rng(0), 120, 60, 20)
    SubmodularFeatureSelector(lam=0.03).fit(X, y)


def classification() -> None:
    from dsprog.applications import SubmodularFeatureSelector
    from dsprog.generators import discrete_data

    X, y = discrete_data(np.random.default_rng(0), 200, 10)
    SubmodularFeatureSelector(task="classification", lam=0.03).fit(X, y)


def tan() -> None:
    from dsprog.applications import TANClassifier
    from dsprog.generators import discrete_data

    TANClassifier().fit(*discrete_data(np.random.default_rng(0), 200, 10))


def demo() -> None:
    from dsprog.cli import main

    main(["demo"], standalone_mode=False)


PATHS = {
    "demo": demo,
    "selector, regression": regression,
    "selector, classification": classification,
    "TANClassifier": tan,
    "QUBO, n = 30": lambda: family("pairwise", 30),
    "QUBO, n = 50": lambda: family("pairwise", 50),
    "concave": lambda: family("concave", 20),
    "concave, at most 5": lambda: family("concave", 20, max=5),
    "coverage": lambda: family("coverage", 14),
    "facility": lambda: family("facility", 14),
    "logdet": lambda: family("logdet", 14),
    "entropy": lambda: family("entropy", 14),
    "explaining away": lambda: family("explaining-away", 10),
    "cut": lambda: family("cut", 14),
    "rank": lambda: family("rank", 14),
    "spectral": lambda: family("spectral", 12),
}


def fresh(path: str, cache: str) -> dict[str, float]:
    """Run a path in a new process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.first_use", "--here", path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(lines.splitlines()[-1])


def here(path: str) -> None:
    """Run a path in this process and print what it took."""
    from dsprog.core.kernel import compilations

    PATHS[path]()
    spent = compilations()
    print(json.dumps({"cpu": time.process_time(), "compiling": spent.cpu, "kernels": spent.count}))


def main(paths: list[str]) -> None:
    rows = []
    for path in paths or PATHS:
        with tempfile.TemporaryDirectory() as cache:
            first, again = fresh(path, cache), fresh(path, cache)
        row = {"path": path, "first use": first["cpu"], "compiling": first["compiling"], "kernels": first["kernels"]}
        rows.append({**row, "warm": again["cpu"], "kernels again": again["kernels"]})
        print(rows[-1], flush=True)
    save("first_use", rows)
    print(", ".join(f"{k} {v}" for k, v in machine().items()), "\n")
    print(table(rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        here(sys.argv[2])
    else:
        main(sys.argv[1:])
