"""How each family of functions enters a programme: *under* and *over* expressions.

``elements[j]`` is the column that stands for element j; seen through a restriction some elements are fixed columns,
seen through a complement they are columns 1 - x. So every transformed function enters as the function does.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from dsprog.core.algebra import LinearCombination
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints
from dsprog.core.views import Complement, Declared, Relabelled, Restriction
from dsprog.exact.compact.class_entropy import ClassEntropy
from dsprog.exact.compact.cuts import Lovasz, ModularMajorants, ScalarTangents, both_ends
from dsprog.exact.compact.model import Expression, Model
from dsprog.functions._scalar import Phi
from dsprog.functions.cardinality import CardinalityConcave
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation
from dsprog.functions.graph import Quadratic, upper_triangle
from dsprog.functions.mutual_information import MutualInformation

MANY_CURVES = 4


@singledispatch
def enter(h: SetFunction, model: Model, elements: Ints, weight: float) -> Expression:
    """The under expression of h where weight > 0, the over expression where it is negative; |weight| scales violations.

    A function without a model of its own enters by its Lovász cuts and modular majorants, or split in two.
    """
    if h.knows.submodular is not True and h.knows.supermodular is not True:
        parts = h.split()
        if parts is not None:
            return enter(parts, model, elements, weight)
        model.unproved = f"{h!r} is not known to be submodular (declare it, or decompose the objective)"
    if h.knows.supermodular is True and h.knows.submodular is not True:
        return by_cuts(-1.0 * h, model, elements, -weight).scaled(-1.0)
    return by_cuts(h, model, elements, weight)


def by_cuts(h: SetFunction, model: Model, elements: Ints, weight: float) -> Expression:
    """A column above the Lovász cuts of a submodular h, or below its modular majorants."""
    column = model.columns(1, -np.inf, np.inf)
    cut = (Lovasz if weight > 0 else ModularMajorants)(h, elements, Expression(column, np.ones(1)), abs(weight))
    model.cuts.append(cut)
    for point in (0.0, 0.5, 1.0):  # so that the column is bounded from the start
        z = np.zeros(len(model.programme.cost))
        z[elements], z[column] = point, -np.copysign(1e100, weight)
        cut.separate(z, model)
    return Expression(column, np.ones(1))


@enter.register
def _(h: LinearCombination, model: Model, elements: Ints, weight: float) -> Expression:
    total = Expression()
    for a, part in h.terms:
        total = total.plus(enter(part, model, elements, weight * a).scaled(a))
    return total


@enter.register
def _(h: Modular, model: Model, elements: Ints, weight: float) -> Expression:
    return Expression(elements, h.weights, h.constant)


# -- coverage, facility location, pairs: columns of their own -------------------------------------------------------


@enter.register
def _(h: Coverage, model: Model, elements: Ints, weight: float) -> Expression:
    """An item is a column z_i: z_i >= x_j for each j that covers it, or z_i <= Σ x_j and z_i <= 1.

    Items that the same elements cover are one; an item of one element is that element.
    """
    by_item = h.members.tocsr()
    covers: dict[bytes, tuple[Ints, float]] = {}
    for i, w in enumerate(h.weights):
        who = by_item.indices[by_item.indptr[i] : by_item.indptr[i + 1]]
        if w > 0 and len(who):
            columns = np.unique(elements[who])
            covers[columns.tobytes()] = (columns, w + covers.get(columns.tobytes(), (who, 0.0))[1])
    columns_of = [model.columns(1) if len(who) > 1 else who for who, _ in covers.values()]
    for z, (who, _) in zip(columns_of, covers.values()):
        if len(who) == 1:
            continue
        if weight > 0:
            for x in who:
                model.programme.row([z[0], x], [1.0, -1.0], lower=0.0)
        else:
            model.programme.row(np.append(who, z), np.append(np.ones(len(who)), -1.0), lower=0.0)
    z = np.concatenate([np.zeros(0, dtype=np.int64), *columns_of])
    return Expression(z, np.array([w for _, w in covers.values()]))


@enter.register
def _(h: FacilityLocation, model: Model, elements: Ints, weight: float) -> Expression:
    """From below a client covers levels: z_r >= x_j for its r best facilities, z_1 <= z_2 <= ..., its similarity is
    Σ_r (s_r - s_{r+1}) z_r. From above it takes fractions y_j <= x_j with Σ y_j <= 1, its similarity is Σ_j s_j y_j.
    """
    total = Expression()
    for s, ranking in zip(h.similarity, h._ranking):
        ranked = ranking[s[ranking] > 0]
        if len(ranked) == 0:
            continue
        y, x = model.columns(len(ranked)), elements[ranked]
        for own, element in zip(y, x):
            model.programme.row([own, element], [1.0, -1.0], *((0.0, np.inf) if weight > 0 else (-np.inf, 0.0)))
        if weight > 0:
            for lower, higher in zip(y[1:], y):
                model.programme.row([lower, higher], [1.0, -1.0], lower=0.0)
            total = total.plus(Expression(y, s[ranked] - np.append(s[ranked][1:], 0.0)))
        else:
            model.programme.row(y, np.ones(len(y)), upper=1.0)
            total = total.plus(Expression(y, s[ranked]))
    return total


@enter.register
def _(h: Quadratic, model: Model, elements: Ints, weight: float) -> Expression:
    """A pair is a column y = x_i x_j: pressed down y >= x_i + x_j - 1 and y >= 0, pressed up y <= x_i and y <= x_j."""
    pairs = upper_triangle(h.pairs).tocoo()
    y = model.columns(len(pairs.data))
    for column, i, j, P in zip(y, elements[pairs.row], elements[pairs.col], pairs.data):
        if weight * P > 0:
            model.programme.row([column, i, j], [1.0, -1.0, -1.0], lower=-1.0)
        else:
            model.programme.row([column, i], [1.0, -1.0], upper=0.0)
            model.programme.row([column, j], [1.0, -1.0], upper=0.0)
    return Expression(elements, h.u, h.constant).plus(Expression(y, pairs.data))


# -- concave functions of an argument: chords from below, tangents from above ---------------------------------------


@enter.register
def _(h: ConcaveOfModular, model: Model, elements: Ints, weight: float) -> Expression:
    """Each group lies under tangents, or is a curve of its weight; a group of one element is modular.

    Boxes of many curves would be too many: where there are, each group enters by its Lovász cuts.
    """
    scalar, total = h._scalar, Expression()
    many = ((h.W > 0).sum(axis=1) > 1).sum() > MANY_CURVES
    if weight < 0 and scalar.slope is None:
        return enter.dispatch(SetFunction)(h, model, elements, weight)
    at_zero = float(scalar.phi(np.zeros(1))[0])
    arguments, smallest, weights = [], [], []
    for row, w, least in zip(h.W, h.weights, h._smallest):
        there = np.flatnonzero(row)
        if w == 0 or len(there) <= 1:
            rise = scalar.phi(row[there]) - at_zero
            total = total.plus(Expression(elements[there], w * rise, w * at_zero))
            continue
        argument = Expression(elements[there], row[there])
        if weight > 0 and many:
            group = ConcaveOfModular(row[None, there], [w], h.concave, h.parameter)
            total = total.plus(by_cuts(group, model, elements[there], weight))
        elif weight > 0:
            integral = bool((row % 1 == 0).all())
            total = total.plus(model.curve(scalar.phi, argument, 0.0, float(row.sum()), integral).scaled(w))
        else:
            arguments.append(argument)
            smallest.append(least)
            weights.append(w)
    if arguments:
        u = model.columns(len(arguments), -np.inf, np.inf)
        cut = ScalarTangents(scalar, arguments, u, np.array(smallest), np.zeros(len(u)), -weight * np.array(weights))
        add_first_tangents(cut, model, np.array([argument.values.sum() for argument in arguments]))
        total = total.plus(Expression(u, np.array(weights)))
    return total


def add_first_tangents(cut: ScalarTangents, model: Model, highest: Floats) -> None:
    """Tangents at a few arguments, so that the columns are bounded from the start."""
    model.cuts.append(cut)
    for fraction in (0.0, 0.05, 0.2, 0.5, 1.0):
        t = cut.lowest + fraction * (highest - cut.lowest)
        height, slope = cut.scalar.secant(t, cut.smallest)
        for k, argument in enumerate(cut.arguments):
            line = argument.scaled(slope[k])
            model.at_least(line.plus(Expression(cut.values[k : k + 1], -np.ones(1), height[k] - slope[k] * t[k])))


@enter.register
def _(h: CardinalityConcave, model: Model, elements: Ints, weight: float) -> Expression:
    if weight < 0:
        return enter.dispatch(SetFunction)(h, model, elements, weight)
    if h.n == 0:
        return Expression(constant=float(h._h[0]))
    return model.curve(interpolated(h._h), Expression(elements, np.ones(h.n)), 0.0, float(h.n), True)


def interpolated(table: Floats) -> Phi:
    """The function that is linear between the values at whole numbers."""
    return lambda t: np.interp(t, np.arange(len(table)), table)


@enter.register
def _(h: ConcaveOf, model: Model, elements: Ints, weight: float) -> Expression:
    """φ is non-decreasing, so φ of the under (over) expression is an under (over) expression."""
    scalar, inner = h._scalar, h.function
    if weight < 0 and scalar.slope is None:
        return enter.dispatch(SetFunction)(h, model, elements, weight)
    lowest, highest = (float(v) for v in inner._values(both_ends(h.n)))
    if highest <= lowest:
        return Expression(constant=float(h._phi(np.array([lowest]))[0]))
    argument = enter(inner, model, elements, weight)
    if weight > 0:
        return model.curve(scalar.phi, argument, lowest, highest, inner.knows.integral is True)
    column, u = model.argument(argument, lowest, highest), model.columns(1, -np.inf, np.inf)
    of_column = [Expression(np.array([column]), np.ones(1))]
    smallest, weights = np.array([h._smallest]), np.array([-weight])
    cut = ScalarTangents(scalar, of_column, u, smallest, np.array([lowest]), weights)
    add_first_tangents(cut, model, np.array([highest]))
    return Expression(u, np.ones(1))


@enter.register
def _(h: MutualInformation, model: Model, elements: Ints, weight: float) -> Expression:
    """Information with a class that is rewarded is H(y) minus a column above what the columns leave open."""
    if h.y is None or weight > 0:
        return enter.dispatch(SetFunction)(h, model, elements, weight)
    e = model.columns(1, 0.0, h.class_entropy)
    model.cuts.append(ClassEntropy(h, elements, int(e[0]), -weight))
    return Expression(e, -np.ones(1), h.class_entropy)


# -- functions seen through another ground set ----------------------------------------------------------------------


@enter.register
def _(h: Restriction, model: Model, elements: Ints, weight: float) -> Expression:
    columns = np.full(h.function.n, model.zero)
    columns[h.include], columns[h.free] = model.one, elements
    return enter(h.function, model, columns, weight)


@enter.register
def _(h: Complement, model: Model, elements: Ints, weight: float) -> Expression:
    others = model.columns(h.n)
    for other, element in zip(others, elements):
        model.programme.row([other, element], [1.0, 1.0], 1.0, 1.0)
    return enter(h.function, model, others, weight)


@enter.register
def _(h: Relabelled, model: Model, elements: Ints, weight: float) -> Expression:
    return enter(h.function, model, elements[h._inverse], weight)


@enter.register
def _(h: Declared, model: Model, elements: Ints, weight: float) -> Expression:
    if has_model(h.function):
        return enter(h.function, model, elements, weight)
    return enter.dispatch(SetFunction)(h, model, elements, weight)


def has_model(h: SetFunction) -> bool:
    """Whether a function enters by columns of its own rather than by cuts of the whole."""
    if isinstance(h, LinearCombination):
        return all(has_model(part) for _, part in h.terms)
    if isinstance(h, (Restriction, Complement, Relabelled, Declared)):
        return has_model(h.function)
    return enter.dispatch(type(h)) is not enter.dispatch(SetFunction)
