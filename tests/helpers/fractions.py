"""Losses of least squares in exact arithmetic, of the floats as they are."""

from fractions import Fraction


def exact_loss(X, y, ridge, S):
    """min over w of ‖y - X_S w‖² / 2m + (ridge/2) ‖w‖², by Gauss and Jordan on fractions."""
    X, y, ridge = [[Fraction(float(v)) for v in row] for row in X], [Fraction(float(v)) for v in y], Fraction(ridge)
    m, S = len(y), list(S)
    rows = [[sum(x[i] * x[j] for x in X) / m + ridge * (i == j) for j in S] for i in S]
    right = [sum(x[i] * v for x, v in zip(X, y)) / m for i in S]
    rows = [[*row, b] for row, b in zip(rows, right)]
    for p in range(len(S)):
        rows[p] = [v / rows[p][p] for v in rows[p]]
        for q in range(len(S)):
            if q != p:
                rows[q] = [v - rows[q][p] * u for v, u in zip(rows[q], rows[p])]
    explained = sum((b * row[-1] for b, row in zip(right, rows)), Fraction(0))
    return sum(v * v for v in y) / (2 * m) - explained / 2


def nearly_dependent_pairs(rng, rows, p, distance):
    """Every second column is nearly the one before, and y lives on their differences."""
    X = rng.normal(size=(rows, p))
    X[:, 1::2] = X[:, ::2] + distance * X[:, 1::2]
    differences = (X[:, 1::2] - X[:, ::2]) / distance
    return X, differences @ rng.normal(size=p // 2) + 0.1 * rng.normal(size=rows)
