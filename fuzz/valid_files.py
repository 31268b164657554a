"""Valid instances of every family and format, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TEXTS = {
    "instance.uai": "MARKOV\n3\n2 2 2\n4\n1 0\n2 0 1\n2 1 2\n0\n\n2 0.5 1.5\n4\n 1 2 3 4\n4 2 1 1 2\n1 7\n",
    "instance.sparse": "3 4\n1 1 -5\n1 2 3\n2 3 -1\n3 3 2\n",
    "or-library": "2\n3 2\n1 1 5\n1 2 -3\n2 1\n1 2 4\n",
    "instance.qubo": "c text\np qubo 0 3 1 2\n0 0 -5\n0 1 3\n1 2 -1\n",
    "instance.rudy": "3 3\n1 2 4\n2 3 1\n1 3 -2\n",
    "instance.dimacs": "c text\np max 4 5\nn 1 s\nn 4 t\na 1 2 3\na 1 3 2\na 2 3 5\na 2 4 2\na 3 4 3\n",
}


def valid_files(folder: Path) -> dict[str, bytes]:
    """The bytes of an instance of every family, as JSON and as npz, and of every text format."""
    files = {name: text.encode() for name, text in TEXTS.items()}
    for name, (objective, constraints) in instances().items():
        for suffix in ("json", "npz"):
            path = folder / f"{name}.{suffix}"
            objective.save(path, constraints)
            files[path.name] = path.read_bytes()
            path.unlink()
    return files


def instances(n: int = 5) -> dict[str, tuple[Any, list[Any]]]:
    """A function of every family on n elements, seen through every view, with every constraint."""
    import dsprog as ds

    rng = np.random.default_rng(0)
    X, y, W = rng.integers(0, 3, (12, n)), rng.integers(0, 2, 12), rng.random((3, n)).round(2)
    A = np.triu(rng.integers(0, 3, (n, n)), 1).astype(float)
    functions = {
        "modular": ds.Modular(rng.normal(size=n), 2.0),
        "sqrt": ds.ConcaveOfModular(W, rng.random(3)),
        "power": ds.ConcaveOfModular(W, concave="power", parameter=0.7),
        "truncate": ds.ConcaveOfModular(W, concave="truncate", parameter=0.8),
        "cardinality": ds.CardinalityConcave(n, "log1p"),
        "cardinality-table": ds.CardinalityConcave(n, np.sqrt(np.arange(n + 1))),
        "concave-of": ds.ConcaveOf(ds.Coverage(W > 0.5), "sqrt"),
        "coverage": ds.Coverage(W > 0.5, rng.random(3)),
        "facility": ds.FacilityLocation(W),
        "probabilistic": ds.ProbabilisticCoverage(W, rng.random(3)),
        "cut": ds.Cut(A + A.T),
        "cut-directed": ds.Cut(A, directed=True),
        "pairwise": ds.Pairwise(rng.normal(size=(n, n)), rng.normal(size=n), 3.0),
        "entropy": ds.Entropy(X),
        "conditional-entropy": ds.ConditionalEntropy(X, y),
        "information": ds.MutualInformation(X),
        "information-given": ds.MutualInformation(X, given=y),
        "information-class": ds.MutualInformation(X, y),
        "logdet": ds.LogDet(W.T @ W),
        "gaussian": ds.GaussianEntropy(W.T @ W + np.eye(n)),
        "nuclear": ds.NuclearNorm(W),
        "partition": ds.MatroidRank.partition(rng.integers(0, 3, n), [1, 2, 0]),
        "graphic": ds.MatroidRank.graphic(rng.integers(0, 4, (n, 2)), 4),
        "least-squares": ds.LeastSquares(rng.normal(size=(12, n)), rng.normal(size=12), 0.1),
        "table": ds.Table(rng.normal(size=1 << n)),
    }
    f = functions["facility"]
    functions["restricted"] = functions["entropy"].restrict([1], [0, 1, 3, 4])
    functions["complement"] = f.complement()
    functions["relabelled"] = f.relabel([4, 2, 0, 1, 3])
    functions["declared"] = functions["pairwise"].declare(submodular=None, integral=False)
    functions["difference"] = 2 * f + functions["sqrt"] - functions["coverage"] - functions["modular"]
    constraints = [
        ds.Cardinality(1, 4),
        ds.Knapsack(np.arange(1.0, n + 1), 9.0),
        ds.Include([2]),
        ds.Exclude([0]),
        ds.Partition([0, 0, 1, 1, 1], [2, 2]),
        ds.LinearConstraint(np.ones((1, n)), hi=3),
    ]
    found: dict[str, tuple[Any, list[Any]]] = {name: (function, []) for name, function in functions.items()}
    return found | {"constrained": (functions["difference"], constraints)}
