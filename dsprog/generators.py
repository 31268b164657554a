"""Instances for tests, benchmarks and papers: pure builders of data, and seeded families of objectives.

A family is a function (n, seed) -> objective; :data:`FAMILIES` lists them by name, so that tests and benchmarks cross
the same table.

>>> from dsprog import generators
>>> generators.FAMILIES["concave"](5, seed=0).n
5
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats
from dsprog.functions.cardinality import CardinalityConcave
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation
from dsprog.functions.from_callable import FromCallable
from dsprog.functions.graph import Cut, Pairwise
from dsprog.functions.information import ConditionalEntropy, Entropy
from dsprog.functions.matroid import MatroidRank
from dsprog.functions.mutual_information import MutualInformation
from dsprog.functions.nuclear import NuclearNorm
from dsprog.functions.polynomial import PseudoBoolean
from dsprog.functions.probabilistic import ProbabilisticCoverage
from dsprog.functions.spectral import GaussianEntropy, LogDet
from dsprog.functions.table import Table

Family = Callable[[int, int], Difference]


# -- data -----------------------------------------------------------------------------------------------------------


def sparse_weights(rng: np.random.Generator, groups: int, n: int, density: float = 0.5) -> Floats:
    """Weights uniform on [0, 1], kept with the given probability."""
    return rng.random((groups, n)) * (rng.random((groups, n)) < density)


def incidence(rng: np.random.Generator, items: int, n: int, degree: float = 4.0) -> np.ndarray:
    """Items that each of n elements covers with probability degree / n."""
    return (rng.random((items, n)) < min(1.0, degree / max(n, 1))).astype(float)


def correlation_kernel(rng: np.random.Generator, n: int, length: float = 0.3) -> Floats:
    """A squared-exponential kernel of n random points of the square."""
    points = rng.random((n, 2))
    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-distances / (2 * length**2))


def feature_kernel(rng: np.random.Generator, n: int, rank: int) -> Floats:
    """Inner products of n random features of the given dimension, over its root."""
    features = rng.normal(size=(max(rank, 1), n))
    return features.T @ features / np.sqrt(max(rank, 1))


def station_covariance(rng: np.random.Generator, n: int, days: int = 0) -> Floats:
    """Sample covariance of ``days`` readings (4n if 0) at n stations of a region, as maximum-entropy sampling has them.

    Readings are a smooth field, a few weather patterns that all stations share, and noise of each station's own size.
    """
    points, samples = rng.random((n, 2)), days or 4 * n
    distances = np.sqrt(((points[:, None, :] - points[None]) ** 2).sum(axis=2))
    root = np.linalg.cholesky(np.exp(-distances / 0.3) + 1e-9 * np.eye(n))
    patterns = rng.normal(size=(samples, 3)) @ rng.normal(size=(3, n))
    readings = rng.normal(size=(samples, n)) @ root.T + 0.5 * patterns
    readings += rng.normal(size=(samples, n)) * rng.uniform(0.1, 0.5, n)
    return np.asarray(np.cov(readings, rowvar=False)).reshape(n, n)


def random_graph(rng: np.random.Generator, n: int, density: float = 0.5) -> Floats:
    """A symmetric matrix of weights uniform on [0, 1], kept with the given probability."""
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def random_monomials(rng: np.random.Generator, n: int, count: int) -> list[tuple[int, ...]]:
    """Sets of up to four elements, the empty one among them."""
    return [tuple(rng.choice(n, min(n, size), replace=False).tolist()) for size in rng.integers(0, 5, count)]


def discrete_data(rng: np.random.Generator, rows: int, n: int, arity: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Dependent discrete columns and a binary class that drives some of them."""
    y = rng.integers(0, 2, rows)
    X = rng.integers(0, arity, (rows, n))
    for j in range(n):
        copied = rng.random(rows) < 0.5
        source = X[:, rng.integers(0, j)] if j and rng.random() < 0.7 else y % arity
        X[copied, j] = source[copied]
    return X, y


# -- families of objectives -----------------------------------------------------------------------------------------


