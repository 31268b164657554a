"""Linear algebra of set functions: sums and differences that keep their signed terms.

A linear combination keeps its *signed terms*, flattened, equal ones merged and cancelled, modular ones added up. This
matters: a submodular part common to f and g never improves a bound of f - g and usually weakens it.

>>> import dsprog as ds
>>> f, g = ds.CardinalityConcave(3, "sqrt"), ds.Modular([1.0, 0.5, 0.2])
>>> (f + g - f).terms
(Term(coefficient=1.0, function=Modular(n=3; modular, increasing)),)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import GainModel
from dsprog.core.identity import summary
from dsprog.core.knowledge import ZERO, Knowledge
from dsprog.core.labels import joined_labels
from dsprog.core.modular import Modular
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_number, shortened

FEW = 16  # terms that are compared one by one


class Term(NamedTuple):
    """``coefficient`` * ``function``."""

    coefficient: float
    function: SetFunction

    @property
    def knows(self) -> Knowledge:
        """What the scaled function knows."""
        return self.function.knows.scaled(self.coefficient)


class LinearCombination(SetFunction):
    """f(S) = Σ_k a_k f_k(S)."""

    terms: tuple[Term, ...]

    def _set_terms(self, n: int, terms: tuple[Term, ...]) -> None:
        self.n, self.terms, self.knows = n, terms, ZERO
        for term in terms:
            self.knows = self.knows.plus(term.knows)
        if not self.knows.symmetric and complement_pairs(terms):
            self.knows = replace(self.knows, symmetric=True)
        # A concave extension of a sum is the sum of concave extensions; only modular ones survive a negative factor.
        self.has_concave_extension = all(
            h.has_concave_extension and (a > 0 or h.knows.modular is True) for a, h in terms
        )
        self.has_columns = all(h.has_columns for _, h in terms)
        self.has_gains = all(h.has_gains for _, h in terms)
        self.has_gain_table = all(h.has_gain_table for _, h in terms)

    def _values(self, masks: Masks) -> Floats:
        total = np.zeros(len(masks))
        for a, h in self.terms:
            total += a * h._checked_values(masks)
        return total

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return sum((a * h._marginals(masks, among) for a, h in self.terms), np.zeros(masks.shape))

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return sum((a * h._chains(orders, start) for a, h in self.terms), np.zeros(orders.shape))

    def _concave_extension(self, x: Floats) -> Floats:
        return sum((a * h._concave_extension(x) for a, h in self.terms), np.zeros(len(x)))

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = np.zeros(len(x)), np.zeros(x.shape)
        for a, h in self.terms:
            constant, slope = h._tangents(x)
            constants += a * constant
            slopes += a * slope
        return constants, slopes

    def inner(self) -> tuple[SetFunction, ...]:
        """The functions of the terms."""
        return tuple(h for _, h in self.terms)

    def groups(self) -> list[Ints]:
        """Those of all terms."""
        return [group for h in self.inner() for group in h.groups()]

    def quadratic_form(self) -> QuadraticForm | None:
        """The sum of the forms, if every term has one."""
        forms = [(a, h.quadratic_form()) for a, h in self.terms]
        known = [(a, form) for a, form in forms if form is not None]
        return QuadraticForm.combined(self.n, known) if len(known) == len(forms) else None

    def extremes(self) -> Floats:
        """What terms say of themselves without values, added to the values of the others."""
        say = [type(h.function).extremes is not SetFunction.extremes for h in self.terms]
        if not any(say):
            return super().extremes()
        others = Sum(self.n, [h for h, says in zip(self.terms, say) if not says]).extremes()
        ranges = [others, *(a * h.extremes() for (a, h), says in zip(self.terms, say) if says)]
        return np.array([sum(values.min() for values in ranges), sum(values.max() for values in ranges)])

    def gain_table(self, j: int, others: Ints, given: Masks) -> Floats:
        """The sum of those of the terms."""
        return sum((a * h.gain_table(j, others, given) for a, h in self.terms), np.zeros(1 << len(others)))

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """Each term on the side of its sign."""
        total = Expression()
        for a, h in self.terms:
            total = total.plus(model.enter(h, elements, weight * a).scaled(a))
        return total

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """Each term with its sign."""
        for a, h in self.terms:
            model.enter(h, elements, weight * a)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        return self._mapped(len(free), lambda h: h._restrict(include, free))

    def _complement(self) -> SetFunction:
        return self._mapped(self.n, lambda h: h.complement())

    def _relabel(self, order: Ints) -> SetFunction:
        return self._mapped(self.n, lambda h: h._relabel(order))

    def _mapped(self, n: int, transform: Callable[[SetFunction], SetFunction]) -> SetFunction:
        """Every term transformed, so that each keeps what it knows."""
        return Sum(n, [(a, transform(h)) for a, h in self.terms])

    def curvature(self) -> Floats | None:
        """The sum of what the terms with positive coefficients have; the others count as 0 only if submodular."""
        if self.knows.submodular is not True:
            return None
        parts = [(a, h.curvature()) for a, h in self.terms if a > 0 and h.knows.submodular is True]
        known = [a * H for a, H in parts if H is not None]
        return sum(known[1:], known[0]) if known else None

    def __repr__(self) -> str:
        words = [f"{'-' if a < 0 else '+'} {'' if abs(a) == 1 else f'{abs(a):g} * '}{h!r}" for a, h in self.terms]
        return (" ".join(words) or "0").removeprefix("+ ")


class Sum(LinearCombination):
    """Σ_k a_k f_k(S); written ``f + g``, ``2 * f``, ``-f``.

    >>> import dsprog as ds
    >>> total = 2 * ds.CardinalityConcave(4) + ds.Coverage([[1, 0, 0, 1]])
    >>> total([0]), total.knows.submodular
    (3.0, True)
    """

    def __init__(self, n: int, terms: Sequence[tuple[float, SetFunction]]) -> None:
        as_count(n, "n")
        given = as_terms(terms, n)
        self._set_terms(n, collect(n, given))
        self._labels = joined_labels(h.element_labels for _, h in given)


class Difference(LinearCombination):
    """f(S) - g(S), f and g submodular; written ``f - g``.

    The signed terms are sorted by what they know: submodular ones into ``f``, supermodular ones, negated, into ``g``;
    one that is neither but can split itself (a quadratic function, mutual information with a class) is split first,
    and one of which nothing is known stays on the side where it was written.

    >>> import dsprog as ds
    >>> objective = ds.Modular([1.0, 1.0]) - ds.Pairwise([[0, 2], [0, 0]])
    >>> objective([0, 1])
    0.0
    >>> objective.is_certifiable
    True
    """

    def __init__(self, f: SetFunction, g: SetFunction | float = 0.0) -> None:
        if not isinstance(f, SetFunction):
            raise TypeError(f"f must be a SetFunction, got {type(f).__name__}")
        other = as_function(g, f.n, "g")
        if other.n != f.n:
            raise ValueError(f"f and g must have the same ground set, got n = {f.n} and n = {other.n}")
        self._set_terms(f.n, collect(f.n, [(1.0, f), (-1.0, other)]))
        self._labels = joined_labels((f.element_labels, other.element_labels))

    @cached_property
    def _sides(self) -> tuple[Sum, Sum]:
        split_terms: list[tuple[float, SetFunction]] = []
        for a, h in self.terms:
            parts = None if h.knows.submodular or h.knows.supermodular else h.split()
            split_terms += [(a, h)] if parts is None else [(a * b, part) for b, part in parts.terms]
        f: list[Term] = []
        g: list[Term] = []
        for term in collect(self.n, split_terms):
            side_f = term.knows.submodular or (not term.knows.supermodular and term.coefficient > 0)
            (f if side_f else g).append(term)
        return Sum(self.n, f), Sum(self.n, [(-a, h) for a, h in g])

    @property
    def f(self) -> Sum:
        """The submodular part that is added."""
        return self._sides[0]

    @property
    def g(self) -> Sum:
        """The submodular part that is subtracted."""
        return self._sides[1]

    @property
    def is_certifiable(self) -> bool:
        """Whether both sides are known to be submodular, so that bounds from them are valid."""
        return self.f.knows.submodular is True and self.g.knows.submodular is True

    def _mapped(self, n: int, transform: Callable[[SetFunction], SetFunction]) -> Difference:
        return Difference(super()._mapped(n, transform))

    def parameters(self) -> dict[str, SetFunction]:
        """The arguments that build this function again."""
        return {"f": Sum(self.n, self.terms), "g": Sum(self.n, [])}


def as_terms(terms: Sequence[tuple[float, SetFunction]], n: int) -> list[Term]:
    """Terms on n elements, checked."""
    pairs: Sequence[Any] = terms if isinstance(terms, (tuple, list)) else [terms]
    for pair in pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[1], SetFunction)):
            raise TypeError(f"terms must be pairs of a number and a SetFunction, got {shortened(pair)}")
        if pair[1].n != n:
            raise ValueError(f"terms must be functions of {n} elements, got one of {pair[1].n}")
    return [Term(as_number(a, "the coefficient of a term"), h) for a, h in pairs]


def complement_pairs(terms: tuple[Term, ...]) -> bool:
    """Whether the terms are symmetric or come as pairs a f(S) + a f(V∖S), so that their sum is symmetric."""
    left = [term for term in terms if not term.knows.symmetric]
    while left:
        a, h = left.pop()
        if isinstance(h, Modular):  # all modular terms are one
            return False
        mirror = h.complement()
        partner = next((k for k, (b, other) in enumerate(left) if b == a and mirror.same_as(other)), None)
        if partner is None:
            return False
        left.pop(partner)
    return True


def collect(n: int, terms: Iterable[tuple[float, SetFunction]]) -> tuple[Term, ...]:
    """Flatten, add up the modular terms, merge equal terms, drop those that cancel."""
    flat = [
        Term(a * b, part) for a, h in terms for b, part in (h.terms if isinstance(h, LinearCombination) else [(1.0, h)])
    ]
    modular = [term for term in flat if isinstance(term.function, Modular)]
    kept = merged([term for term in flat if not isinstance(term.function, Modular)])
    weights = sum((a * h.weights for a, h in modular), np.zeros(n))  # type: ignore[attr-defined]
    constant = sum(a * h.constant for a, h in modular)  # type: ignore[attr-defined]
    if constant or weights.any():
        kept.append(Term(1.0, Modular(weights, constant)))
    return tuple(kept)


def merged(terms: list[Term]) -> list[Term]:
    """Equal functions as one term, without those that cancel."""
    totals: list[list[Term]] = []  # terms of one function each
    places: dict[object, list[list[Term]]] = {}
    for term in terms:
        alike = places.setdefault(summary(term.function) if len(terms) > FEW else None, [])
        equal = next((total for total in alike if total[0].function.same_as(term.function)), None)
        if equal is None:
            totals.append([term])
            alike.append(totals[-1])
        else:
            equal.append(term)
    return [Term(a, total[0].function) for total in totals if (a := net_coefficient(total))]


def net_coefficient(terms: list[Term]) -> float:
    """What the coefficients of one function add up to, 0 where only rounding is left: 0.1 + 0.2 - 0.3 is not 0."""
    total, size = sum(a for a, _ in terms), sum(abs(a) for a, _ in terms)
    as_number(size, "the coefficient of a term")  # a product or sum of coefficients may overflow
    return total if abs(total) > 1e-15 * size else 0.0


def combine(terms: Sequence[tuple[float, SetFunction | float]]) -> SetFunction:
    """Σ a_k f_k; a Difference if any term is one, else a Sum, or a Modular if all that is left is modular."""
    functions = [h for _, h in terms if isinstance(h, SetFunction)]
    n = functions[0].n
    if any(h.n != n for h in functions):
        sizes = [h.n for h in functions]
        raise ValueError(f"functions must have the same ground set, got n = {sizes[0]} and n = {sizes[1]}")
    total = Sum(n, [(as_number(a, "factor"), as_function(h, n, "term")) for a, h in terms])
    if any(isinstance(h, Difference) for h in functions):
        return Difference(total)
    if len(total.terms) == 1 and isinstance(total.terms[0].function, Modular):
        only = total.terms[0].function
        return only if total.element_labels is None else only.labelled(total.element_labels)
    return total


def as_function(value: SetFunction | float, n: int, name: str) -> SetFunction:
    """A set function as it is, a number as a constant function."""
    if isinstance(value, SetFunction):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)):
        return Modular(np.zeros(n), as_number(value, name))
    raise TypeError(f"{name} must be a SetFunction or a number, got {type(value).__name__}")
