"""Ready-made submodular penalties for features that come in groups or hang on a tree.

Both are coverages: a feature opens items, an item is paid for once whoever opens it, so that further features of an
open group are cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import Floats, as_count, as_matrix, as_number, as_reals
from dsprog.functions.coverage import Coverage

GROUPS = "lists of features such as [[0, 1], [2, 3]]"


def group_penalty(groups: Iterable[Iterable[int]], weights: ArrayLike | None = None, n: int | None = None) -> Coverage:
    """Σ_g weights_g [some feature of group g is chosen]; groups may overlap.

    Parameters
    ----------
    groups : iterable of iterables of int
        The features of each group.
    weights : (groups,) array, non-negative, or one number for all, optional
        Ones by default.
    n : int, optional
        How many features there are; up to the last one in a group by default. One in no group costs nothing.

    Examples
    --------
    >>> from dsprog.applications import group_penalty
    >>> F = group_penalty([[0, 1, 2], [2, 3]], weights=[1.0, 0.5])
    >>> F([0]), F([0, 1]), F([2])
    (1.0, 1.0, 1.5)

    Penalties add up. A price of each feature beside that of its group:

    >>> import dsprog as ds, numpy as np
    >>> F = group_penalty([[0, 1, 2], [3, 4]]) + 0.25 * ds.Modular(np.ones(5))
    >>> F([0]), F([0, 1]), F([0, 3])
    (1.25, 1.5, 2.5)

    A group that costs the root of how many of its features are chosen:

    >>> F = ds.ConcaveOfModular([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1]])
    >>> F([0]), F([0, 1, 2, 3]), F([0, 4])
    (1.0, 2.0, 2.0)
    """
    listed = [as_group(group) for group in listed_groups(groups)]
    least = max((j + 1 for group in listed for j in group), default=0)
    features = least if n is None else as_count(n, "n")
    if features < least:
        raise ValueError(f"groups must be of the {features} features, got feature {least - 1}")
    members = np.zeros((len(listed), features))
    for row, group in zip(members, listed):
        row[group] = 1.0
    return Coverage(members, one_for_all(weights, len(listed)))


def tree_penalty(parents: Sequence[int], weights: ArrayLike | None = None) -> Coverage:
    """The weight of the chosen features and of all their ancestors, each counted once.

    Parameters
    ----------
    parents : (n,) sequence of int
        The parent of each feature, -1 for one without.
    weights : (n,) array, non-negative, or one number for all, optional
        Ones by default.

    Examples
    --------
    >>> from dsprog.applications import tree_penalty
    >>> F = tree_penalty([-1, 0, 0, 1])  # 0 above 1 and 2, 1 above 3
    >>> F([0]), F([3]), F([2, 3])
    (1.0, 3.0, 4.0)
    """
    above = as_parents(parents)
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
    return Coverage(members, one_for_all(weights, n))


def listed_groups(groups: Any) -> list[Any]:
    """Groups as a list; a table by name, a graph or a word is none."""
    if not is_plain(groups):
        raise TypeError(f"groups must be {GROUPS}, got {shown(groups)}")
    return list(groups)


def as_group(group: Any) -> list[int]:
    """The features of a group; a number would be the label of a feature."""
    if isinstance(group, Real):
        raise TypeError(
            f"groups must be {GROUPS}, got {group} as a group: of labels, one for each feature, make groups by "
            "[np.flatnonzero(labels == label) for label in np.unique(labels)]"
        )
    if not is_plain(group):
        raise TypeError(f"groups must be {GROUPS}, got {shown(group)} as a group")
    return [as_count(j, "a feature in groups") for j in group]


def is_plain(value: object) -> bool:
    """Whether it is a plain sequence: no word, no table by name, no graph such as those of networkx."""
    return isinstance(value, Iterable) and not isinstance(value, (str, Mapping)) and not hasattr(value, "nodes")


def shown(value: object) -> str:
    """What was given, a table or a graph by its type alone."""
    return f"a {type(value).__name__}" if isinstance(value, Iterable) and not isinstance(value, str) else repr(value)


def one_for_all(weights: ArrayLike | None, count: int) -> ArrayLike | None:
    """Weights, one number repeated."""
    return np.full(count, as_number(weights, "weights")) if weights is not None and np.ndim(weights) == 0 else weights


def as_parents(parents: Any) -> Floats:
    """The parent of each feature in order."""
    if not is_plain(parents):
        raise TypeError(f"parents must be the parent of each feature, such as [-1, 0, 0], got {shown(parents)}")
    return as_matrix(as_reals(list(parents), "parents"), "parents", shape=(None,))