def sparse_linear_model(rng: np.random.Generator, rows: int, n: int, k: int) -> tuple[Floats, Floats, Floats, float]:
    """X of standard Gaussians, k weights of standard Gaussians, y = Xw + σε with signal and noise of equal power.

    Returns X, y, w and σ = ‖Xw‖ / √rows.
    """
    X, chosen, w = rng.standard_normal((rows, n)), rng.choice(n, k, replace=False), np.zeros(n)
    w[chosen] = rng.standard_normal(k)
    sigma = float(np.linalg.norm(X @ w) / np.sqrt(rows))
    return X, X @ w + sigma * rng.standard_normal(rows), w, sigma


def facility_rewards(n: int, seed: int = 0) -> FacilityLocation:
    """n + 1 clients, benefits uniform on [0, 1] in thousandths."""
    return FacilityLocation(np.random.default_rng(seed).random((n + 1, n)).round(3))


def coverage_rewards(n: int, seed: int = 0) -> Coverage:
    """n + 1 items with weights in thousandths, each covered by a fifth of the elements."""
    rng = np.random.default_rng(seed)
    return Coverage(incidence(rng, n + 1, n, 0.2 * n), rng.random(n + 1).round(3))


def influence_rewards(n: int, seed: int = 0) -> ProbabilisticCoverage:
    """n + 1 targets, each reached by a tenth of the elements with probabilities uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    return ProbabilisticCoverage(rng.random((n + 1, n)).round(3) * (rng.random((n + 1, n)) < 0.1))


def clustered_points(n: int, seed: int = 0, clusters: int = 8) -> Floats:
    """Normal clouds around points of the square [0, 10]²."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 10.0, (clusters, 2))[rng.integers(0, clusters, n)] + rng.normal(size=(n, 2))


def concave_difference(n: int, seed: int = 0) -> Difference:
    """Σ√(Wf S) + c(S) - Σ√(Wg S) with 2n groups each, half of the weights zero, c standard normal."""
    rng = np.random.default_rng(seed)
    f, g = sparse_weights(rng, 2 * n, n), sparse_weights(rng, 2 * n, n)
    return (ConcaveOfModular(f) + Modular(rng.normal(size=n))) - ConcaveOfModular(g)


