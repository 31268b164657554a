"""Random terms of every family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz import referee
from fuzz.cases import Code, Term
from fuzz.draw import Draw, listed

OFFSETS = (0.0, 0.0, 0.0, 0.0, 1.0, -7.5, 1e6, -1e9, 1e12)
CURVES = (
    Code("lambda t: np.log1p(t)"),
    Code("(lambda t: np.log1p(t), lambda t: 1 / (1 + t))"),
    Code("lambda t: np.sqrt(t) + np.minimum(t, 2)"),
    Code("lambda t: t * (9 - t)"),
    Code("(lambda t: t * (9 - t), lambda t: 9 - 2 * t)"),
    Code("lambda t: 3 + 0 * t"),
)


def modular(draw: Draw) -> Term:
    """Weights of any sign and an offset."""
    return Term("Modular", {"weights": draw.numbers(draw.n, signed=True), "constant": draw.choice(OFFSETS)})


def curve(draw: Draw) -> dict[str, Any]:
    """φ, by name or as a callable."""
    if draw.chance(0.25):
        return {"concave": draw.choice(CURVES)}
    name = draw.choice(["sqrt", "log1p", "power", "truncate"])
    if name in ("sqrt", "log1p"):
        return {"concave": name}
    return {"concave": name, "parameter": draw.choice([0.0, 0.3, 0.5, 1.0] if name == "power" else [0.0, 1.0, 2.5])}


def concave_of_modular(draw: Draw) -> Term:
    """One to six groups."""
    groups, phi = draw.choice([1, 1, 2, 3, 6]), curve(draw)
    W = draw.matrix(groups, scaled=not isinstance(phi["concave"], Code))
    weights = {"weights": draw.numbers(groups)} if draw.chance(0.5) else {}
    return Term("ConcaveOfModular", {"W": W, **weights, **phi})


def cardinality_concave(draw: Draw) -> Term:
    """By name or by values."""
    if draw.chance(0.5):
        phi = curve(draw)
        return Term("CardinalityConcave", {"n": draw.n, **(phi if "(lambda" not in str(phi) else {"concave": "sqrt"})})
    steps = np.sort(np.array(draw.numbers(draw.n, signed=True)))[::-1]
    h = draw.choice([0.0, 1.0]) + np.concatenate([[0.0], np.cumsum(steps)])
    return Term("CardinalityConcave", {"n": draw.n, "concave": h.tolist()})


def coverage(draw: Draw) -> Term:
    """No items, one, or several."""
    items = draw.choice([0, 1, 3, 8])
    members = (draw.rng.random((items, draw.n)) < draw.choice([0.2, 0.5])).astype(int)
    weights = {"weights": draw.numbers(items)} if items and draw.chance(0.7) else {}
    return Term("Coverage", {"members": listed(members), **weights})


def facility_location(draw: Draw) -> Term:
    """One to five clients."""
    return Term("FacilityLocation", {"similarity": draw.matrix(draw.choice([1, 2, 5]))})


def probabilistic_coverage(draw: Draw) -> Term:
    """One to five targets; nobody, somebody, and everybody for certain."""
    targets = draw.choice([1, 2, 5])
    p = draw.rng.choice([0.0, 0.0, 0.1, 0.5, 0.9, 1.0], (targets, draw.n))
    weights = {"weights": draw.numbers(targets)} if draw.chance(0.5) else {}
    return Term("ProbabilisticCoverage", {"p": listed(p), **weights})


def cut(draw: Draw) -> Term:
    """Directed or not."""
    A = draw.square()
    if draw.chance(0.5):
        return Term("Cut", {"adjacency": listed(A), "directed": True})
    return Term("Cut", {"adjacency": listed(np.triu(A, 1) + np.triu(A, 1).T)})


def pairwise(draw: Draw, sign: float = -1.0) -> Term:
    """Submodular with sign -1, any with sign 0."""
    Q = draw.square(signed=sign == 0)
    Q = np.triu(Q) if draw.chance(0.5) else Q
    Q = Q if sign == 0 else -Q
    linear = draw.numbers(draw.n, signed=True)
    return Term("Pairwise", {"quadratic": listed(Q), "linear": linear, "constant": draw.choice(OFFSETS)})


def entropy(draw: Draw) -> Term:
    """Of few rows."""
    return Term("Entropy", {"X": draw.codes(draw.choice([1, 4, 12]), draw.n)})


def conditional_entropy(draw: Draw) -> Term:
    """Given a class."""
    rows = draw.choice([1, 4, 12])
    return Term("ConditionalEntropy", {"X": draw.codes(rows, draw.n), "y": draw.labels(rows)})


def mutual_information(draw: Draw, with_class: bool = False) -> Term:
    """Between S and the rest, given a variable, or with a class."""
    rows = draw.choice([1, 4, 12])
    extra = {"y" if with_class else "given": draw.labels(rows)}
    return Term(
        "MutualInformation", {"X": draw.codes(rows, draw.n), **(extra if with_class or draw.chance(0.4) else {})}
    )


def gram(draw: Draw, scaled: bool) -> np.ndarray:
    """A positive semidefinite matrix, of low rank now and then."""
    rank = draw.choice([1, draw.n + 1])
    B = np.array(draw.numbers(rank, draw.n, signed=True, high=2.0, scaled=False)).reshape(rank, draw.n)
    return (B.T @ B) * (draw.scale if scaled else 1.0)


def log_det(draw: Draw) -> Term:
    """At any scale."""
    return Term("LogDet", {"L": listed(gram(draw, draw.chance(0.3)))})


def gaussian_entropy(draw: Draw) -> Term:
    """Well or badly conditioned."""
    return Term("GaussianEntropy", {"cov": listed(gram(draw, False) + draw.choice([0.01, 0.5, 3.0]) * np.eye(draw.n))})


def nuclear_norm(draw: Draw) -> Term:
    """Of few or many rows."""
    return Term("NuclearNorm", {"X": draw.matrix(draw.choice([1, 2, draw.n + 2]), signed=True)})


def least_squares(draw: Draw) -> Term:
    """With dependent columns now and then."""
    rows = draw.choice([1, 3, draw.n + 3])
    ridge = {"ridge": draw.choice([0.1, 1e-3])} if draw.chance(0.3) else {}
    X = listed(draw.rng.normal(size=(rows, draw.n)).round(draw.choice([1, 3])))
    return Term("LeastSquares", {"X": X, "y": draw.numbers(rows, signed=True), **ridge})


def rank(draw: Draw) -> Term:
    """Uniform, partition or graphic."""
    kind = draw.choice(["uniform", "partition", "graphic"])
    if kind == "uniform" or draw.n == 0:
        return Term("MatroidRank.uniform", {"n": draw.n, "rank": int(draw.rng.integers(0, draw.n + 2))})
    if kind == "partition":
        blocks = draw.rng.integers(0, 3, draw.n).tolist()
        return Term("MatroidRank.partition", {"blocks": blocks, "capacities": draw.rng.integers(0, 3, 3).tolist()})
    return Term("MatroidRank.graphic", {"edges": draw.rng.integers(0, draw.choice([2, 4]), (draw.n, 2)).tolist()})


def concave_of(draw: Draw) -> Term:
    """φ of something increasing and non-negative."""
    inner = draw.choice([coverage, facility_location, rank, entropy])(draw)
    if draw.chance(0.3):
        more = Term("Modular", {"weights": draw.numbers(draw.n), "constant": draw.choice([0.0, 0.3])})
        inner = Term("Combination", {"coefficients": [1.0, 1.0]}, (inner, more))
    phi = {"concave": draw.choice(["sqrt", "log1p"])} if draw.chance(0.7) else {"concave": "truncate", "parameter": 2.0}
    return Term("ConcaveOf", phi, (inner,))


def table(draw: Draw) -> Term:
    """Any function at all."""
    return Term("Table", {"table": draw.numbers(1 << min(draw.n, 8), signed=True)}) if draw.n <= 8 else modular(draw)


def submodular_table(draw: Draw) -> Term:
    """A submodular function by its values."""
    if draw.n > 6:
        return modular(draw)
    return Term("Table", {"table": referee.values(draw.choice([cut, coverage, rank])(draw)).tolist()})


def from_callable(draw: Draw, honest: bool = True) -> Term:
    """A submodular callable, of which the user says so, or (not honest) nothing."""
    if draw.n > 6:
        return modular(draw)
    inner = (submodular_table if honest else draw.choice([table, submodular_table]))(draw)
    values = referee.values(inner).tolist()
    if draw.chance(0.5):
        fn = Code(f"lambda S, t={values}: t[sum(1 << j for j in S)]")
        data: dict[str, Any] = {"fn": fn, "n": draw.n}
    else:
        fn = Code(f"lambda M, t=np.array({values}): t[M @ (1 << np.arange(M.shape[1]))]")
        data = {"fn": fn, "n": draw.n, "vectorized": True}
    return Term("FromCallable", data | ({"submodular": True} if honest else {}))


SUBMODULAR: tuple[Callable[[Draw], Term], ...] = (
    modular,
    concave_of_modular,
    concave_of_modular,
    cardinality_concave,
    concave_of,
    coverage,
    facility_location,
    probabilistic_coverage,
    cut,
    pairwise,
    entropy,
    conditional_entropy,
    mutual_information,
    log_det,
    gaussian_entropy,
    nuclear_norm,
    rank,
    submodular_table,
    from_callable,
)
GAINFUL = (concave_of_modular, coverage, facility_location, probabilistic_coverage)
