"""What BLAS threads cost beside other work: ``python -m benchmarks.blas_threads``.

The semidefinite search on max-cut while other processes keep every core busy: as a run does it, with one BLAS thread,
and with as many as there are cores. CPU seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np

import dsprog as ds
from benchmarks.harness import print_machine, save, table


def burn() -> None:
    """Keep a core busy."""
    while True:
        sum(range(100_000))


def cut(n: int, seed: int) -> ds.SetFunction:
    """Max-cut of a random graph."""
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1).astype(float)
    return -1.0 * ds.Cut(upper + upper.T)


def run_row(n: int, seed: int, pinned: bool) -> dict[str, object]:
    """One instance, with BLAS pinned to one thread as a run does it, or left alone."""
    free = patch("dsprog.solve.pipeline.one_blas_thread", nullcontext)
    with nullcontext() if pinned else free:
        began = time.process_time()
        result = ds.minimize(cut(n, seed), time_limit=120)
    cpu = round(time.process_time() - began, 2)
    return {"n": n, "seed": seed, "BLAS": "one thread" if pinned else "default", "cpu": cpu, "status": result.status}


def main() -> None:
    ds.minimize(cut(40, 0), node_limit=20)
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(os.cpu_count() or 1)]
    for process in busy:
        process.start()
    print_machine()
    rows = [run_row(50, seed, pinned) for seed in range(3) for pinned in (True, False)]
    for process in busy:
        process.terminate()
    save("blas_threads", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
