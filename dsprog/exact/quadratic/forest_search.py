"""A search for sparse quadratic functions that moves half of the elements at a time.

Elements are taken in random order into F as long as the pairs among them form a forest; with all others as they are,
the best labels of F follow by dynamic programming from the leaves to the roots. No move makes the value worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.functions.matroid import find_root

SPARSE = 8.0  # pairs of an element, on average, up to which forests are large
ROUNDS = 64  # forests between two looks at whether the value has fallen


class Forest(NamedTuple):
    """Work space: the tree of each element, whether it was taken, its order, its parent, and costs of both labels."""

    root: Ints
    taken: Masks
    order: Ints
    parent: Ints
    zero: Floats
    one: Floats


@part
def grow_forest(indptr, indices, permutation, forest):
    """Take elements while no cycle closes: the neighbours that were taken must lie in different trees."""
    root, taken = forest.root, forest.taken
    for i in range(len(root)):
        root[i], taken[i] = i, False
    for i in permutation:
        closes = False
        for p in range(indptr[i], indptr[i + 1]):
            if not taken[indices[p]]:
                continue
            tree = find_root(root, indices[p])
            for q in range(indptr[i], p):
                if taken[indices[q]] and find_root(root, indices[q]) == tree:
                    closes = True
        if not closes:
            taken[i] = True
            for p in range(indptr[i], indptr[i + 1]):
                if taken[indices[p]]:
                    root[find_root(root, indices[p])] = i


@kernel
def forest_kernel(u, indptr, indices, data, permutations, x, forest):
    """Optimise x over one forest after the other."""
    order, parent, zero, one, taken = forest.order, forest.parent, forest.zero, forest.one, forest.taken
    n = len(u)
    for r in range(len(permutations)):
        grow_forest(indptr, indices, permutations[r], forest)
        for i in range(n):
            parent[i], zero[i], one[i] = -2, 0.0, u[i]
            for p in range(indptr[i], indptr[i + 1]):
                if x[indices[p]] and not taken[indices[p]]:
                    one[i] += data[p]
        count, done = 0, 0
        for i in permutations[r]:
            if not taken[i] or parent[i] != -2:
                continue
            parent[i], order[count] = -1, i
            count += 1
            while done < count:  # breadth first, so that parents come before their children
                k = order[done]
                done += 1
                for p in range(indptr[k], indptr[k + 1]):
                    if taken[indices[p]] and parent[indices[p]] == -2:
                        parent[indices[p]], order[count] = k, indices[p]
                        count += 1
        for c in range(count - 1, -1, -1):
            k = order[c]
            for p in range(indptr[k], indptr[k + 1]):
                if indices[p] == parent[k]:
                    zero[parent[k]] += min(zero[k], one[k])
                    one[parent[k]] += min(zero[k], one[k] + data[p])
        for c in range(count):
            k = order[c]
            cost = one[k]
            for p in range(indptr[k], indptr[k + 1]):
                if indices[p] == parent[k] and x[parent[k]]:
                    cost += data[p]
            if cost != zero[k]:
                x[k] = cost < zero[k]


def has_forests(form: QuadraticForm) -> bool:
    """Whether the form is so sparse that forests have many elements."""
    return form.n > 2 and form.pairs.nnz <= SPARSE * form.n


def forest_search(
    form: QuadraticForm, masks: Masks, rng: np.random.Generator, rounds: int = ROUNDS
) -> tuple[Masks, Floats]:
    """Improve sets until some forests in a row change nothing.

    >>> import numpy as np
    >>> path = QuadraticForm.dense([1.0, -3.0, 1.0], [[0, 2, 0], [2, 0, 2], [0, 2, 0]])
    >>> forest_search(path, np.zeros((1, 3), dtype=bool), np.random.default_rng(0))[1]
    array([-3.])
    """
    masks, n = masks.copy(), form.n
    whole, real = np.empty(n, dtype=np.int64), np.empty(n)
    forest = Forest(whole, np.empty(n, dtype=bool), whole.copy(), whole.copy(), real, real.copy())
    values = form.values(masks)
    for b in range(len(masks)):
        while True:
            permutations = rng.permuted(np.tile(np.arange(n), (rounds, 1)), axis=1)
            forest_kernel(*form.compiled, permutations, masks[b], forest)
            value = form.values(masks[b : b + 1])[0]
            if not value < values[b] - 1e-12 * form.scale:
                break
            values[b] = value
    return masks, form.values(masks)
