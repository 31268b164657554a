"""An independent referee: every function from its definition, every set, exact constraints.

It shares no code with the library. ``values(term)`` are the values of all 2**n sets, bit j of an index saying whether
element j is in the set, so that algebra is arithmetic on arrays and views are rearrangements of them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fuzz.cases import Code, Term

Array = np.ndarray


def all_sets(n: int) -> Array:
    """All sets as rows of 0 and 1."""
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


def members(row: Array) -> list[int]:
    """The elements of a set."""
    return np.flatnonzero(row).tolist()


def array(term: Term, name: str, default: Array | None = None) -> Array:
    """An argument as an array of numbers."""
    value = term.data.get(name, default)
    return np.array(eval(value.text, {"np": np}) if isinstance(value, Code) else value, dtype=float)


def rows_of(term: Term) -> list[tuple]:
    """Discrete data, row by row."""
    return [tuple(row) for row in array(term, "X").tolist()]


# -- families -------------------------------------------------------------------------------------------------------


def phi_of(concave: Any, parameter: float | None) -> Any:
    """A concave function of one number by name, or a user's."""
    if isinstance(concave, Code):
        given = eval(concave.text, {"np": np})
        return given[0] if isinstance(given, tuple) else given
    if concave == "power":
        p = 0.5 if parameter is None else parameter
        return lambda t: np.power(t, p)
    if concave == "truncate":
        return lambda t: np.minimum(t, 1.0 if parameter is None else parameter)
    return {"sqrt": np.sqrt, "log1p": np.log1p}[concave]


def modular(term: Term) -> Array:
    """constant + Σ weights_j."""
    w = array(term, "weights")
    return term.data.get("constant", 0.0) + all_sets(len(w)) @ w


def concave_of_modular(term: Term) -> Array:
    """Σ_k weights_k φ(W_k(S))."""
    W, phi = array(term, "W"), phi_of(term.data["concave"], term.data.get("parameter"))
    sums = all_sets(W.shape[1]) @ W.T
    return phi(sums) @ array(term, "weights", np.ones(len(W)))


def cardinality_concave(term: Term) -> Array:
    """h(|S|)."""
    n, h = term.data["n"], term.data["concave"]
    sizes = all_sets(n).sum(axis=1)
    if isinstance(h, list):
        return np.array(h, dtype=float)[sizes]
    return np.asarray(phi_of(h, term.data.get("parameter"))(np.arange(n + 1.0)), dtype=float)[sizes]


def concave_of(term: Term) -> Array:
    """φ(f(S))."""
    return phi_of(term.data["concave"], term.data.get("parameter"))(values(term.parts[0]))


def coverage(term: Term) -> Array:
    """The weight of the items that some element covers."""
    covers = array(term, "members").astype(int)
    return (all_sets(covers.shape[1]) @ covers.T > 0) @ array(term, "weights", np.ones(len(covers)))


def facility_location(term: Term) -> Array:
    """Σ_i max_{j∈S} s_ij, 0 for the empty set."""
    s = array(term, "similarity")
    return sum((np.max(all_sets(s.shape[1]) * row, axis=1, initial=0.0) for row in s), np.zeros(1 << s.shape[1]))


def probabilistic_coverage(term: Term) -> Array:
    """Σ_i weights_i (1 - Π_{j∈S} (1 - p_ij))."""
    p = array(term, "p")
    weights = array(term, "weights") if "weights" in term.data else np.ones(len(p))
    missed = (np.prod(np.where(all_sets(p.shape[1]) == 1, 1.0 - row, 1.0), axis=1) for row in p)
    return sum((w * (1.0 - q) for w, q in zip(weights, missed)), np.zeros(1 << p.shape[1]))


def cut(term: Term) -> Array:
    """The weight of the edges from S to the rest."""
    A = array(term, "adjacency")
    x = all_sets(len(A))
    return ((x @ A) * (1 - x)).sum(axis=1)


def pairwise(term: Term) -> Array:
    """constant + linear(S) + Σ_{i,j∈S} Q_ij."""
    Q = array(term, "quadratic")
    x = all_sets(len(Q))
    return term.data.get("constant", 0.0) + x @ array(term, "linear") + ((x @ Q) * x).sum(axis=1)


def entropy_of(rows: list[tuple]) -> float:
    """-Σ p log p of the empirical distribution."""
    total = len(rows)
    return -math.fsum(c / total * math.log(c / total) for c in Counter(rows).values()) + 0.0


def joint_entropies(X: list, extra: list[list]) -> Array:
    """H of the chosen columns and the extra ones, for every set."""
    n, fixed = len(X[0]), list(zip(*extra)) if extra else [()] * len(X)
    sets = [members(row) for row in all_sets(n)]
    return np.array([entropy_of([(*(r[j] for j in S), *e) for r, e in zip(X, fixed)]) for S in sets])


def entropy(term: Term) -> Array:
    """H(X_S)."""
    return joint_entropies(rows_of(term), [])


def conditional_entropy(term: Term) -> Array:
    """H(X_S, y) - H(y)."""
    joint = joint_entropies(rows_of(term), [term.data["y"]])
    return joint - joint[0]


