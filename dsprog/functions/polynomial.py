"""Polynomials of 0/1 variables: pairs, and products of more than two elements.

    f(S) = Σ_k a_k [M_k ⊆ S]          for sets M_k, the *monomials*, with coefficients a_k.

-Π x_i is submodular, so that a polynomial without positive coefficients of products is; any other is a difference.

Concave extension, monomial by monomial: for a >= 0 the product becomes min x_i, for a <= 0 it becomes
max(0, Σ x_i - (|M| - 1)); both are the concave envelope of a Π x_i on the cube and agree with it at its corners.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference
from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.kernel import filled, kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_count, as_matrix

Monomials = dict[tuple[int, ...], float]
LONGEST = 12  # elements of a monomial of signs, which becomes 2**12 of 0/1 variables


class Products(NamedTuple):
    """Monomials in compressed rows, and the monomials of each element in compressed rows."""

    starts: Ints
    members: Ints
    coefficients: Floats
    first: Ints
    of_element: Ints


@kernel
def products_kernel(products, masks, out):
    """Σ of the coefficients of the monomials inside each set."""
    for b in range(len(masks)):
        total = 0.0
        for k in range(len(products.coefficients)):
            inside = True
            for p in range(products.starts[k], products.starts[k + 1]):
                if not masks[b, products.members[p]]:
                    inside = False
                    break
            if inside:
                total += products.coefficients[k]
        out[b] = total


@kernel
def product_marginals_kernel(products, masks, out):
    """A monomial inside S counts for each of its members; one that misses one element counts for that one."""
    for b in range(len(masks)):
        for j in range(masks.shape[1]):
            out[b, j] = 0.0
        for k in range(len(products.coefficients)):
            missing, which = 0, -1
            for p in range(products.starts[k], products.starts[k + 1]):
                if not masks[b, products.members[p]]:
                    missing += 1
                    which = products.members[p]
            if missing == 1:
                out[b, which] += products.coefficients[k]
            elif missing == 0:
                for p in range(products.starts[k], products.starts[k + 1]):
                    out[b, products.members[p]] += products.coefficients[k]


@kernel
def product_chains_kernel(products, orders, start, out):
    """Increments along orders; how many elements each monomial misses is carried along."""
    missing = np.empty(len(products.coefficients), dtype=np.int64)
    inside = np.empty(start.shape[1], dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        for k in range(len(missing)):
            missing[k] = 0
            for p in range(products.starts[k], products.starts[k + 1]):
                if not inside[products.members[p]]:
                    missing[k] += 1
        for i in range(orders.shape[1]):
            j = orders[b, i]
            out[b, i] = 0.0
            if j < 0 or inside[j]:
                continue
            inside[j] = True
            for q in range(products.first[j], products.first[j + 1]):
                k = products.of_element[q]
                missing[k] -= 1
                if missing[k] == 0:
                    out[b, i] += products.coefficients[k]


@kernel
def product_tangents_kernel(products, x, constants, slopes):
    """Tangents of the concave extension."""
    for b in range(len(x)):
        for j in range(x.shape[1]):
            slopes[b, j] = 0.0
        constants[b] = 0.0
        for k in range(len(products.coefficients)):
            a, begin, end = products.coefficients[k], products.starts[k], products.starts[k + 1]
            if begin == end:
                constants[b] += a
                continue
            least, total = products.members[begin], 1.0
            for p in range(begin, end):
                total += x[b, products.members[p]] - 1.0
                if x[b, products.members[p]] < x[b, least]:
                    least = products.members[p]
            if a > 0:
                slopes[b, least] += a
            elif total > 0:  # a (Σ x_i - (|M| - 1))
                constants[b] += a * (1 - (end - begin))
                for p in range(begin, end):
                    slopes[b, products.members[p]] += a


@kernel
def subset_sums_kernel(table):
    """table[U] becomes Σ of table[T] over T ⊆ U, index bits standing for elements."""
    step = 1
    while step < len(table):
        for first in range(0, len(table), 2 * step):
            for i in range(first, first + step):
                table[i + step] += table[i]
        step *= 2


class PseudoBoolean(SetFunction):
    """f(S) = Σ_k coefficients_k [monomials_k ⊆ S]: any polynomial of 0/1 variables, written out.

    Parameters
    ----------
    n : int
    monomials : sequence of sets of elements, or (m, d) array filled up with -1
        An empty one stands for the constant; the same one may come twice.
    coefficients : (m,) array

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.PseudoBoolean(3, [(0,), (0, 1, 2)], [-1.0, 4.0])
    >>> f([0, 1]), f([0, 1, 2])
    (-1.0, 3.0)
    >>> f.split().is_certifiable
    True
    """

    has_concave_extension = True
    has_columns = True
    has_gain_table = True

    def __init__(self, n: int, monomials: Any, coefficients: ArrayLike) -> None:
        self.n = as_count(n, "n")
        self.monomials = as_monomials(monomials, self.n)
        self.coefficients = as_matrix(coefficients, "coefficients", shape=(len(self.monomials),))
        degree, a = self._degrees, self._products.coefficients
        positive, negative = bool((a[degree > 1] > 0).any()), bool((a[degree > 1] < 0).any())
        quadratic = bool((degree <= 2).all())  # then these are all the second differences
        self.knows = Knowledge(
            submodular=True if not positive else (False if quadratic else None),
            supermodular=True if not negative else (False if quadratic else None),
            increasing=True if self._least_gains(np.minimum).min(initial=0.0) >= 0 else None,
            decreasing=True if self._least_gains(np.maximum).max(initial=0.0) <= 0 else None,
            integral=bool((a % 1 == 0).all()) or None,
        )

    @classmethod
    def of_signs(cls, n: int, monomials: Iterable[Iterable[int]], coefficients: Iterable[float]) -> PseudoBoolean:
        """Σ_k a_k Π_{i∈M_k} s_i over signs; S are the elements with sign -1, as in ``ising``.

        s_i = 1 - 2 x_i, hence Π_{i∈M} s_i = Σ_{T⊆M} (-2)^|T| Π_{i∈T} x_i; an element that comes twice in a monomial
        leaves it, s_i² = 1.

        >>> PseudoBoolean.of_signs(3, [(0, 1, 2)], [1.0])([0, 1, 2])
        -1.0
        """
        signs: Monomials = {}
        for monomial, a in zip(monomials, coefficients, strict=True):
            odd: set[int] = set()
            for i in monomial:
                odd ^= {i}
            if len(odd) > LONGEST:
                raise ValueError(f"monomials of signs must have at most {LONGEST} elements, got {len(odd)}")
            add(signs, tuple(sorted(odd)), a)
        found: Monomials = {}
        for monomial, a in signs.items():
            for size in range(len(monomial) + 1):
                for part in combinations(monomial, size):
                    add(found, part, a * (-2.0) ** size)
        return polynomial(n, found)

    @cached_property
    def _products(self) -> Products:
        """Each monomial once, elements in order, those without a coefficient left out."""
        found: Monomials = {}
        for row, a in zip(self.monomials.tolist(), self.coefficients.tolist()):
            add(found, tuple(sorted({i for i in row if i >= 0})), a)
        kept = [(monomial, a) for monomial, a in found.items() if a != 0.0]
        sizes = np.array([len(monomial) for monomial, _ in kept], dtype=np.int64)
        members = np.array([i for monomial, _ in kept for i in monomial], dtype=np.int64)
        of_element = np.repeat(np.arange(len(kept)), sizes)[np.argsort(members, kind="stable")]
        first = np.append(0, np.cumsum(np.bincount(members, minlength=self.n)))
        starts = np.append(0, np.cumsum(sizes))
        return Products(starts, members, np.array([a for _, a in kept], dtype=float), first, of_element)

    @cached_property
    def _degrees(self) -> Ints:
        return np.diff(self._products.starts)

    def _least_gains(self, side: Any) -> Floats:
        """f(j|S) is at least Σ of the negative coefficients (``np.minimum``; at most that of the positive ones) of the
        monomials that have j, with that of {j} alone, which every S has.
        """
        products, total = self._products, np.zeros(self.n)
        alone = np.repeat(self._degrees == 1, self._degrees)
        a = np.repeat(products.coefficients, self._degrees)
        np.add.at(total, products.members, np.where(alone, a, side(a, 0.0)))
        return total

    def _values(self, masks: Masks) -> Floats:
        return filled(products_kernel, len(masks), self._products, masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return filled(product_marginals_kernel, masks.shape, self._products, masks)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(product_chains_kernel, orders.shape, self._products, orders, start)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = np.empty(len(x)), np.empty(x.shape)
        product_tangents_kernel(self._products, x, constants, slopes)
        return constants, slopes

    def gain_table(self, j: int, others: Ints, given: Masks) -> Floats:
        """f(j | U ∪ given) for all U ⊆ others: coefficients at the part of their monomial in ``others``, summed up."""
        products, place = self._products, np.full(self.n, -1)
        place[given], place[others], place[j] = 0, 1 << np.arange(len(others)), 0
        table = np.zeros(1 << len(others))
        having = products.of_element[products.first[j] : products.first[j + 1]]
        if len(having):
            sizes = self._degrees[having]
            first = np.cumsum(sizes) - sizes
            rows = np.repeat(products.starts[having] - first, sizes) + np.arange(sizes.sum())
            places = place[products.members[rows]]
            there = np.minimum.reduceat(places, first) >= 0
            np.add.at(table, np.add.reduceat(places, first)[there], products.coefficients[having[there]])
        subset_sums_kernel(table)
        return table

    def groups(self) -> list[Ints]:
        """The monomials of more than one element."""
        rows = np.split(self._products.members, self._products.starts[1:-1])
        return [row for row in rows if len(row) > 1]

    def quadratic_form(self) -> QuadraticForm | None:
        """If no monomial has more than two elements."""
        degree, products = self._degrees, self._products
        if (degree > 2).any():
            return None
        u, P, constant = np.zeros(self.n), np.zeros((self.n, self.n)), 0.0
        for k, a in enumerate(products.coefficients):
            row = products.members[products.starts[k] : products.starts[k + 1]]
            if len(row) == 0:
                constant += float(a)
            elif len(row) == 1:
                u[row[0]] += a
            else:
                P[row[0], row[1]] = P[row[1], row[0]] = a
        return QuadraticForm.dense(u, P, constant)

    def split(self) -> Difference:
        """Negative products, the linear part and the constant into f, positive products into g."""
        positive = (self._products.coefficients > 0) & (self._degrees > 1)
        return Difference(self._part(~positive), -1.0 * self._part(positive))

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """A column y for each product: pressed down y >= Σ x_i - (|M| - 1) and y >= 0, pressed up y <= x_i."""
        total, products = Expression(), self._products
        for k, a in enumerate(products.coefficients):
            row = elements[products.members[products.starts[k] : products.starts[k + 1]]]
            if len(row) < 2:
                total = total.plus(Expression(row, np.full(len(row), a), 0.0 if len(row) else float(a)))
                continue
            (y,) = model.columns(1)
            if weight * a > 0:
                model.row([y, *row], [1.0, *[-1.0] * len(row)], lower=1.0 - len(row))
            else:
                for i in row:
                    model.row([y, i], [1.0, -1.0], upper=0.0)
            total = total.plus(Expression(np.array([y]), np.array([a])))
        return total

    def _part(self, kept: Masks) -> PseudoBoolean:
        rows = np.split(self._products.members, self._products.starts[1:-1]) if len(kept) else []
        chosen = [(tuple(row.tolist()), a) for row, a, keep in zip(rows, self._products.coefficients, kept) if keep]
        return PseudoBoolean(self.n, [row for row, _ in chosen], [a for _, a in chosen])

    def _mapped(self, place: Ints, n: int) -> PseudoBoolean:
        """Elements renamed; -1 stands for one that is there, -2 for one that is not."""
        found: Monomials = {}
        for row, a in zip(self.monomials.tolist(), self.coefficients.tolist()):
            places = [int(place[i]) for i in row if i >= 0]
            if -2 not in places:
                add(found, tuple(sorted({i for i in places if i >= 0})), a)
        return polynomial(n, found)

    def _restrict(self, include: Ints, free: Ints) -> PseudoBoolean:
        place = np.full(self.n, -2)
        place[include], place[free] = -1, np.arange(len(free))
        return self._mapped(place, len(free))

    def _relabel(self, order: Ints) -> PseudoBoolean:
        place = np.empty(self.n, dtype=np.int64)
        place[order] = np.arange(self.n)
        return self._mapped(place, self.n)


def add(monomials: Monomials, monomial: tuple[int, ...], a: float) -> None:
    """One more monomial."""
    monomials[monomial] = monomials.get(monomial, 0.0) + a


def polynomial(n: int, monomials: Monomials) -> PseudoBoolean:
    """The function of monomials that come once each."""
    kept = {monomial: a for monomial, a in monomials.items() if a != 0.0}
    return PseudoBoolean(n, list(kept), list(kept.values()))


def as_monomials(value: Any, n: int) -> Ints:
    """Sets of elements as rows of one array, filled up with -1."""
    if not isinstance(value, np.ndarray):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise TypeError(f"monomials must be sets of elements such as [(0,), (0, 1, 2)], got {value!r}")
        listed = [tuple(row) if isinstance(row, Iterable) else row for row in value]
        odd = next((row for row in listed if not isinstance(row, tuple)), None)
        if odd is not None:
            raise TypeError(f"monomials must be sets of elements such as [(0,), (0, 1, 2)], got {odd!r} among them")
        longest = max(map(len, listed), default=0)
        value = np.array([[*row, *[-1] * (longest - len(row))] for row in listed]).reshape(len(listed), longest)
    rows = as_matrix(value, "monomials", shape=(None, None))
    whole = rows.astype(np.int64)
    if (whole != rows).any() or (whole < -1).any() or (whole >= n).any():
        raise ValueError(f"monomials must have elements from 0 to {n - 1}, or -1 where a row is filled up")
    return whole
