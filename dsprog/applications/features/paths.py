"""Paths of feature selection, over the weight of the penalty or over the number of features.

Each point is solved for itself, and started from the set of the point before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from dsprog.applications.features.arguments import LAMS, SIZES, as_size, as_weight, centred, several
from dsprog.applications.features.largest_weight import why_not_certifiable
from dsprog.applications.features.penalties import penalty_function
from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality, Constraint
from dsprog.core.set_function import SetFunction
from dsprog.functions.logistic import LogisticLoss
from dsprog.functions.regression import LeastSquares
from dsprog.run.result import Result
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

FEW_SETS = 200_000  # within a budget, all of which can be looked at whatever the columns are


class PathPoint(NamedTuple):
    """A weight of the penalty, and the most features, if that is limited."""

    lam: float
    most: int | None = None

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The budget as a constraint."""
        return () if self.most is None else (Cardinality(max=self.most),)


Solve = Callable[[Difference, PathPoint, tuple[int, ...]], Result]


def feature_path(
    X: ArrayLike,
    y: ArrayLike,
    lams: Iterable[float] | float | None = None,
    penalty: str | SetFunction = "nuclear",
    ridge: float = 0.0,
    solver: Solver | None = None,
    time_limit: float | None = None,
    gap: float = 0.0,
    *,
    sizes: Iterable[int] | int | None = None,
    fit_intercept: bool = False,
) -> list[Result]:
    """A result for each λ or, with ``sizes``, the best set of at most k features for each k, in the order given.

    Solved from the largest λ down, or from the smallest k up, each started from the one before. With ``sizes``, lams is
    one weight of the penalty, 0 by default. Ctrl-C ends the path: the results so far come in the order in which they
    were solved, and the status of the last one is "interrupted".

    X and y are taken as they are; with ``fit_intercept`` they are centred first, as the selectors do. For the scale of
    λ see :func:`feature_selection_objective`.

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import feature_path
    >>> X = np.random.default_rng(0).normal(size=(40, 8))
    >>> [result.S for result in feature_path(X, 2 * X[:, 2] + X[:, 5], [1.0, 0.1, 0.01])]
    [(), (2,), (2, 5)]
    >>> [result.S for result in feature_path(X, 2 * X[:, 2] + X[:, 5], sizes=[1, 2])]
    [(2,), (2, 5)]
    """
    X, y = centred(X, y, fit_intercept)
    loss = LeastSquares(X, y, ridge)
    points = path_points(lams, sizes, loss.n)
    return exact_path(loss, penalty_function(loss.X, penalty), points, solver, time_limit=time_limit, gap=gap)


def path_points(lams: Any, sizes: Any, features: int) -> list[PathPoint]:
    """The points of several weights, or of several sizes and at most one weight."""
    if sizes is not None:
        weight = as_weight(0.0 if lams is None else lams, "lams with sizes")
        return [PathPoint(weight, as_size(k, features, "sizes")) for k in several(sizes, "sizes", SIZES)]
    if lams is None:
        raise ValueError("pass lams, weights of the penalty, or sizes, numbers of features")
    return [PathPoint(as_weight(lam, "lams")) for lam in several(lams, "lams", LAMS)]


def exact_path(
    loss: LeastSquares | LogisticLoss,
    penalty: SetFunction,
    points: list[PathPoint],
    solver: Solver | None = None,
    **limits: Any,
) -> list[Result]:
    """A result of :func:`dsprog.minimize` for each point; the default solver is not asked for what it cannot prove."""

    def solve(objective: Difference, point: PathPoint, initial: tuple[int, ...]) -> Result:
        return minimize(objective, solver, constraints=point.constraints, initial=initial, **limits)

    return solved_path(loss, penalty, points, solve, exact=solver is None)


def solved_path(
    loss: SetFunction, penalty: SetFunction, points: list[PathPoint], solve: Solve, exact: bool
) -> list[Result]:
    """``solve(objective, point, initial)`` for each point, sparse ones first, ``initial`` the set of the one before.

    If one is interrupted, it is the last, and those before it are in the order in which they were solved.
    """
    results: dict[int, Result] = {}
    initial: tuple[int, ...] = ()
    for i in sorted(range(len(points)), key=lambda i: (-points[i].lam, points[i].most or 0)):
        point = points[i]
        objective = Difference(loss + point.lam * penalty)
        exhaustible = has_few_sets(objective.n, point.most)
        obstacle = why_not_certifiable(objective, point.constraints) if exact and not exhaustible else None
        if obstacle is not None:
            raise ValueError(f"the exact method cannot prove anything here: {obstacle}")
        results[i] = solve(objective, point, initial if point.most is None or len(initial) <= point.most else ())
        initial = results[i].S
        if results[i].status == "interrupted":
            return list(results.values())
    return [results[i] for i in range(len(points))]


def uninterrupted(path: list[Result]) -> list[Result]:
    """The path, from which something is to be chosen: Ctrl-C inside it is one for the whole choice."""
    if path and path[-1].status == "interrupted":
        raise KeyboardInterrupt
    return path


def has_few_sets(n: int, most: int | None) -> bool:
    """Whether a budget leaves so few sets that all can be looked at."""
    return most is not None and sum(comb(n, k) for k in range(min(most, n) + 1)) <= FEW_SETS
