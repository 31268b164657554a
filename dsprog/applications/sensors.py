"""Where to put sensors: the best k places of a Gaussian field, for every k, with a proof.

The field has a value at each of n places, jointly Gaussian with a covariance matrix that is given or made by
:func:`field_covariance` from points and a kernel. Criteria to be maximised over the chosen places S, less their costs:

- ``"entropy"``: H(X_S) = ½ log det(2πe Σ_S), what the readings tell by themselves (maximum-entropy sampling);
- ``"information"``: I(X_S; X_{V∖S}) = H(X_S) + H(X_{V∖S}) - H(X_V), what they tell about the other places;
- ``"variance"``: minus the variance that is left at one place, Σ_tt - Σ_tS Σ_S⁻¹ Σ_St, which is least squares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality, Constraint
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, as_count, as_matrix, as_number
from dsprog.functions.regression import LeastSquares
from dsprog.functions.spectral import GaussianEntropy, as_symmetric
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize

CRITERIA = ("entropy", "information", "variance")


def grid_points(rows: int, columns: int) -> Floats:
    """The places (x, y) of a grid, a unit apart, row by row.

    >>> grid_points(1, 3).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    """
    y, x = np.mgrid[: as_count(rows, "rows"), : as_count(columns, "columns")]
    return np.column_stack([x.ravel(), y.ravel()]).astype(float)


def field_covariance(points: ArrayLike, length: float, variance: float = 1.0, noise: float = 0.1) -> Floats:
    """variance · exp(-distance² / 2 length²) between places, and the variance ``noise`` of each reading.

    >>> field_covariance([[0.0], [1.0]], length=1.0, noise=0.5).round(3).tolist()
    [[1.5, 0.607], [0.607, 1.5]]
    """
    places = as_matrix(points, "points", shape=(None, None))
    for name, value in (("length", length), ("variance", variance), ("noise", noise)):
        if not as_number(value, name) > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    squares = ((places[:, None, :] - places[None]) ** 2).sum(axis=2)
    return variance * np.exp(-squares / (2.0 * length**2)) + noise * np.eye(len(places))


def sensor_objective(
    cov: ArrayLike, criterion: str = "entropy", costs: ArrayLike | None = None, target: int | None = None
) -> Difference:
    """Costs minus a criterion of the chosen places, to be minimised.

    Parameters
    ----------
    cov : (n, n) array
        Covariances of the readings, positive definite.
    criterion : "entropy", "information" or "variance"
    costs : (n,) array, optional
        Of each place, in the units of the criterion.
    target : int, optional
        For ``"variance"``: the place whose variance counts; it is never chosen itself.

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.applications import field_covariance, sensor_objective
    >>> cov = field_covariance([[0.0], [1.0], [2.0], [3.0], [4.0]], length=1.0)
    >>> ds.minimize(sensor_objective(cov), constraints=[ds.Cardinality(3, 3)]).S
    (0, 2, 4)
    >>> ds.minimize(sensor_objective(cov, "information"), constraints=[ds.Cardinality(2, 2)]).S
    (1, 3)
    >>> ds.minimize(sensor_objective(cov, "variance", target=2), constraints=[ds.Cardinality(2, 2)]).S
    (1, 3)
    """
    matrix = as_symmetric(cov, "cov")
    n = len(matrix)
    paid = Modular(np.zeros(n) if costs is None else as_matrix(costs, "costs", shape=(n,)))
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    if (target is not None) != (criterion == "variance"):
        raise ValueError("target must be given for the criterion variance, and for no other")
    if criterion == "variance":
        return Difference(paid + remaining_variance(matrix, as_count(target, "target", most=n - 1)))
    entropy = GaussianEntropy(matrix)
    if criterion == "entropy":
        return Difference(paid, entropy)
    everything = Modular(np.zeros(n), entropy(range(n)))
    return Difference(paid + everything, entropy + entropy.complement())


def remaining_variance(cov: Floats, target: int) -> SetFunction:
    """Σ_tt - Σ_tS Σ_S⁻¹ Σ_St as least squares: with RR' = Σ, row t of R is regressed on the rows of S.

    The target itself stands as a column of zeros, which tells nothing.
    """
    R = np.linalg.cholesky(cov)
    X = R.T.copy()
    X[:, target] = 0.0
    return 2.0 * len(cov) * LeastSquares(X, R[target])


@dataclass(frozen=True)
class BudgetPath:
    """The best sets of each size: ``results[k]`` belongs to ``sizes[k]``."""

    sizes: tuple[int, ...]
    results: tuple[Result, ...]

    @property
    def values(self) -> Floats:
        """The value of each size."""
        return np.array([result.value for result in self.results])

    @property
    def certified(self) -> bool:
        """Whether every size is proved."""
        return all(result.certified for result in self.results)


def budget_path(
    objective: SetFunction,
    sizes: Iterable[int],
    constraints: Iterable[Constraint] = (),
    time_limit: float | None = None,
    seed: int | None = None,
) -> BudgetPath:
    """The best set of each size, from the smallest size up, each started from the one before.

    Parameters
    ----------
    objective : SetFunction
        To be minimised, such as :func:`sensor_objective` makes one.
    sizes : iterable of int
    constraints : iterable of Constraint
        Besides the size.
    time_limit : float, optional
        Seconds for each size.
    seed : int, optional

    Examples
    --------
    >>> from dsprog.applications import budget_path, field_covariance, sensor_objective
    >>> path = budget_path(sensor_objective(field_covariance([[0.0], [1.0], [2.5], [4.0]], 1.0)), [2, 3])
    >>> [result.S for result in path.results], path.certified
    ([(0, 3), (0, 2, 3)], True)
    """
    wanted = tuple(sorted({as_count(size, "sizes", most=objective.n) for size in sizes}))
    others = tuple(constraints)
    results: list[Result] = []
    for size in wanted:
        initial = None if others or not results else grown_set(objective, results[-1].S, size)
        rows = [*others, Cardinality(size, size)]
        results.append(minimize(objective, constraints=rows, time_limit=time_limit, initial=initial, seed=seed))
    return BudgetPath(wanted, tuple(results))


def grown_set(objective: SetFunction, S: tuple[int, ...] | None, size: int) -> list[int]:
    """A set with the elements added that cost least, one after the other."""
    mask = np.zeros((1, objective.n), dtype=bool)
    mask[0, list(S or ())] = True
    for _ in range(size - int(mask.sum())):
        gains = np.where(mask[0], np.inf, objective.marginals(mask)[0])
        mask[0, int(np.argmin(gains))] = True
    return [int(j) for j in np.flatnonzero(mask[0])]


def draw_sensors(points: ArrayLike, results: Iterable[Result], columns: int = 3) -> Any:
    """A map for each result: the places, and those that are chosen; a figure of matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("draw_sensors needs matplotlib, which is not there: pip install dsprog[plot]") from error

    places, shown = as_matrix(points, "points", shape=(None, 2)), list(results)
    rows = -(-len(shown) // columns)
    figure = plt.figure(figsize=(2.4 * columns, 2.3 * rows), layout="constrained")
    for axis, result in zip(np.ravel(figure.subplots(rows, columns, squeeze=False)), shown):
        chosen = list(result.S or ())
        axis.scatter(*places.T, s=12, color="#c8c8c8")
        axis.scatter(*places[chosen].T, s=40, color="#d95f02")
        proof = "proved" if result.certified else "not proved"
        axis.set_title(f"{len(chosen)} places, {proof}", fontsize=9)
        axis.set_aspect("equal")
    for axis in figure.axes:
        axis.axis("off")
    return figure
