"""Bad input ends in one sentence that names the argument, what was expected and what came."""

import numpy as np
import pytest

import dsprog as ds

F = ds.CardinalityConcave(3)


class Nowhere(ds.SetFunction):
    """NaN at {1}."""

    n, knows = 2, ds.Knowledge()

    def _values(self, masks):
        return np.where(masks[:, 1] & ~masks[:, 0], np.nan, 0.0)


CASES = {
    "weights with NaN": (
        lambda: ds.Modular([1.0, np.nan]),
        "weights must be finite, got NaN or infinity at index (1,)",
    ),
    "weights of words": (lambda: ds.Modular(["a"]), "weights must be an array of numbers"),
    "W of one dimension": (lambda: ds.ConcaveOfModular([1.0]), "W must have shape (any, any), got (1,)"),
    "negative W": (lambda: ds.ConcaveOfModular([[1.0, -2.0]]), "W must be non-negative"),
    "negative group": (lambda: ds.ConcaveOfModular([[1.0]], [-1.0]), "weights must be non-negative"),
    "group weights": (lambda: ds.ConcaveOfModular([[1.0]], [1.0, 2.0]), "weights must have shape (1,), got (2,)"),
    "unknown name": (lambda: ds.ConcaveOfModular([[1.0]], concave="cube"), "concave must be one of sqrt, log1p"),
    "convex power": (
        lambda: ds.ConcaveOfModular([[1.0]], concave="power", parameter=2),
        "parameter must lie in [0, 1]",
    ),
    "convex callable": (lambda: ds.ConcaveOfModular([[1.0]], concave=np.square), "concave must be concave on [0, 1]"),
    "rising increments": (lambda: ds.CardinalityConcave(2, [0, 1, 3]), "concave must have falling increments"),
    "ConcaveOf unknown": (lambda: ds.ConcaveOf(ds.FromCallable(len, 2)), "function must be known to be submodular"),
    "ConcaveOf decreasing": (
        lambda: ds.ConcaveOf(ds.Modular([-1.0])),
        "function must be known to be submodular and increasing",
    ),
    "members not 0/1": (lambda: ds.Coverage([[2.0]]), "members must be 0 or 1"),
    "negative coverage": (lambda: ds.Coverage([[1.0]], [-1.0]), "weights must be non-negative"),
    "negative similarity": (lambda: ds.FacilityLocation([[-1.0]]), "similarity must be non-negative"),
    "negative cut": (lambda: ds.Cut([[0, -1], [-1, 0]]), "adjacency must be non-negative"),
    "asymmetric cut": (lambda: ds.Cut([[0, 1], [0, 0]]), "adjacency must be symmetric"),
    "oblong cut": (lambda: ds.Cut([[0.0, 1.0]]), "adjacency must be square, got (1, 2)"),
    "infinite pair": (lambda: ds.Pairwise([[0, np.inf], [0, 0]]), "quadratic must be finite"),
    "wrong linear": (lambda: ds.Pairwise(np.zeros((2, 2)), [1.0]), "linear must have shape (2,), got (1,)"),
    "missing data": (lambda: ds.Entropy([[np.nan]]), "X must have no missing values"),
    "missing words": (lambda: ds.Entropy(np.array([["a"], [None]], dtype=object)), "X must have no missing values"),
    "no rows": (lambda: ds.Entropy(np.zeros((0, 2))), "X must have at least one row"),
    "class too short": (lambda: ds.ConditionalEntropy([[0], [1]], [0]), "y must have shape (2,), got (1,)"),
    "class and condition": (lambda: ds.MutualInformation([[0]], [0], given=[0]), "y and given exclude each other"),
    "indefinite L": (lambda: ds.LogDet([[0, 2], [2, 0]]), "L must be positive semidefinite"),
    "asymmetric L": (lambda: ds.LogDet([[1, 2], [0, 1]]), "L must be symmetric"),
    "singular cov": (lambda: ds.GaussianEntropy([[1, 1], [1, 1]]), "cov must be positive definite"),
    "blocks": (lambda: ds.MatroidRank.partition([0, 2], [1, 1]), "blocks must be numbered below 2"),
    "fractional edges": (lambda: ds.MatroidRank.graphic([(0.5, 1)]), "edges must be whole numbers"),
    "negative ridge": (lambda: ds.LeastSquares([[1.0]], [1.0], ridge=-1), "ridge must be non-negative"),
    "y too long": (lambda: ds.LeastSquares([[1.0]], [1.0, 2.0]), "y must have shape (1,), got (2,)"),
    "table of three": (lambda: ds.Table([1, 2, 3]), "table must have 2**n values, got 3"),
    "fn not callable": (lambda: ds.FromCallable(3, 2), "fn must be callable, got int"),
    "n not whole": (lambda: ds.FromCallable(len, 2.5), "n must be a whole number, got 2.5"),
    "n negative": (lambda: ds.CardinalityConcave(-1), "n must be at least 0, got -1"),
    "fn raises": (lambda: ds.FromCallable(lambda S: 1 / 0, 2)([0]), "fn raised ZeroDivisionError at S = (0,)"),
    "fn returns None": (
        lambda: ds.FromCallable(lambda S: None, 2)([1]),
        "fn must return a number, got None at S = (1,)",
    ),
    "fn returns inf": (lambda: ds.FromCallable(lambda S: np.inf, 2)([]), "fn must return a finite number, got inf"),
    "vectorized shape": (
        lambda: ds.FromCallable(lambda m: m, 2, vectorized=True)([0]),
        "fn must return an array of shape (1,), got (1, 2)",
    ),
    "element out of range": (lambda: F([3]), "S must have elements from 0 to 2, got 3"),
    "element negative": (lambda: F([-1]), "S must have elements from 0 to 2, got -1"),
    "element twice": (lambda: F([1, 1]), "S must name each element once, got [1, 1]"),
    "element fractional": (lambda: F([0.5]), "S must be elements (whole numbers from 0 to 2) or a boolean mask"),
    "short mask": (lambda: F([True, False]), "S as a boolean mask must have shape (3,), got (2,)"),
    "flat masks": (lambda: F.values([True, False, True]), "masks must have shape (B, 3), got (3,)"),
    "masks of twos": (lambda: F.values([[0, 1, 2]]), "masks must be boolean or 0/1"),
    "order out of range": (lambda: F.chains([[0, 7]]), "orders must have elements from 0 to 2"),
    "start rows": (lambda: F.chains([[0]], start=np.zeros((2, 3))), "start must have one row for each order"),
    "different n": (lambda: F + ds.Modular([1.0]), "functions must have the same ground set, got n = 3 and n = 1"),
    "different n in f - g": (lambda: F - ds.Modular([1.0]), "f and g must have the same ground set"),
    "minus a list": (lambda: F - [1, 2], "g must be a SetFunction or a number, got list"),
    "times a word": (lambda: "a" * F, "factor must be a number, got 'a'"),
    "permutation": (lambda: F.relabel([0, 0, 1]), "permutation must be a permutation of 0..2"),
    "include outside U": (lambda: F.restrict([0], [1, 2]), "include must lie within U, got element 0 outside it"),
    "declared nonsense": (lambda: F.declare(convex=True), "properties must be among submodular"),
    "objective": (lambda: ds.minimize(len), "objective must be a SetFunction such as f - g, got builtin_function"),
    "solver": (lambda: ds.minimize(F, "brute"), "solver must be a Solver object such as BruteForce(), got 'brute'"),
    "too large": (
        lambda: ds.minimize(ds.Modular(np.ones(26)), ds.BruteForce()),
        "BruteForce does not work with this problem: it needs n <= 25 elements, or at most 1,048,576 sets; use another",
    ),
    "checkpoint": (
        lambda: ds.minimize(F, ds.BruteForce(), checkpoint="a.npz"),
        "checkpoint must be left out: BruteForce keeps none",
    ),
    "constraint": (lambda: ds.minimize(F, constraints=[5]), "constraints must be Constraint objects"),
    "constraint elements": (
        lambda: ds.minimize(F, constraints=[ds.Include([9])]),
        "elements must have elements from 0 to 2, got 9",
    ),
    "cardinality order": (lambda: ds.Cardinality(3, 2), "max must be at least 3, got 2"),
    "time limit": (lambda: ds.minimize(F, time_limit=-1), "time_limit must be a number of seconds at least 0"),
    "gap": (lambda: ds.minimize(F, gap=np.nan), "gap must be a finite number at least 0, got nan"),
    "infeasible start": (
        lambda: ds.minimize(F, initial=[0], constraints=[ds.Exclude([0])]),
        "initial must satisfy the constraints",
    ),
    "not a set": (lambda: F(5), "S must be elements (whole numbers from 0 to 2) or a boolean mask, got 5"),
    "divided by zero": (lambda: F / 0, "divisor must not be 0"),
    "time limit of words": (lambda: ds.minimize(F, time_limit="5"), "time_limit must be a number of seconds"),
    "half a node": (lambda: ds.minimize(F, node_limit=2.5), "node_limit must be a whole number, got 2.5"),
    "complex weights": (lambda: ds.Modular([1j]), "weights must be an array of real numbers without gaps"),
    "empty batch": (lambda: ds.BruteForce(batch=0), "batch must be at least 1, got 0"),
    "values that are no numbers": (
        lambda: ds.minimize(Nowhere() - 1.0, ds.BruteForce()),
        "values of Difference must be finite, got nan at S = (1,)",
    ),
    "point outside the cube": (lambda: F.tangents([[3.0, 0, 0]]), "x must lie in the cube, from 0 to 1, got 0..3"),
    "bound of a supermodular function": (
        lambda: ds.modular_lower_bound(ds.Pairwise([[0, 1], [0, 0]]), [0, 1]),
        "f must be submodular for its modular bounds to hold",
    ),
    "slope that is none": (
        lambda: ds.ConcaveOfModular([[2.0, 4.0]], concave=(np.sqrt, lambda t: 0 * t)),
        "the slope of concave must give tangents above it",
    ),
    "convex at small scale": (
        lambda: ds.ConcaveOfModular([[0.3] * 3, [400, 300, 300]], concave=lambda t: t * t / (1 + t * t)),
        "concave must be concave on [0, 1000]",
    ),
    "slightly indefinite L": (lambda: ds.LogDet(np.diag([1e9, -0.999])), "L must be positive semidefinite"),
    "false declaration": (
        lambda: ds.minimize(ds.Pairwise([[0, 3], [0, 0]]).declare(submodular=True) - ds.CardinalityConcave(2)),
        "f must be submodular, but it is not submodular",
    ),
    "NaN among words": (lambda: ds.Entropy([["a"], [float("nan")]]), "X must have no missing values"),
    "declared but not submodular": (
        lambda: ds.minimize(ds.FromCallable(lambda S: len(S) ** 2, 4, submodular=True) - ds.CardinalityConcave(4)),
        "f must be submodular, but it is not submodular: f(S∪",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_clear_sentence(case):
    action, sentence = CASES[case]
    with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
        action()
    message = str(caught.value)
    assert sentence in message
    assert "\n" not in message
