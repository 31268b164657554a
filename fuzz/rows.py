"""Random constraints."""

from __future__ import annotations

import numpy as np

from fuzz.cases import Term
from fuzz.draw import Draw


def cardinality(draw: Draw) -> Term:
    """From below, from above, or both."""
    least = int(draw.rng.integers(0, draw.n + 1)) if draw.chance(0.95) else draw.n + 1
    most = draw.choice([None, int(draw.rng.integers(least, draw.n + 2))])
    return Term("Cardinality", {"min": least if draw.chance(0.6) else 0, "max": most})


def included(draw: Draw) -> Term:
    """Elements inside or outside."""
    return Term(draw.choice(["Include", "Exclude"]), {"elements": draw.subset(draw.n, 0.25)})


def met_by(draw: Draw, row: list, S: list[int]) -> float:
    """The weight of a set, exactly if weights have few decimals; else a little beside it."""
    weight = sum(row[j] for j in S)
    return round(weight, 2) if draw.digits < 17 else weight + 0.01


def knapsack(draw: Draw) -> Term:
    """A capacity that some set meets exactly, or that none does."""
    weights = draw.numbers(draw.n, scaled=False)
    chosen = met_by(draw, weights, draw.subset(draw.n))
    return Term("Knapsack", {"weights": weights, "capacity": chosen if draw.chance(0.9) else -0.5})


def partition(draw: Draw) -> Term:
    """Three blocks."""
    capacities = [draw.choice([0, 1, 2, 1.5]) for _ in range(3)]
    return Term("Partition", {"blocks": draw.rng.integers(0, 3, draw.n).tolist(), "capacities": capacities})


def linear(draw: Draw) -> Term:
    """One or two rows, from one side or both."""
    rows = draw.choice([1, 1, 2])
    A = draw.numbers(rows, draw.n, signed=True, scaled=False)
    S = draw.subset(draw.n)
    met = [met_by(draw, row, S) for row in A]
    kind = draw.choice(["low", "high", "equal", "band"])
    # -0.4 + 0.5 is a little less than 0.1, which some set may weigh: the referee takes decimals at their word
    lo = [-np.inf if kind == "high" else round(m - (1.0 if kind == "band" else 0.0), 12) for m in met]
    hi = [np.inf if kind == "low" else round(m + (0.5 if kind == "band" else 0.0), 12) for m in met]
    return Term("LinearConstraint", {"A": A, "lo": lo, "hi": hi})


CONSTRAINTS = (cardinality, cardinality, included, knapsack, partition, linear)


def constraints(draw: Draw) -> tuple[Term, ...]:
    """None for most, else one or two."""
    count = draw.choice([0, 0, 0, 1, 1, 2])
    return tuple(draw.choice(CONSTRAINTS)(draw) for _ in range(count))


def budget(draw: Draw) -> tuple[Term, ...]:
    """A budget, sometimes with forced elements or a second row."""
    first = draw.choice([cardinality, cardinality, knapsack, partition])(draw)
    return (first, draw.choice([included, cardinality, partition])(draw)) if draw.chance(0.2) else (first,)
