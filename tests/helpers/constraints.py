"""Constraints of random kinds."""

import dsprog as ds


def random_constraints(rng, n):
    """A few constraints of random kinds, not always feasible."""
    kinds = [
        lambda: ds.Cardinality(int(rng.integers(0, n // 2 + 1)), int(rng.integers(n // 2, n + 1))),
        lambda: ds.Knapsack(rng.random(n), 0.3 * n * rng.random()),
        lambda: ds.Include(rng.permutation(n)[: rng.integers(0, 2)]),
        lambda: ds.Exclude(rng.permutation(n)[: rng.integers(0, 3)]),
        lambda: ds.Partition(rng.integers(0, 3, n), rng.integers(0, 3, 3)),
        lambda: ds.LinearConstraint(rng.normal(size=(2, n)), lo=-1.0, hi=[0.5, 2.0]),
    ]
    return [kinds[k]() for k in rng.permutation(len(kinds))[: rng.integers(1, 3)]]
