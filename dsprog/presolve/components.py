"""Components: groups of elements that no term, and no constraint, joins.

Then v(S) - v(I) is the sum of v(I ∪ (S ∩ C)) - v(I) over the components C, which are minimised one by one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.validation import Ints


def connected(objective: Difference, free: Ints, more: Iterable[Ints] = ()) -> tuple[Ints, ...]:
    """The free elements in parts that no term joins, and none of some further groups."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if len(free) == 0:
        return ()
    place = np.full(objective.n, -1)
    place[free] = np.arange(len(free))
    heads, tails = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for group in (*objective.groups(), *more):
        members = place[group][place[group] >= 0]
        heads.append(members[:-1])
        tails.append(members[1:])
    edges = np.concatenate(heads), np.concatenate(tails)
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(len(free), len(free)))
    _, label = connected_components(graph, directed=False)
    return tuple(free[label == k] for k in np.unique(label))
