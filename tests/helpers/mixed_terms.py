"""Functions of every kind, and objectives that mix them."""

import numpy as np

import dsprog as ds
from dsprog.generators import discrete_data, incidence, random_graph, sparse_weights


def term_kinds(rng, n):
    """A function of every kind, submodular."""
    X, y = discrete_data(rng, 30, n)
    coverage = ds.Coverage(incidence(rng, 2 * n, n), rng.random(2 * n))
    counted = ds.Coverage(incidence(rng, 2 * n, n))
    concave = (lambda t: np.log1p(t), lambda t: 1 / (1 + t))
    kinds = {
        "coverage": coverage,
        "facility": ds.FacilityLocation(rng.random((3, n)) * (rng.random((3, n)) < 0.6)),
        "cut": ds.Cut(random_graph(rng, n)),
        "directed cut": ds.Cut(np.triu(random_graph(rng, n)), directed=True),
        "pairwise": ds.Pairwise(-np.triu(rng.random((n, n)), 1), rng.normal(size=n), 0.5),
        "few groups": ds.ConcaveOfModular(sparse_weights(rng, 2, n)),
        "many groups": ds.ConcaveOfModular(sparse_weights(rng, 7, n), rng.random(7), "log1p"),
        "truncated": ds.ConcaveOfModular(rng.integers(0, 3, (3, n)), concave="truncate", parameter=2.0),
        "power": ds.ConcaveOfModular(rng.random((1, n)), concave="power", parameter=0.3),
        "callable": ds.ConcaveOfModular(rng.random((2, n)), concave=lambda t: t * (n - t)),
        "callable with slope": ds.ConcaveOfModular(rng.random((2, n)), concave=concave),
        "cardinality": ds.CardinalityConcave(n, "sqrt"),
        "concave of coverage": ds.ConcaveOf(counted, "sqrt"),
        "concave of facility": ds.ConcaveOf(ds.FacilityLocation(rng.random((2, n))), "log1p"),
        "concave of sum": ds.ConcaveOf(coverage + ds.Modular(rng.random(n)), "sqrt"),
        "concave of shifted sum": ds.ConcaveOf(coverage + ds.Modular(rng.random(n), 0.3), "sqrt"),
        "log of shifted sum": ds.ConcaveOf(coverage + ds.Modular(rng.random(n), 0.1), "log1p"),
        "concave of nothing": ds.ConcaveOf(ds.Coverage(np.zeros((2, n))), "sqrt"),
        "entropy": ds.Entropy(X),
        "conditional entropy": ds.ConditionalEntropy(X, y),
        "logdet": ds.LogDet(np.eye(n) + np.ones((n, n)) / n),
        "rank": ds.MatroidRank.uniform(n, 2),
        "modular": ds.Modular(rng.normal(size=n), 1.0),
    }
    kinds |= {f"{name}, complemented": kinds[name].complement() for name in ("coverage", "few groups", "entropy")}
    kinds |= {f"{name}, declared": kinds[name].declare(submodular=True) for name in ("coverage", "logdet")}
    return kinds


KINDS = tuple(term_kinds(np.random.default_rng(0), 4))


def costs(rng, f, g):
    """Modular costs that put the optimum of f - g somewhere inside."""
    single = f.marginals(np.zeros((1, f.n), dtype=bool))[0] - g.marginals(np.zeros((1, f.n), dtype=bool))[0]
    return ds.Modular(-single * rng.random(f.n) + 0.1 * np.abs(single).max() * rng.normal(size=f.n))


def mixed_objective(case, n, seed=0):
    """Two kinds added, two subtracted, and costs; the cases 0, 1, ... have every kind on both sides in turn."""
    rng = np.random.default_rng([case, n, seed])
    kinds, count = list(term_kinds(rng, n).values()), len(KINDS)
    added, subtracted = [kinds[(case + k) % count] for k in (0, 5)], [kinds[(case + k) % count] for k in (11, 18)]
    f, g = added[0] + 0.5 * added[1], subtracted[0] + 2.0 * subtracted[1]
    return f + costs(rng, f, g) - g


def mixed_constraints(case, n):
    """None, or sizes, weights, forced elements, blocks, a general row."""
    weights = 1.0 + np.arange(n) % 4
    choices = [
        [],
        [ds.Cardinality(2, n // 2)],
        [ds.Knapsack(weights, 0.4 * weights.sum()), ds.Exclude([1])],
        [ds.Include([0]), ds.Partition(np.arange(n) * 3 // n, [2, n, 1])],
        [ds.LinearConstraint(np.where(np.arange(n) % 2, 1.0, -1.5), -2.0, 1.0)],
    ]
    return choices[case % len(choices)]