def mutual_information(term: Term) -> Array:
    """I(X_S; y), or I(X_S; X_{V∖S}) = H(S) + H(V∖S) - H(V), each given a variable if there is one."""
    X, y, given = rows_of(term), term.data.get("y"), term.data.get("given")
    if y is not None:
        H, joint = joint_entropies(X, []), joint_entropies(X, [y])
        return H + joint[0] - joint
    H = joint_entropies(X, [given] if given is not None else [])
    return H + H[::-1] - H[-1] - H[0]


def log_det(term: Term) -> Array:
    """log det(I + L_S)."""
    return determinants(np.eye(len(array(term, "L"))) + array(term, "L"))


def gaussian_entropy(term: Term) -> Array:
    """½ log det(2πe Σ_S)."""
    return 0.5 * determinants(2 * math.pi * math.e * array(term, "cov"))


def determinants(M: Array) -> Array:
    """log det of every principal submatrix."""
    sets = [members(row) for row in all_sets(len(M))]
    return np.array([np.linalg.slogdet(M[np.ix_(S, S)])[1] if S else 0.0 for S in sets])


def nuclear_norm(term: Term) -> Array:
    """The sum of the singular values of the chosen columns."""
    X = array(term, "X")
    sets = [members(row) for row in all_sets(X.shape[1])]
    return np.array([np.linalg.svd(X[:, S], compute_uv=False).sum() if S else 0.0 for S in sets])


def least_squares(term: Term) -> Array:
    """min over w of (1/2m)|y - X_S w|² + (ridge/2)|w|²."""
    X, y = array(term, "X"), array(term, "y")
    m, n = X.shape
    ridge = np.vstack([X / math.sqrt(m), math.sqrt(term.data.get("ridge", 0.0)) * np.eye(n)])
    target = np.concatenate([y / math.sqrt(m), np.zeros(n)])
    return np.array([half_residual(ridge[:, members(row)], target) for row in all_sets(n)])


def half_residual(A: Array, b: Array) -> float:
    """½ of the squared distance of b from the span of the columns of A."""
    rest = b - A @ np.linalg.lstsq(A, b, rcond=None)[0] if A.shape[1] else b
    return 0.5 * float(rest @ rest)


def uniform_rank(term: Term) -> Array:
    """min(|S|, rank)."""
    return np.minimum(all_sets(term.data["n"]).sum(axis=1), term.data["rank"]).astype(float)


def partition_rank(term: Term) -> Array:
    """Σ_k min(|S ∩ block k|, capacity k)."""
    x, blocks = all_sets(len(term.data["blocks"])), array(term, "blocks")
    ranks = (np.minimum(x[:, blocks == k].sum(axis=1), c) for k, c in enumerate(term.data["capacities"]))
    return sum(ranks, np.zeros(len(x)))


def graphic_rank(term: Term) -> Array:
    """How many edges a spanning forest of S has."""
    edges = term.data["edges"]
    return np.array([forest([edges[j] for j in members(row)]) for row in all_sets(len(edges))], dtype=float)


def forest(edges: list) -> int:
    """The size of a spanning forest, by merging labels."""
    label = {v: v for edge in edges for v in edge}
    count = 0
    for p, q in edges:
        old, new = label[p], label[q]
        if old != new:
            count += 1
            label = {v: new if at == old else at for v, at in label.items()}
    return count


def table(term: Term) -> Array:
    """As listed."""
    return array(term, "table")


def from_callable(term: Term) -> Array:
    """What the callable says, one set after another."""
    fn = eval(term.data["fn"].text, {"np": np})
    x = all_sets(term.data["n"])
    if term.data.get("vectorized"):
        return np.asarray(fn(x.astype(bool)), dtype=float)
    return np.array([float(fn(frozenset(members(row)))) for row in x])


# -- algebra --------------------------------------------------------------------------------------------------------


def combination(term: Term) -> Array:
    """Σ a_k f_k."""
    return sum(a * values(part) for a, part in zip(term.data["coefficients"], term.parts))


def difference(term: Term) -> Array:
    """f - g."""
    return values(term.parts[0]) - values(term.parts[1])


def restricted(term: Term) -> Array:
    """T -> f(I ∪ T), T inside the free elements numbered in order."""
    inner = values(term.parts[0])
    include = set(term.data["include"])
    free = [j for j in sorted(term.data["within"]) if j not in include]
    base = sum(1 << j for j in include)
    return inner[[base + sum(1 << free[k] for k in members(row)) for row in all_sets(len(free))]]


def complemented(term: Term) -> Array:
    """S -> f(V∖S): the indices backwards."""
    return values(term.parts[0])[::-1]


def relabelled(term: Term) -> Array:
    """New element k is old element permutation[k]."""
    old = term.data["permutation"]
    return values(term.parts[0])[[sum(1 << old[k] for k in members(row)) for row in all_sets(len(old))]]


def declared(term: Term) -> Array:
    """The function itself."""
    return values(term.parts[0])