def coverage_difference(n: int, seed: int = 0) -> Difference:
    """Coverage minus coverage, 3n items each of mean degree 4, weights uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    f = Coverage(incidence(rng, 3 * n, n), rng.random(3 * n))
    return f - Coverage(incidence(rng, 3 * n, n), rng.random(3 * n))


def facility_difference(n: int, seed: int = 0) -> Difference:
    """Facility location minus facility location, 2n clients each, similarities uniform on [0, 1], and small costs."""
    rng = np.random.default_rng(seed)
    f = FacilityLocation(rng.random((2 * n, n))) + Modular(rng.normal(size=n))
    return f - FacilityLocation(rng.random((2 * n, n)))


def logdet_difference(n: int, seed: int = 0) -> Difference:
    """log det minus log det of two random kernels of rank n/2."""
    rng = np.random.default_rng(seed)
    return LogDet(feature_kernel(rng, n, n // 2)) - LogDet(feature_kernel(rng, n, n // 2))


def sensor_placement(n: int, seed: int = 0) -> Difference:
    """Costs of regions that share their infrastructure minus the information of Gaussian sensors."""
    rng = np.random.default_rng(seed)
    regions = max(1, n // 4)
    member = rng.integers(0, regions, n) == np.arange(regions)[:, None]
    return ConcaveOfModular(member * rng.uniform(0.2, 1.0, n)) - GaussianEntropy(
        correlation_kernel(rng, n) + 0.1 * np.eye(n)
    )


def entropy_sampling(n: int, seed: int = 0) -> Difference:
    """Minus the entropy of Gaussian stations, for a budget: maximum-entropy sampling."""
    return Modular(np.zeros(n)) - GaussianEntropy(station_covariance(np.random.default_rng(seed), n))


def entropy_difference(n: int, seed: int = 0) -> Difference:
    """Feature costs minus mutual information with a class, as H(X_S | y) + costs - H(X_S)."""
    rng = np.random.default_rng(seed)
    X, y = discrete_data(rng, 60, n)
    return (ConditionalEntropy(X, y) + Modular(0.05 * rng.random(n))) - Entropy(X)


def explaining_away_difference(n: int, seed: int = 0) -> Difference:
    """I(S; V∖S | y) - I(S; V∖S): symmetric minus symmetric."""
    X, y = discrete_data(np.random.default_rng(seed), 60, n)
    return MutualInformation(X, given=y) - MutualInformation(X)


def cut_difference(n: int, seed: int = 0) -> Difference:
    """Cut minus cut, with a standard normal modular term."""
    rng = np.random.default_rng(seed)
    return (Cut(random_graph(rng, n)) + Modular(rng.normal(size=n))) - Cut(random_graph(rng, n))


def pairwise_energy(n: int, seed: int = 0) -> Difference:
    """A quadratic function with integer coefficients from -10 to 10, of both signs."""
    rng = np.random.default_rng(seed)
    quadratic = np.triu(rng.integers(-10, 11, (n, n)), 1)
    return Difference(Pairwise(quadratic, linear=rng.integers(-10, 11, n)))


def polynomial_difference(n: int, seed: int = 0) -> Difference:
    """2n products of up to four elements, their coefficients whole numbers from -5 to 5."""
    rng = np.random.default_rng(seed)
    return Difference(PseudoBoolean(n, random_monomials(rng, n, 2 * n), rng.integers(-5, 6, 2 * n)))


def autocorrelation(n: int, window: int) -> Difference:
    """Low-autocorrelation windows (the Bernasconi model of finite range), for signs s_0, ..., s_{n-1}:

        E(s) = Σ_{i=0}^{n-R} Σ_{d=1}^{R-1} ( Σ_{j=i}^{i+R-1-d} s_j s_{j+d} )²,        R = window,

    as a function of S = {i : s_i = -1} less its value at S = ∅, E(1) = (n - R + 1)(R - 1)R(2R - 1)/6: the polynomial of
    0/1 variables without its constant, as in MINLPLib's instances autocorr_bern n-R.

    >>> autocorrelation(6, 3)([1, 4])
    -8.0
    """
    signs: dict[tuple[int, ...], float] = {}
    for i in range(n - window + 1):
        for d in range(1, window):
            lags = [(j, j + d) for j in range(i, i + window - d)]
            for a, b in lags:
                for c, e in lags:
                    odd = tuple(sorted({a, b} ^ {c, e}))
                    signs[odd] = signs.get(odd, 0.0) + 1.0
    energy = PseudoBoolean.of_signs(n, list(signs), list(signs.values()))
    return Difference(energy - energy([]))


def rank_difference(n: int, seed: int = 0) -> Difference:
    """Graphic rank plus integer costs minus twice a partition rank: full of ties."""
    rng = np.random.default_rng(seed)
    vertices = max(2, n // 2)
    graphic = MatroidRank.graphic(rng.integers(0, vertices, (n, 2)), vertices)
    blocks = max(1, n // 3)
    partition = MatroidRank.partition(rng.integers(0, blocks, n), rng.integers(1, 3, blocks))
    return (graphic + Modular(rng.integers(-1, 2, n))) - 2 * partition


def spectral_difference(n: int, seed: int = 0) -> Difference:
    """Nuclear norm minus √ of coverage and a concave function of the size."""
    rng = np.random.default_rng(seed)
    covered = ConcaveOf(Coverage(incidence(rng, 2 * n + 1, n)), "sqrt")
    return NuclearNorm(rng.normal(size=(n + 1, n)) / 3) - (2 * covered + CardinalityConcave(n, "log1p"))


def random_table(n: int, seed: int = 0) -> Difference:
    """2**n independent normal values: no structure at all."""
    return Difference(Table(np.random.default_rng(seed).normal(size=1 << n)))


def plain_callable(n: int, seed: int = 0) -> Difference:
    """:func:`concave_difference` through a Python callable, declared submodular."""
    objective = concave_difference(n, seed)
    return as_callable(objective.f) - as_callable(objective.g)


def as_callable(f: SetFunction) -> FromCallable:
    """Hide a submodular function behind a Python callable."""
    return FromCallable(f, f.n, submodular=True)


FAMILIES: dict[str, Family] = {
    "concave": concave_difference,
    "coverage": coverage_difference,
    "facility": facility_difference,
    "logdet": logdet_difference,
    "sensors": sensor_placement,
    "entropy": entropy_difference,
    "explaining-away": explaining_away_difference,
    "cut": cut_difference,
    "pairwise": pairwise_energy,
    "polynomial": polynomial_difference,
    "rank": rank_difference,
    "spectral": spectral_difference,
    "table": random_table,
    "callable": plain_callable,
}
