"""Ready-made submodular penalties for features that come in groups or hang on a tree.

Both are coverages: a feature opens items, an item is paid for once whoever opens it, so that further features of an
open group are cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import as_count, as_matrix, as_reals
from dsprog.functions.coverage import Coverage


def group_penalty(groups: Iterable[Iterable[int]], weights: ArrayLike | None = None, n: int | None = None) -> Coverage:
    """Σ_g weights_g [some feature of group g is chosen]; groups may overlap.

    Parameters
    ----------
    groups : iterable of iterables of int
        The features of each group.
    weights : (groups,) array, non-negative, optional
        Ones by default.
    n : int, optional
        How many features there are; up to the last one in a group by default. One in no group costs nothing.

    Examples
    --------
    >>> from dsprog.applications import group_penalty
    >>> F = group_penalty([[0, 1, 2], [2, 3]], weights=[1.0, 0.5])
    >>> F([0]), F([0, 1]), F([2])
    (1.0, 1.0, 1.5)
    """
    listed = [[as_count(j, "groups") for j in group] for group in groups]
    least = max((j + 1 for group in listed for j in group), default=0)
    features = least if n is None else as_count(n, "n")
    if features < least:
        raise ValueError(f"groups must be of the {features} features, got feature {least - 1}")
    members = np.zeros((len(listed), features))
    for row, group in zip(members, listed):
        row[group] = 1.0
    return Coverage(members, weights)


def tree_penalty(parents: Sequence[int], weights: ArrayLike | None = None) -> Coverage:
    """The weight of the chosen features and of all their ancestors, each counted once.

    Parameters
    ----------
    parents : (n,) sequence of int
        The parent of each feature, -1 for one without.
    weights : (n,) array, non-negative, optional
        Ones by default.

    Examples
    --------
    >>> from dsprog.applications import tree_penalty
    >>> F = tree_penalty([-1, 0, 0, 1])  # 0 above 1 and 2, 1 above 3
    >>> F([0]), F([3]), F([2, 3])
    (1.0, 3.0, 4.0)
    """
    above = as_matrix(as_reals(list(parents), "parents"), "parents", shape=(None,))
    n = len(above)
    wrong = (above % 1 != 0) | (above < -1) | (above >= n)
    if wrong.any():
        raise ValueError(f"parents must be features 0 to {n - 1}, or -1, got {above[wrong][0]:g}")
    members = np.zeros((n, n))
    for j in range(n):
        ancestor = j
        while ancestor >= 0:
            if members[ancestor, j]:
                raise ValueError(f"parents must make a tree, but feature {ancestor} is its own ancestor")
            members[ancestor, j] = 1.0
            ancestor = int(above[ancestor])
    return Coverage(members, weights)
