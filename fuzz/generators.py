"""Random cases: every family, algebra, constraint, scale, solver and option, ties and degenerate ones among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz import referee
from fuzz.cases import Case, Code, Term

SCALES = (1e-9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e6, 1e9)
OFFSETS = (0.0, 0.0, 0.0, 0.0, 1.0, -7.5, 1e6, -1e9, 1e12)
COEFFICIENTS = (1.0, 1.0, 0.5, 2.0, 0.1, 0.3, 1e-3, 1e3)
SECONDS = 5.0  # of any call: what takes longer is stopped by its time limit
CURVES = (
    Code("lambda t: np.log1p(t)"),
    Code("(lambda t: np.log1p(t), lambda t: 1 / (1 + t))"),
    Code("lambda t: np.sqrt(t) + np.minimum(t, 2)"),
    Code("lambda t: t * (9 - t)"),
    Code("(lambda t: t * (9 - t), lambda t: 9 - 2 * t)"),
    Code("lambda t: 3 + 0 * t"),
)


class Draw:
    """Random numbers for one problem: its size, scale and style (whole numbers with ties, decimals, any)."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n
        self.scale = float(rng.choice(SCALES))
        self.digits = int(rng.choice([0, 0, 1, 2, 17]))

    def choice(self, options: Any) -> Any:
        """One of some."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p: float) -> bool:
        """With probability p."""
        return bool(self.rng.random() < p)

    def numbers(self, *shape: int, signed: bool = False, high: float = 4.0, scaled: bool = True) -> list:
        """An array in the style of the problem, some entries 0, some columns equal."""
        numbers = self.rng.uniform(-high if signed else 0.0, high, shape)
        if self.digits < 17:
            numbers = np.round(numbers, self.digits)
        numbers[self.rng.random(shape) < self.choice([0.0, 0.2, 0.6])] = 0.0
        if len(shape) and shape[-1] > 1 and self.chance(0.2):
            i, j = self.rng.choice(shape[-1], 2, replace=False)
            numbers[..., i] = numbers[..., j]
        return (numbers * (self.scale if scaled else 1.0) + 0.0).tolist()

    def matrix(self, rows: int, **style: Any) -> Any:
        """Rows of numbers for the elements."""
        return listed(np.array(self.numbers(rows, self.n, **style)).reshape(rows, self.n))

    def square(self, **style: Any) -> np.ndarray:
        """A number for every pair of elements."""
        return np.array(self.numbers(self.n, self.n, **style)).reshape(self.n, self.n)

    def codes(self, rows: int, columns: int) -> Any:
        """Discrete data."""
        X = self.rng.integers(0, self.choice([1, 2, 2, 3]), (rows, columns))
        if columns > 1 and self.chance(0.3):
            X[:, 0] = X[:, -1]
        return listed(X)

    def labels(self, rows: int) -> list[int]:
        """A class for every row."""
        return self.rng.integers(0, 2, rows).tolist()

    def subset(self, n: int, p: float = 0.4) -> list[int]:
        """Some of n elements."""
        return np.flatnonzero(self.rng.random(n) < p).tolist()


def listed(array: np.ndarray) -> Any:
    """An array as nested lists, or as source where lists would not tell its shape."""
    return array.tolist() if array.size else Code(f"np.zeros({array.shape})")


# -- families -------------------------------------------------------------------------------------------------------


def modular(draw: Draw) -> Term:
    """Weights of any sign and an offset."""
    return Term("Modular", {"weights": draw.numbers(draw.n, signed=True), "constant": draw.choice(OFFSETS)})


def curve(draw: Draw) -> dict[str, Any]:
    """φ, by name or as a callable."""
    if draw.chance(0.25):
        return {"concave": draw.choice(CURVES)}
    name = draw.choice(["sqrt", "log1p", "power", "truncate"])
    if name in ("sqrt", "log1p"):
        return {"concave": name}
    return {"concave": name, "parameter": draw.choice([0.0, 0.3, 0.5, 1.0] if name == "power" else [0.0, 1.0, 2.5])}


def concave_of_modular(draw: Draw) -> Term:
    """One to six groups."""
    groups, phi = draw.choice([1, 1, 2, 3, 6]), curve(draw)
    W = draw.matrix(groups, scaled=not isinstance(phi["concave"], Code))
    weights = {"weights": draw.numbers(groups)} if draw.chance(0.5) else {}
    return Term("ConcaveOfModular", {"W": W, **weights, **phi})


def cardinality_concave(draw: Draw) -> Term:
    """By name or by values."""
    if draw.chance(0.5):
        phi = curve(draw)
        return Term("CardinalityConcave", {"n": draw.n, **(phi if "(lambda" not in str(phi) else {"concave": "sqrt"})})
    steps = np.sort(np.array(draw.numbers(draw.n, signed=True)))[::-1]
    h = draw.choice([0.0, 1.0]) + np.concatenate([[0.0], np.cumsum(steps)])
    return Term("CardinalityConcave", {"n": draw.n, "concave": h.tolist()})


def coverage(draw: Draw) -> Term:
    """No items, one, or several."""
    items = draw.choice([0, 1, 3, 8])
    members = (draw.rng.random((items, draw.n)) < draw.choice([0.2, 0.5])).astype(int)
    weights = {"weights": draw.numbers(items)} if items and draw.chance(0.7) else {}
    return Term("Coverage", {"members": listed(members), **weights})


def facility_location(draw: Draw) -> Term:
    """One to five clients."""
    return Term("FacilityLocation", {"similarity": draw.matrix(draw.choice([1, 2, 5]))})


def probabilistic_coverage(draw: Draw) -> Term:
    """One to five targets; nobody, somebody, and everybody for certain."""
    targets = draw.choice([1, 2, 5])
    p = draw.rng.choice([0.0, 0.0, 0.1, 0.5, 0.9, 1.0], (targets, draw.n))
    weights = {"weights": draw.numbers(targets)} if draw.chance(0.5) else {}
    return Term("ProbabilisticCoverage", {"p": listed(p), **weights})


def cut(draw: Draw) -> Term:
    """Directed or not."""
    A = draw.square()
    if draw.chance(0.5):
        return Term("Cut", {"adjacency": listed(A), "directed": True})
    return Term("Cut", {"adjacency": listed(np.triu(A, 1) + np.triu(A, 1).T)})


def pairwise(draw: Draw, sign: float = -1.0) -> Term:
    """Submodular with sign -1, any with sign 0."""
    Q = draw.square(signed=sign == 0)
    Q = np.triu(Q) if draw.chance(0.5) else Q
    Q = Q if sign == 0 else -Q
    linear = draw.numbers(draw.n, signed=True)
    return Term("Pairwise", {"quadratic": listed(Q), "linear": linear, "constant": draw.choice(OFFSETS)})


def entropy(draw: Draw) -> Term:
    """Of few rows."""
    return Term("Entropy", {"X": draw.codes(draw.choice([1, 4, 12]), draw.n)})


def conditional_entropy(draw: Draw) -> Term:
    """Given a class."""
    rows = draw.choice([1, 4, 12])
    return Term("ConditionalEntropy", {"X": draw.codes(rows, draw.n), "y": draw.labels(rows)})


def mutual_information(draw: Draw, with_class: bool = False) -> Term:
    """Between S and the rest, given a variable, or with a class."""
    rows = draw.choice([1, 4, 12])
    extra = {"y" if with_class else "given": draw.labels(rows)}
    return Term(
        "MutualInformation", {"X": draw.codes(rows, draw.n), **(extra if with_class or draw.chance(0.4) else {})}
    )


def gram(draw: Draw, scaled: bool) -> np.ndarray:
    """A positive semidefinite matrix, of low rank now and then."""
    rank = draw.choice([1, draw.n + 1])
    B = np.array(draw.numbers(rank, draw.n, signed=True, high=2.0, scaled=False)).reshape(rank, draw.n)
    return (B.T @ B) * (draw.scale if scaled else 1.0)


def log_det(draw: Draw) -> Term:
    """At any scale."""
    return Term("LogDet", {"L": listed(gram(draw, draw.chance(0.3)))})


def gaussian_entropy(draw: Draw) -> Term:
    """Well or badly conditioned."""
    return Term("GaussianEntropy", {"cov": listed(gram(draw, False) + draw.choice([0.01, 0.5, 3.0]) * np.eye(draw.n))})


def nuclear_norm(draw: Draw) -> Term:
    """Of few or many rows."""
    return Term("NuclearNorm", {"X": draw.matrix(draw.choice([1, 2, draw.n + 2]), signed=True)})


def least_squares(draw: Draw) -> Term:
    """With dependent columns now and then."""
    rows = draw.choice([1, 3, draw.n + 3])
    ridge = {"ridge": draw.choice([0.1, 1e-3])} if draw.chance(0.3) else {}
    X = listed(draw.rng.normal(size=(rows, draw.n)).round(draw.choice([1, 3])))
    return Term("LeastSquares", {"X": X, "y": draw.numbers(rows, signed=True), **ridge})


def rank(draw: Draw) -> Term:
    """Uniform, partition or graphic."""
    kind = draw.choice(["uniform", "partition", "graphic"])
    if kind == "uniform" or draw.n == 0:
        return Term("MatroidRank.uniform", {"n": draw.n, "rank": int(draw.rng.integers(0, draw.n + 2))})
    if kind == "partition":
        blocks = draw.rng.integers(0, 3, draw.n).tolist()
        return Term("MatroidRank.partition", {"blocks": blocks, "capacities": draw.rng.integers(0, 3, 3).tolist()})
    return Term("MatroidRank.graphic", {"edges": draw.rng.integers(0, draw.choice([2, 4]), (draw.n, 2)).tolist()})


def concave_of(draw: Draw) -> Term:
    """φ of something increasing and non-negative."""
    inner = draw.choice([coverage, facility_location, rank, entropy])(draw)
    if draw.chance(0.3):
        more = Term("Modular", {"weights": draw.numbers(draw.n), "constant": draw.choice([0.0, 0.3])})
        inner = Term("Combination", {"coefficients": [1.0, 1.0]}, (inner, more))
    phi = {"concave": draw.choice(["sqrt", "log1p"])} if draw.chance(0.7) else {"concave": "truncate", "parameter": 2.0}
    return Term("ConcaveOf", phi, (inner,))


def table(draw: Draw) -> Term:
    """Any function at all."""
    return Term("Table", {"table": draw.numbers(1 << min(draw.n, 8), signed=True)}) if draw.n <= 8 else modular(draw)


def submodular_table(draw: Draw) -> Term:
    """A submodular function by its values."""
    if draw.n > 6:
        return modular(draw)
    return Term("Table", {"table": referee.values(draw.choice([cut, coverage, rank])(draw)).tolist()})


def from_callable(draw: Draw, honest: bool = True) -> Term:
    """A submodular callable, of which the user says so, or (not honest) nothing."""
    if draw.n > 6:
        return modular(draw)
    inner = (submodular_table if honest else draw.choice([table, submodular_table]))(draw)
    values = referee.values(inner).tolist()
    if draw.chance(0.5):
        fn = Code(f"lambda S, t={values}: t[sum(1 << j for j in S)]")
        data: dict[str, Any] = {"fn": fn, "n": draw.n}
    else:
        fn = Code(f"lambda M, t=np.array({values}): t[M @ (1 << np.arange(M.shape[1]))]")
        data = {"fn": fn, "n": draw.n, "vectorized": True}
    return Term("FromCallable", data | ({"submodular": True} if honest else {}))


SUBMODULAR: tuple[Callable[[Draw], Term], ...] = (
    modular,
    concave_of_modular,
    concave_of_modular,
    cardinality_concave,
    concave_of,
    coverage,
    facility_location,
    probabilistic_coverage,
    cut,
    pairwise,
    entropy,
    conditional_entropy,
    mutual_information,
    log_det,
    gaussian_entropy,
    nuclear_norm,
    rank,
    submodular_table,
    from_callable,
)


# -- algebra --------------------------------------------------------------------------------------------------------


def seen(draw: Draw, make: Callable[[Draw], Term]) -> Term:
    """A term as it is, or through a view."""
    if not draw.chance(0.3):
        return make(draw)
    kind = draw.choice(["restrict", "complement", "relabel", "declare"])
    if kind == "restrict" and draw.n <= 8:
        return restricted(draw, make)
    if kind == "complement":
        return Term("complement", {}, (make(draw),))
    if kind == "relabel":
        return Term("relabel", {"permutation": draw.rng.permutation(draw.n).tolist()}, (make(draw),))
    inner = make(draw)
    return Term("declare", {"submodular": True}, (inner,)) if kind == "declare" else inner


def restricted(draw: Draw, make: Callable[[Draw], Term]) -> Term:
    """A function of one or two elements more, some of them fixed."""
    n, more = draw.n, int(draw.rng.integers(0, 3))
    draw.n = n + more
    inner = make(draw)
    draw.n = n
    fixed = draw.rng.choice(n + more, more, replace=False).tolist()
    inside = fixed[: int(draw.rng.integers(0, more + 1))]
    allowed = [j for j in range(n + more) if j not in fixed or j in inside]
    return Term("restrict", {"include": inside, "within": allowed}, (inner,))


def total(draw: Draw, makers: tuple[Callable[[Draw], Term], ...], most: int = 3) -> Term:
    """A sum with positive coefficients."""
    terms = tuple(seen(draw, draw.choice(makers)) for _ in range(int(draw.rng.integers(1, most + 1))))
    if len(terms) == 1 and draw.chance(0.5):
        return terms[0]
    return Term("Combination", {"coefficients": [draw.choice(COEFFICIENTS) for _ in terms]}, terms)


def difference(draw: Draw) -> Term:
    """f - g, both submodular; f = g now and then, or a multiple of it, or f with more."""
    f = total(draw, SUBMODULAR)
    if draw.chance(0.08):
        a, more = draw.choice([1.0, 1.0, 0.3, 1.0 - 1e-9]), seen(draw, draw.choice(SUBMODULAR))
        return Term(
            "Difference", {}, (f, Term("Combination", {"coefficients": [a, draw.choice([0.0, 1.0])]}, (f, more)))
        )
    return Term("Difference", {}, (f, total(draw, SUBMODULAR)))


def one_sided(draw: Draw) -> Term:
    """f, or -g."""
    return Term("Combination", {"coefficients": [draw.choice([1.0, -1.0])]}, (total(draw, SUBMODULAR),))


def quadratic(draw: Draw) -> Term:
    """Cuts, pairs and modular functions with any signs."""
    terms = [pairwise(draw, 0.0), *(draw.choice([cut, modular, pairwise])(draw) for _ in range(draw.choice([0, 0, 1])))]
    return Term("Combination", {"coefficients": [draw.choice([1.0, -1.0, 0.5]) for _ in terms]}, tuple(terms))


def regression(draw: Draw) -> Term:
    """Least squares with a submodular penalty."""
    penalty = total(draw, SUBMODULAR, 1)
    return Term("Combination", {"coefficients": [1.0, draw.choice([0.01, 0.1, 1.0])]}, (least_squares(draw), penalty))


def informative(draw: Draw) -> Term:
    """Costs minus information with a class."""
    costs = Term("Modular", {"weights": draw.numbers(draw.n, high=0.3, scaled=False)})
    return Term("Difference", {}, (costs, mutual_information(draw, with_class=True)))


def unknown(draw: Draw) -> Term:
    """A table or a callable of any kind against something submodular."""
    make = draw.choice([table, lambda d: from_callable(d, honest=False)])
    return Term(
        "Combination", {"coefficients": [1.0, draw.choice([-1.0, 1.0])]}, (make(draw), total(draw, SUBMODULAR, 1))
    )


OBJECTIVES = (difference,) * 8 + (quadratic,) * 3 + (one_sided, one_sided, regression, regression, informative, unknown)


# -- constraints ----------------------------------------------------------------------------------------------------


def cardinality(draw: Draw) -> Term:
    """From below, from above, or both."""
    least = int(draw.rng.integers(0, draw.n + 1)) if draw.chance(0.95) else draw.n + 1
    most = draw.choice([None, int(draw.rng.integers(least, draw.n + 2))])
    return Term("Cardinality", {"min": least if draw.chance(0.6) else 0, "max": most})


def included(draw: Draw) -> Term:
    """Elements inside or outside."""
    return Term(draw.choice(["Include", "Exclude"]), {"elements": draw.subset(draw.n, 0.25)})


def met_by(draw: Draw, row: list, S: list[int]) -> float:
    """The weight of a set, exactly if weights have few decimals; else a little beside it."""
    weight = sum(row[j] for j in S)
    return round(weight, 2) if draw.digits < 17 else weight + 0.01


def knapsack(draw: Draw) -> Term:
    """A capacity that some set meets exactly, or that none does."""
    weights = draw.numbers(draw.n, scaled=False)
    chosen = met_by(draw, weights, draw.subset(draw.n))
    return Term("Knapsack", {"weights": weights, "capacity": chosen if draw.chance(0.9) else -0.5})


def partition(draw: Draw) -> Term:
    """Three blocks."""
    capacities = [draw.choice([0, 1, 2, 1.5]) for _ in range(3)]
    return Term("Partition", {"blocks": draw.rng.integers(0, 3, draw.n).tolist(), "capacities": capacities})


def linear(draw: Draw) -> Term:
    """One or two rows, from one side or both."""
    rows = draw.choice([1, 1, 2])
    A = draw.numbers(rows, draw.n, signed=True, scaled=False)
    S = draw.subset(draw.n)
    met = [met_by(draw, row, S) for row in A]
    kind = draw.choice(["low", "high", "equal", "band"])
    lo = [-np.inf if kind == "high" else m - (1.0 if kind == "band" else 0.0) for m in met]
    hi = [np.inf if kind == "low" else m + (0.5 if kind == "band" else 0.0) for m in met]
    return Term("LinearConstraint", {"A": A, "lo": lo, "hi": hi})


CONSTRAINTS = (cardinality, cardinality, included, knapsack, partition, linear)


def constraints(draw: Draw) -> tuple[Term, ...]:
    """None for most, else one or two."""
    count = draw.choice([0, 0, 0, 1, 1, 2])
    return tuple(draw.choice(CONSTRAINTS)(draw) for _ in range(count))


# -- calls ----------------------------------------------------------------------------------------------------------


def solver(draw: Draw, **choices: list) -> str:
    """Arguments of a solver, each left out now and then."""
    named = {name: draw.choice(values) for name, values in choices.items() if draw.chance(0.5)}
    return "(" + ", ".join(f"{name}={value!r}" for name, value in named.items()) + ")"


BOUNDS = [("modular",), ("dual",), ("modular", "dual"), ("dual", "modular")]
INTERVAL = {
    "bounds": BOUNDS,
    "extensions": [False],
    "steps": [1, 9],
    "batch": [1, 3],
    "leaf": [0, 1, 5],
    "unit": [1, 7],
    "starts": [0, 1],
}
PRISMATIC = {"bound": ["lp", "bilp"], "subdivision": ["optimum"], "no_goods": [True], "tolerance": [0.0, 1e-4]}
EXACT: dict[str, dict[str, list]] = {
    "BruteForce": {"batch": [1, 5]},
    "BranchAndBound": INTERVAL,
    "CompactModel": {"tolerance": [0.0, 1e-5], "starts": [0, 2], "backend": ["highs", "scip"]},
    "Race": {"turn": [0.01, 0.1]},
    "Prismatic": PRISMATIC,
    "QuadraticBranchAndBound": {
        "trial": [0, 3],
        "sparse": [0.0, 1.0],
        "large": [0, 8],
        "starts": [0, 1],
        "probing": [True],
    },
    "PerspectiveBranchAndBound": {"steps": [0, 3], "root_steps": [1], "root_rounds": [1], "unit": [1, 5]},
    "Scip": {},
}
APPROXIMATE: dict[str, dict[str, list]] = {
    "DCA": {"complete": [True], "rho": [0.0, 1.0], "iterations": [1, 5], "restarts": [1, 3]},
    "SSP": {"order": ["random", "best"], "restarts": [1, 3], "tries": [1]},
    "ModMod": {"restarts": [1, 3]},
    "SupSub": {"restarts": [1, 3]},
    "Greedy": {"direction": ["backward", "bidirectional"], "restarts": [1, 4]},
    "LocalSearch": {"moves": ["swap", "tabu"], "restarts": [1, 3], "steps": [1, 20]},
    "DoubleGreedy": {"randomised": [True], "restarts": [1, 3]},
}
RESUMING = (None, "BranchAndBound", "CompactModel", "QuadraticBranchAndBound", "PerspectiveBranchAndBound", "Prismatic")
LISTING = (None, None, "BranchAndBound", "PerspectiveBranchAndBound", "BruteForce")


def solver_source(draw: Draw, name: str | None) -> str | None:
    """A solver with random options."""
    return None if name is None else f"ds.{name}{solver(draw, **(EXACT | APPROXIMATE)[name])}"


def pick_solver(draw: Draw, make: Callable) -> str | None:
    """The default, one that fits the objective, or any."""
    fitting = {quadratic: "QuadraticBranchAndBound", regression: "PerspectiveBranchAndBound"}.get(
        make, "BranchAndBound"
    )
    general = ["BruteForce", "BranchAndBound", "CompactModel", "Race", "Prismatic", "Scip"]
    if draw.chance(0.04):
        return draw.choice(list(EXACT))
    return (
        draw.choice([None, None, fitting, fitting, *general]) if draw.chance(0.75) else draw.choice(list(APPROXIMATE))
    )


def options(draw: Draw, plan: str) -> dict[str, Any]:
    """Arguments of the call."""
    chosen: dict[str, Any] = {"time_limit": SECONDS, "seed": int(draw.rng.integers(0, 3))}
    if draw.chance(0.5):
        chosen["reduce"] = draw.choice([True, False])
    if plan != "resume" and draw.chance(0.15):
        chosen["node_limit"] = draw.choice([0, 1, 2, 5, 20])
    if plan != "resume" and draw.chance(0.08):
        chosen["callback"] = Code("lambda event: event.nodes > 2")
    if plan == "enumerate":
        return chosen | {"k": draw.choice([1, 2, 3, 7, 40]), "within": draw.choice([None, None, 0.0, 1.0 * draw.scale])}
    if draw.chance(0.12):
        chosen["gap"] = draw.choice([1e-6, 0.01, 0.5])
    if draw.chance(0.2):
        chosen["initial"] = draw.subset(draw.n)
    return chosen


FREE = ("QuadraticBranchAndBound", "DCA", "SSP", "ModMod", "SupSub", "DoubleGreedy")  # work without constraints only


def random_case(seed: int, index: int) -> Case:
    """The case of that number."""
    rng = np.random.default_rng([seed, index])
    make = OBJECTIVES[int(rng.integers(len(OBJECTIVES)))]
    sizes = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) if make is not quadratic else (1, 3, 5, 8, 13, 14)
    draw = Draw(rng, int(rng.choice(sizes)))
    plan = draw.choice(["minimize"] * 6 + ["enumerate", "resume"])
    objective, rows = make(draw), constraints(draw)
    some = {"enumerate": LISTING, "resume": RESUMING}
    name = draw.choice(some[plan]) if plan in some else pick_solver(draw, make)
    if name in FREE and draw.chance(0.9):
        rows = ()
    limits = tuple(int(k) for k in rng.integers(0, 12, 3)) if plan == "resume" else ()
    return Case(objective, rows, solver_source(draw, name), options(draw, plan), plan, limits)
