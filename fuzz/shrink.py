"""Make a failing case smaller while it still fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.cases import Case, Term

# By element: along which axes of which arguments the elements lie.
AXES: dict[str, dict[str, tuple[int, ...]]] = {
    "Modular": {"weights": (0,)},
    "ConcaveOfModular": {"W": (1,)},
    "Coverage": {"members": (1,)},
    "FacilityLocation": {"similarity": (1,)},
    "ProbabilisticCoverage": {"p": (1,)},
    "Cut": {"adjacency": (0, 1)},
    "Pairwise": {"quadratic": (0, 1), "linear": (0,)},
    "Entropy": {"X": (1,)},
    "ConditionalEntropy": {"X": (1,)},
    "MutualInformation": {"X": (1,)},
    "LogDet": {"L": (0, 1)},
    "GaussianEntropy": {"cov": (0, 1)},
    "NuclearNorm": {"X": (1,)},
    "LeastSquares": {"X": (1,)},
    "MatroidRank.partition": {"blocks": (0,)},
    "MatroidRank.graphic": {"edges": (0,)},
    "Knapsack": {"weights": (0,)},
    "Partition": {"blocks": (0,)},
    "LinearConstraint": {"A": (1,)},
    "Cardinality": {},
}
NEVER = ("restrict", "relabel", "Table", "FromCallable")


def shrink(case: Case, fails: Callable[[Case], bool], tries: int = 200) -> Case:
    """The smallest case met that fails, by single steps until none works or the tries are used up."""
    while True:
        for smaller in steps(case):
            tries -= 1
            if tries < 0:
                return case
            if fails(smaller):
                case = smaller
                break
        else:
            return case


def steps(case: Case) -> Iterator[Case]:
    """Cases that are a little smaller."""
    for name in case.options:
        if name not in ("k", "within", "time_limit"):
            yield case.without_options(name)
    for k in range(len(case.constraints)):
        yield replace(case, constraints=case.constraints[:k] + case.constraints[k + 1 :])
    if case.node_limits:
        yield replace(case, node_limits=case.node_limits[1:])
        yield replace(case, plan="minimize", node_limits=())
    for smaller in simpler(case.objective):
        yield replace(case, objective=smaller)
    yield from fewer_elements(case)
    for rounder in rounded(case.objective):
        yield replace(case, objective=rounder)


def simpler(term: Term) -> Iterator[Term]:
    """A part instead of the whole, a sum without a term, or the same of a part."""
    if term.kind in ("Combination", "Difference", "complement", "relabel", "declare"):
        yield from term.parts
    if term.kind == "Combination" and len(term.parts) > 1:
        for k in range(len(term.parts)):
            coefficients = [a for i, a in enumerate(term.data["coefficients"]) if i != k]
            yield Term(term.kind, {"coefficients": coefficients}, term.parts[:k] + term.parts[k + 1 :])
    for k, part in enumerate(term.parts):
        for smaller in simpler(part):
            yield replace(term, parts=(*term.parts[:k], smaller, *term.parts[k + 1 :]))


def fewer_elements(case: Case) -> Iterator[Case]:
    """Without element j, for every j, where all terms allow it."""
    terms = [*case.objective.walk(), *case.constraints]
    if any(t.kind in NEVER for t in terms) or "initial" in case.options:
        return
    for j in range(20):
        try:
            objective, constraints = without(case.objective, j), tuple(without(c, j) for c in case.constraints)
        except (IndexError, TypeError):  # there is no such element, or an argument without a shape
            return
        yield replace(case, objective=objective, constraints=constraints)


def without(term: Term, j: int) -> Term:
    """The same without element j."""
    data = dict(term.data)
    if term.kind in ("CardinalityConcave", "MatroidRank.uniform"):
        if j >= data["n"]:
            raise IndexError(j)
        data["n"] -= 1
        if isinstance(data.get("concave"), list):
            data["concave"] = data["concave"][:-1]
    elif term.kind in ("Include", "Exclude"):
        data["elements"] = [i - (i > j) for i in data["elements"] if i != j]
    for name, axes in AXES.get(term.kind, {}).items():
        for axis in axes:
            data[name] = np.delete(np.array(data[name]), j, axis).tolist()
    return Term(term.kind, data, tuple(without(part, j) for part in term.parts))


def rounded(term: Term) -> Iterator[Term]:
    """The same with one array of rounder numbers."""
    for name, value in term.data.items():
        if isinstance(value, list) and name not in ("include", "within", "permutation"):
            for digits in (0, 2):
                rounder = round_nested(value, digits)
                if rounder != value:
                    yield replace(term, data=term.data | {name: rounder})
    for k, part in enumerate(term.parts):
        for rounder in rounded(part):
            yield replace(term, parts=(*term.parts[:k], rounder, *term.parts[k + 1 :]))


def round_nested(value: Any, digits: int) -> Any:
    """Numbers in nested lists rounded."""
    return [round_nested(v, digits) for v in value] if isinstance(value, list) else round(value, digits)
