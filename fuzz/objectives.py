"""Random objectives: sums and differences of families, seen through views, and those that an engine is made for."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.cases import Term
from fuzz.draw import Draw
from fuzz.families import (
    GAINFUL,
    SUBMODULAR,
    cut,
    from_callable,
    gaussian_entropy,
    least_squares,
    log_det,
    modular,
    mutual_information,
    pairwise,
    table,
)

COEFFICIENTS = (1.0, 1.0, 0.5, 2.0, 0.1, 0.3, 1e-3, 1e3)


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


def rewarded(draw: Draw) -> Term:
    """Costs, often none or modular ones, minus rewards whose gains are compiled: what budgets are spent on."""
    costs = total(draw, GAINFUL, 1) if draw.chance(0.3) else modular(draw)
    return Term("Difference", {}, (costs, total(draw, GAINFUL, 2)))


def determinants(draw: Draw) -> Term:
    """Modular costs minus one or two log determinants."""
    return Term("Difference", {}, (modular(draw), total(draw, (log_det, gaussian_entropy), 2)))


def unknown(draw: Draw) -> Term:
    """A table or a callable of any kind against something submodular."""
    make = draw.choice([table, lambda d: from_callable(d, honest=False)])
    return Term(
        "Combination", {"coefficients": [1.0, draw.choice([-1.0, 1.0])]}, (make(draw), total(draw, SUBMODULAR, 1))
    )


OBJECTIVES = (difference,) * 8 + (quadratic,) * 3 + (rewarded,) * 3 + (determinants,) * 2
OBJECTIVES += (one_sided, one_sided, regression, regression, informative, unknown)