DEFINITIONS = {
    "Modular": modular,
    "ConcaveOfModular": concave_of_modular,
    "CardinalityConcave": cardinality_concave,
    "ConcaveOf": concave_of,
    "Coverage": coverage,
    "FacilityLocation": facility_location,
    "ProbabilisticCoverage": probabilistic_coverage,
    "Cut": cut,
    "Pairwise": pairwise,
    "Entropy": entropy,
    "ConditionalEntropy": conditional_entropy,
    "MutualInformation": mutual_information,
    "LogDet": log_det,
    "GaussianEntropy": gaussian_entropy,
    "NuclearNorm": nuclear_norm,
    "LeastSquares": least_squares,
    "MatroidRank.uniform": uniform_rank,
    "MatroidRank.partition": partition_rank,
    "MatroidRank.graphic": graphic_rank,
    "Table": table,
    "FromCallable": from_callable,
    "Combination": combination,
    "Difference": difference,
    "restrict": restricted,
    "complement": complemented,
    "relabel": relabelled,
    "declare": declared,
}


def values(term: Term) -> Array:
    """f of every set, computed once."""
    if "values" not in term.memo:
        term.memo["values"] = np.asarray(DEFINITIONS[term.kind](term), dtype=float)
    found: Array = term.memo["values"]
    return found


def size(term: Term) -> int:
    """n."""
    return len(values(term)).bit_length() - 1


def largest_inside(term: Term) -> float:
    """The largest number on the way to a value, which is no more exact: an entry of a matrix whose determinants are
    taken, log of the number of rows in an entropy.
    """
    if term.kind in ("Entropy", "ConditionalEntropy", "MutualInformation"):
        return 4.0 * (1.0 + math.log(len(rows_of(term))))
    entries = [array(term, name) for name in ("L", "cov") if name in term.data]
    return max((max(1.0, float(np.abs(M).max(initial=0.0))) for M in entries), default=0.0)


def magnitudes(term: Term, factor: float = 1.0) -> tuple[float, float]:
    """The largest |a h(S)| and the widest range of a h over sets, for the families h and their coefficients a."""
    if term.kind == "Combination":
        inner = [magnitudes(part, factor * abs(a)) for a, part in zip(term.data["coefficients"], term.parts)]
    elif term.kind in ("Difference", "restrict", "complement", "relabel", "declare"):
        inner = [magnitudes(part, factor) for part in term.parts]
    else:
        v = factor * values(term)
        least = factor * largest_inside(term)
        wide = float(np.ptp(v))
        if term.kind == "MutualInformation":  # a difference of entropies, which programmes are made of
            wide = max(wide, factor * math.log(len(array(term, "X"))))
        inner = [(max(least, float(np.abs(v).max())), wide)]
    return max((m for m, _ in inner), default=0.0), max((r for _, r in inner), default=0.0)


# -- constraints ----------------------------------------------------------------------------------------------------


def exact(number: float) -> Fraction:
    """A number as its decimals say."""
    return Fraction(repr(float(number)))


def within(row: list, S: list[int], lo: float, hi: float) -> bool:
    """lo <= row(S) <= hi in rational arithmetic."""
    total = sum((exact(row[j]) for j in S), Fraction(0))
    return (lo == -math.inf or exact(lo) <= total) and (hi == math.inf or total <= exact(hi))


def allows(constraint: Term, S: list[int]) -> bool:
    """Whether a set satisfies a constraint."""
    data = constraint.data
    if constraint.kind == "Cardinality":
        return data["min"] <= len(S) and (data["max"] is None or len(S) <= data["max"])
    if constraint.kind == "Include":
        return set(data["elements"]) <= set(S)
    if constraint.kind == "Exclude":
        return not set(data["elements"]) & set(S)
    if constraint.kind == "Knapsack":
        return within(data["weights"], S, -math.inf, data["capacity"])
    if constraint.kind == "Partition":
        return all(sum(data["blocks"][j] == k for j in S) <= c for k, c in enumerate(data["capacities"]))
    return all(within(row, S, lo, hi) for row, lo, hi in zip(data["A"], data["lo"], data["hi"]))


@dataclass(frozen=True)
class Truth:
    """All that is true of a problem: the value and the feasibility of every set."""

    objective: Term
    constraints: tuple[Term, ...]

    @cached_property
    def values(self) -> Array:
        """Of all sets."""
        return values(self.objective)

    @cached_property
    def feasible(self) -> Array:
        """Of all sets."""
        sets = [members(row) for row in all_sets(len(self.values).bit_length() - 1)]
        return np.array([all(allows(constraint, S) for constraint in self.constraints) for S in sets])

    @cached_property
    def sorted_values(self) -> Array:
        """The values of the feasible sets, least first."""
        return np.sort(self.values[self.feasible])

    @property
    def minimum(self) -> float:
        """The least value of a feasible set; infinite if there is none."""
        return float(self.sorted_values[0]) if len(self.sorted_values) else math.inf

    @cached_property
    def rounding(self) -> float:
        """What computed values may be off: 1e-9 of the widest range of a term, and 64 units in the last place of the
        largest value of one.
        """
        largest, widest = magnitudes(self.objective)
        return 1e-9 * widest + 64 * np.finfo(float).eps * largest
