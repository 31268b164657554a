"""Matching two small point sets by their distances: an assignment problem with quadratic costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import Floats, as_matrix, as_number
from dsprog.functions.graph import Pairwise
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize


@dataclass(frozen=True)
class Matching:
    """Pairs (point of the first set, point of the second), and the result with its proof."""

    pairs: tuple[tuple[int, int], ...]
    result: Result


def matching_energy(first: Floats, second: Floats, reward: float, scale: float) -> Pairwise:
    """x_ia = 1 if i is matched to a; element i · |second| + a.

    Two matches (i, a), (j, b) that share no point cost 1 - reward · exp(-(d_ij - d_ab)² / scale²), the less the better
    they keep the distance, and two that share one cost more than all rewards that either could earn.
    """
    p, q = len(first), len(second)
    d = np.linalg.norm(first[:, None] - first[None], axis=2)
    e = np.linalg.norm(second[:, None] - second[None], axis=2)
    i, a = np.divmod(np.arange(p * q), q)
    kept = 1.0 - reward * np.exp(-(((d[np.ix_(i, i)] - e[np.ix_(a, a)]) / scale) ** 2))
    shared = (i[:, None] == i[None]) ^ (a[:, None] == a[None])
    # by giving up one of two clashing matches at most (reward - 1) · (min(p, q) - 1) is lost
    clash = 1.0 + max(0.0, reward - 1.0) * min(p, q)
    return Pairwise(np.triu(np.where(shared, clash, kept), 1))


def match_points(
    first: ArrayLike, second: ArrayLike, *, reward: float = 2.0, scale: float = 0.1, time_limit: float | None = None
) -> Matching:
    """Match two point sets up to translation, rotation and reflection, leaving out what fits nowhere.

    Parameters
    ----------
    first, second : (p, d) and (q, d) arrays
    reward : float
        Of two matches that keep their distance, over the cost 1 of two that do not.
    scale : float
        Difference of distances that counts as noise.
    time_limit : float, optional

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> turned = points[[2, 0, 3, 1]] @ np.array([[0.0, -1.0], [1.0, 0.0]]) + 5.0
    >>> match_points(points, turned).pairs
    ((0, 1), (1, 3), (2, 0), (3, 2))
    """
    a, b = as_matrix(first, "first", shape=(None, None)), as_matrix(second, "second", shape=(None, None))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"second must have points of {a.shape[1]} coordinates, got {b.shape[1]}")
    energy = matching_energy(a, b, as_number(reward, "reward"), as_number(scale, "scale"))
    result = minimize(energy, time_limit=time_limit)
    return Matching(tuple(divmod(element, len(b)) for element in result.S), result)
