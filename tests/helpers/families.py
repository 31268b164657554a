"""One function of every family, by name."""

import numpy as np
from scipy.sparse import csc_array

import dsprog as ds
from dsprog.generators import (
    correlation_kernel,
    discrete_data,
    incidence,
    random_graph,
    random_monomials,
    sparse_weights,
)


def build(name, n, seed=0):
    """The function of that name on n elements; all builders by name without one."""
    rng = np.random.default_rng([seed, n])
    X, y = discrete_data(rng, 40, n)
    table = {
        "modular": lambda: ds.Modular(rng.normal(size=n), 2.0),
        "sqrt": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), rng.random(5)),
        "log1p": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), concave="log1p"),
        "power": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), concave="power", parameter=0.7),
        "power-0": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), concave="power", parameter=0.0),
        "truncate": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), concave="truncate", parameter=0.8),
        "callable-phi": lambda: ds.ConcaveOfModular(sparse_weights(rng, 5, n), concave=np.tanh),
        "phi-and-slope": lambda: ds.ConcaveOfModular(
            sparse_weights(rng, 5, n), concave=(lambda t: 1 - np.exp(-t), lambda t: np.exp(-t))
        ),
        "cardinality": lambda: ds.CardinalityConcave(n, "log1p"),
        "cardinality-table": lambda: ds.CardinalityConcave(n, -((np.arange(n + 1) - n / 2) ** 2)),
        "concave-of-coverage": lambda: ds.ConcaveOf(ds.Coverage(incidence(rng, 9, n)), "sqrt"),
        "concave-of-facility": lambda: ds.ConcaveOf(ds.FacilityLocation(rng.random((4, n))), "log1p"),
        "coverage": lambda: ds.Coverage(incidence(rng, 9, n), rng.random(9)),
        "coverage-integral": lambda: ds.Coverage(incidence(rng, 9, n)),
        "probabilistic": lambda: ds.ProbabilisticCoverage(
            np.where(rng.random((6, n)) < 0.6, rng.choice([0.1, 0.35, 0.8, 1.0], (6, n)), 0.0), rng.random(6)
        ),
        "facility": lambda: ds.FacilityLocation(rng.random((6, n)).round(1)),
        "facility-sparse": lambda: ds.FacilityLocation(csc_array(sparse_weights(rng, 6, n).round(1))),
        "cut": lambda: ds.Cut(random_graph(rng, n)),
        "cut-directed": lambda: ds.Cut(rng.random((n, n)), directed=True),
        "pairwise": lambda: ds.Pairwise(rng.normal(size=(n, n)), rng.normal(size=n), 3.0),
        "pairwise-submodular": lambda: ds.Pairwise(-rng.random((n, n)), rng.normal(size=n)),
        "entropy": lambda: ds.Entropy(X),
        "conditional-entropy": lambda: ds.ConditionalEntropy(X, y),
        "information": lambda: ds.MutualInformation(X),
        "information-given": lambda: ds.MutualInformation(X, given=y),
        "information-class": lambda: ds.MutualInformation(X, y),
        "logdet": lambda: ds.LogDet(3 * correlation_kernel(rng, n)),
        "gaussian": lambda: ds.GaussianEntropy(correlation_kernel(rng, n) + 0.2 * np.eye(n)),
        "nuclear": lambda: ds.NuclearNorm(rng.normal(size=(5, n))),
        "uniform": lambda: ds.MatroidRank.uniform(n, 2),
        "partition": lambda: ds.MatroidRank.partition(rng.integers(0, 3, n), [1, 2, 0]),
        "graphic": lambda: ds.MatroidRank.graphic(rng.integers(0, 4, (n, 2)), 4),
        "least-squares": lambda: ds.LeastSquares(rng.normal(size=(12, n)), rng.normal(size=12)),
        "logistic": lambda: ds.LogisticLoss(rng.normal(size=(12, n)), rng.choice([-1, 1], 12), 0.1, intercept=True),
        "least-squares-dependent": lambda: ds.LeastSquares(
            rng.normal(size=(12, n))[:, rng.integers(0, max(1, n // 2), n)], rng.normal(size=12)
        ),
        "least-squares-ridge": lambda: ds.LeastSquares(rng.normal(size=(3, n)), rng.normal(size=3), ridge=0.1),
        "polynomial": lambda: ds.PseudoBoolean(n, random_monomials(rng, n, 3 * n), rng.normal(size=3 * n).round(1)),
        "polynomial-submodular": lambda: ds.PseudoBoolean(n, random_monomials(rng, n, 9), -rng.random(9)),
        "polynomial-of-signs": lambda: ds.PseudoBoolean.of_signs(
            n, random_monomials(rng, n, n), rng.integers(-3, 4, n)
        ),
        "table": lambda: ds.Table(rng.normal(size=1 << n)),
        "callable": lambda: ds.FromCallable(lambda S: len(S) ** 0.5, n, submodular=True),
        "callable-vectorized": lambda: ds.FromCallable(
            lambda masks: masks.sum(axis=1) ** 0.5, n, True, vectorized=True
        ),
    }
    return table if name is None else table[name]()


NAMES = list(build(None, 3))
