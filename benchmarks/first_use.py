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


def reward(name: str, n: int, k: int) -> None:
    import dsprog as ds
    from dsprog import generators

    ds.maximize(getattr(generators, name)(n, 0), constraints=[ds.Cardinality(exactly=k)])


def determinant() -> None:
    import dsprog as ds
    from dsprog.generators import station_covariance

    C = station_covariance(np.random.default_rng(0), 40)
    ds.maximize(ds.GaussianEntropy(C), constraints=[ds.Cardinality(exactly=6)])


def solved_by(name: str, family: str, n: int) -> None:
    import dsprog as ds
    from dsprog.generators import FAMILIES

    ds.minimize(FAMILIES[family](n, 0), solver=getattr(ds, name)(), time_limit=5.0)


def listed() -> None:
    import dsprog as ds
    from dsprog.generators import FAMILIES

    ds.enumerate_best(FAMILIES["concave"](20, 0), 5)


def medoids() -> None:
    from dsprog.applications import k_medoids
    from dsprog.generators import clustered_points

    k_medoids(clustered_points(60, 0), 5)


def dominating() -> None:
    from dsprog.applications import dominating_set
    from dsprog.generators import random_graph

    dominating_set(random_graph(np.random.default_rng(0), 50, 0.1), 5)


def sparse_cut() -> None:
    import dsprog as ds
    from dsprog.applications import max_cut

    size, rng = 14, np.random.default_rng(0)  # a grid on a torus, with signs
    A = np.zeros((size, size, size, size))
    i, j = np.indices((size, size))
    A[i, j, (i + 1) % size, j] = rng.choice((-1.0, 1.0), (size, size))
    A[i, j, i, (j + 1) % size] = rng.choice((-1.0, 1.0), (size, size))
    A = A.reshape(size**2, size**2)
    ds.minimize(max_cut(A + A.T))


def flow() -> None:
    import dsprog as ds

    rng = np.random.default_rng(0)
    ds.minimize_submodular(ds.Cut(rng.random((40, 40)) < 0.2, directed=True) + ds.Modular(rng.normal(size=40)))


def base_polytope() -> None:
    import dsprog as ds

    rng = np.random.default_rng(0)
    ds.minimize_submodular(ds.ConcaveOfModular(rng.random((10, 30))) + ds.Modular(-rng.random(30)))


def segmentation() -> None:
    from dsprog.applications import segment

    rng = np.random.default_rng(0)
    image = np.zeros((60, 80))
    image[15:45, 20:60] = 1.0
    segment(image + 0.3 * rng.normal(size=image.shape))


def many_labels() -> None:
    from dsprog.applications import minimize_labels
    from dsprog.applications.vision import grid_pairs

    rng = np.random.default_rng(0)
    levels = np.digitize(np.mgrid[:40, :60][1], [15, 30, 45]) + 0.6 * rng.normal(size=(40, 60))
    minimize_labels((levels.ravel()[:, None] - np.arange(4)) ** 2, grid_pairs((40, 60), 0.7), 1.0 - np.eye(4))


def selector(**options: object) -> None:
    from dsprog.applications import SubmodularFeatureSelector
    from dsprog.generators import sparse_linear_model

    X, y, _, _ = sparse_linear_model(np.random.default_rng(0), 120, 30, 6)
    y = y > np.median(y) if options.get("task") == "logistic" else y
    SubmodularFeatureSelector(**options).fit(X, y)  # type: ignore[arg-type]


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
    "facility, exactly 5": lambda: reward("facility_rewards", 50, 5),
    "coverage, exactly 5": lambda: reward("coverage_rewards", 50, 5),
    "influence, exactly 5": lambda: reward("influence_rewards", 50, 5),
    "facility, n = 60, exactly 10": lambda: reward("facility_rewards", 60, 10),
    "facility, n = 100, exactly 12": lambda: reward("facility_rewards", 100, 12),
    "coverage, n = 100, exactly 10": lambda: reward("coverage_rewards", 100, 10),
    "influence, n = 100, exactly 12": lambda: reward("influence_rewards", 100, 12),
    "concave, n = 40, at most 8": lambda: family("concave", 40, max=8),
    "log determinant, exactly 6": determinant,
    "k-medoids": medoids,
    "dominating set": dominating,
    "QUBO, n = 40, exactly 10": lambda: family("pairwise", 40, exactly=10),
    "max-cut, sparse": sparse_cut,
    "enumerate_best": listed,
    "SSP": lambda: solved_by("SSP", "concave", 20),
    "Prismatic": lambda: solved_by("Prismatic", "concave", 8),
    "minimize_submodular, flow": flow,
    "minimize_submodular, base": base_polytope,
    "segmentation": segmentation,
    "many labels": many_labels,
    "selector, logistic": lambda: selector(task="logistic", lam=0.02, ridge=0.01),
    "selector, 5 features": lambda: selector(n_features_to_select=5),
}


def fresh(path: str, cache: str) -> dict[str, float]:
    """Run a path in a new process."""
    environment = {**os.environ, "DSPROG_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}
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
