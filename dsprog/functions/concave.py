"""Concave functions of weights: the workhorse of submodular modelling.

φ concave and w >= 0 make φ(w(S)) submodular, since the same weight adds less to a larger sum. Sums of such terms model
diminishing returns; with φ = min(·, cap) they contain coverage and partition matroids.

Each has the concave extension Σ_k φ_k(w_k·x). Where φ has infinite slope at 0 (the square root), φ is replaced on [0,
w_min], w_min the smallest positive weight, by its secant there: no set has a weight strictly between, so values at
binary points stay. Where -φ'' >= h on [0, w(V)], the parabola ½h t(w_min - t) is added to the secant, so that
φ + ½h t² stays concave: its slope falls at w_min because φ(0) <= φ(w_min) - φ'(w_min) w_min - ½h w_min².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.kernel import kernel
from dsprog.knowledge import Knowledge
from dsprog.set_function import SetFunction
from dsprog.validation import Floats, Ints, Masks, as_count, as_matrix, as_number, everywhere

Phi = Callable[[Any], Any]
KINDS = {"sqrt": 0, "log1p": 1, "power": 2, "truncate": 3}
DEFAULT_PARAMETER = {"power": 0.5, "truncate": 1.0}


@dataclass(frozen=True)
class Scalar:
    """A concave function φ of one number, with its slope where it is known."""

    phi: Phi
    slope: Phi | None
    code: int  # of KINDS, or -1 for a callable
    parameter: float
    increasing: bool

    def least_bend(self, largest: Floats) -> Floats:
        """The least h with -φ'' >= h on [0, largest], where φ is known by name: every |φ''| there falls."""
        if self.code < 0:
            return np.zeros(largest.shape)
        t = np.where(largest > 0, largest, np.inf)
        if KINDS["power"] == self.code:
            return self.parameter * (1.0 - self.parameter) * np.power(t, self.parameter - 2.0)
        return 0.25 * t**-1.5 if KINDS["sqrt"] == self.code else (1.0 + t) ** -2.0 * (KINDS["log1p"] == self.code)

    def secant(self, t: Floats, smallest: Floats | float, bend: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """φ and a slope at t, with φ replaced by its secant on [0, smallest], bent by ``bend``; concave, equal to φ at
        0 and from there on.
        """
        assert self.slope is not None
        at_zero = self.phi(np.zeros(1))[0]
        rise = (self.phi(smallest) - at_zero) / np.where(np.asarray(smallest) > 0, smallest, 1.0)
        low = t < smallest
        inner = np.where(low, smallest, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(low, rise + 0.5 * bend * (smallest - 2.0 * t), self.slope(np.where(inner > 0, inner, 1.0)))
        return np.where(low, at_zero + rise * t + 0.5 * bend * t * (smallest - t), self.phi(inner)), slope


def as_scalar(concave: str | Phi | tuple[Phi, Phi], parameter: float | None, largest: float) -> Scalar:
    """The scalar function that a user named, or gave as φ or as (φ, φ'); a callable is checked on [0, largest]."""
    if isinstance(concave, str):
        if concave not in KINDS:
            raise ValueError(f"concave must be one of {', '.join(KINDS)} or a callable, got {concave!r}")
        p = as_number(DEFAULT_PARAMETER.get(concave, 0.0) if parameter is None else parameter, "parameter")
        if concave == "power" and not 0 <= p <= 1:
            raise ValueError(f"parameter must lie in [0, 1] for the power to be concave, got {p:g}")
        if concave == "truncate" and p < 0:
            raise ValueError(f"parameter, the cap, must be non-negative, got {p:g}")
        return Scalar(Named(concave, p), Named(concave, p, slope=True), KINDS[concave], p, True)
    phi: Phi
    slope: Phi | None
    phi, slope = concave if isinstance(concave, tuple) else (concave, None)
    if not callable(phi):
        raise TypeError(f"concave must be a name or a callable, got {type(phi).__name__}")
    return Scalar(phi, slope, -1, 0.0, check_concave(phi, slope, largest))


@dataclass(frozen=True)
class Named:
    """φ by name, or its slope; objects rather than closures, so that functions can be pickled."""

    name: str
    p: float
    slope: bool = False

    def __call__(self, t: Any) -> Any:
        """φ(t), or φ'(t)."""
        if self.name == "sqrt":
            return 0.5 / np.sqrt(t) if self.slope else np.sqrt(t)
        if self.name == "log1p":
            return 1.0 / (1.0 + t) if self.slope else np.log1p(t)
        if self.name == "power":
            return self.p * np.power(t, self.p - 1.0) if self.slope else np.power(t, self.p)
        return np.where(t < self.p, 1.0, 0.0) if self.slope else np.minimum(t, self.p)


def check_concave(phi: Phi, slope: Phi | None, largest: float, points: int = 129) -> bool:
    """Refuse a callable that is not concave on [0, largest], seen on all scales; say whether it increases there."""
    largest = largest if largest > 0 else 1.0
    grid = np.union1d(np.linspace(0.0, largest, points), np.geomspace(1e-9 * largest, largest, points))
    values = evaluated(phi, grid, "concave")
    slack = 1e-9 * max(1e-300, np.abs(values).max())
    steps = np.diff(values)
    rise = np.diff(steps / np.diff(grid)) * np.minimum(np.diff(grid)[1:], np.diff(grid)[:-1])
    if (rise > slack).any():
        where = grid[rise.argmax() + 1]
        raise ValueError(f"concave must be concave on [0, {largest:g}], but its slope rises near {where:g}")
    if slope is not None:
        slopes = evaluated(slope, grid[1:], "the slope of concave")
        above = values[1:, None] + slopes[:, None] * (grid - grid[1:, None])  # each tangent at all points
        if (above < values - slack).any():
            raise ValueError("the slope of concave must give tangents above it, but one lies below")
    return bool((steps >= -slack).all())


def evaluated(phi: Phi, grid: Floats, name: str) -> Floats:
    """A user's function on a grid, checked."""
    try:
        values = np.asarray(phi(grid), dtype=float)
    except Exception as error:
        raise TypeError(
            f"{name} must accept an array of numbers, but it raised {type(error).__name__}: {error}"
        ) from error
    if values.shape != grid.shape or not np.isfinite(values).all():
        raise ValueError(f"{name} must return a finite number for each number given, got shape {values.shape}")
    return values


@kernel
def phi_of(code, parameter, t):
    """φ(t) for a code of KINDS."""
    if code == 0:
        return np.sqrt(t)
    if code == 1:
        return np.log1p(t)
    if code == 2:
        return t**parameter if t > 0 else (1.0 if parameter == 0 else 0.0)
    return min(t, parameter)


@kernel
def slope_of(code, parameter, t):
    """A slope of φ at t > 0."""
    if code == 0:
        return 0.5 / np.sqrt(t)
    if code == 1:
        return 1.0 / (1.0 + t)
    if code == 2:
        return parameter * t ** (parameter - 1.0)
    return 1.0 if t < parameter else 0.0


@kernel
def sum_of_phi(code, parameter, weights, t):
    """Σ_k weights_k φ(t_k), one loop for each φ so that it vectorises."""
    total = 0.0
    if code == 0:
        for k in range(len(t)):
            total += weights[k] * np.sqrt(t[k])
    else:
        for k in range(len(t)):
            total += weights[k] * phi_of(code, parameter, t[k])
    return total


@kernel
def sum_columns(columns, mask, left_out, t):
    """The group weights of a set, one element left out (-1: none)."""
    for k in range(len(t)):
        t[k] = 0.0
    for j in range(len(mask)):
        if mask[j] and j != left_out:
            for k in range(len(t)):
                t[k] += columns[j, k]


@kernel
def values_kernel(code, parameter, weights, columns, masks, out):
    """Values, with ``columns`` (n, K) holding W transposed."""
    t = np.empty(columns.shape[1])
    for b in range(len(masks)):
        sum_columns(columns, masks[b], -1, t)
        out[b] = sum_of_phi(code, parameter, weights, t)


@kernel
def marginals_kernel(code, parameter, weights, columns, masks, among, out):
    """Marginals from the sums at S: one pass over W for each set."""
    t = np.empty(columns.shape[1])
    u = np.empty(columns.shape[1])
    for b in range(len(masks)):
        sum_columns(columns, masks[b], -1, t)
        here = sum_of_phi(code, parameter, weights, t)
        for j in range(masks.shape[1]):
            if not among[b, j]:
                out[b, j] = 0.0
            elif masks[b, j]:
                cancelled = False
                for k in range(len(t)):
                    u[k] = max(0.0, t[k] - columns[j, k])
                    cancelled |= u[k] < 1e-5 * t[k]
                if cancelled:  # almost nothing is left: sum it up again, since φ may be steep there
                    sum_columns(columns, masks[b], j, u)
                out[b, j] = here - sum_of_phi(code, parameter, weights, u)
            else:
                for k in range(len(t)):
                    u[k] = t[k] + columns[j, k]
                out[b, j] = sum_of_phi(code, parameter, weights, u) - here


@kernel
def chains_kernel(code, parameter, weights, columns, orders, start, out):
    """Increments along orders, the sums carried along."""
    n, groups = columns.shape
    t = np.empty(groups)
    inside = np.empty(n, dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        sum_columns(columns, inside, -1, t)
        before = sum_of_phi(code, parameter, weights, t)
        for i in range(orders.shape[1]):
            j = orders[b, i]
            if j < 0 or inside[j]:
                out[b, i] = 0.0
                continue
            inside[j] = True
            for k in range(groups):
                t[k] += columns[j, k]
            after = sum_of_phi(code, parameter, weights, t)
            out[b, i] = after - before
            before = after


@kernel
def line_at(code, parameter, t, smallest, rise, bend, slope, value):
    """φ and a slope at each t, with the bent secant on [0, smallest]; one loop for the square root, to vectorise."""
    if code == 0:
        for k in range(len(t)):
            root = np.sqrt(max(t[k], smallest[k]))
            low = t[k] < smallest[k]
            slope[k] = rise[k] + 0.5 * bend[k] * (smallest[k] - 2.0 * t[k]) if low or root == 0 else 0.5 / root
            value[k] = rise[k] * t[k] + 0.5 * bend[k] * t[k] * (smallest[k] - t[k]) if low else root
    else:
        at_zero = phi_of(code, parameter, 0.0)
        for k in range(len(t)):
            if t[k] < smallest[k] or t[k] == 0:
                slope[k] = rise[k] + 0.5 * bend[k] * (smallest[k] - 2.0 * t[k])
                value[k] = at_zero + rise[k] * t[k] + 0.5 * bend[k] * t[k] * (smallest[k] - t[k])
            else:
                slope[k] = slope_of(code, parameter, t[k])
                value[k] = phi_of(code, parameter, t[k])


@kernel
def tangents_kernel(code, parameter, weights, columns, smallest, rise, bend, x, constants, slopes):
    """Tangents of Σ_k weights_k φ(w_k·x), φ replaced by its bent secant on [0, smallest_k]."""
    n, groups = columns.shape
    t, slope, value = np.empty(groups), np.empty(groups), np.empty(groups)
    for b in range(len(x)):
        for k in range(len(t)):
            t[k] = 0.0
        for j in range(n):
            if x[b, j] != 0:
                for k in range(groups):
                    t[k] += x[b, j] * columns[j, k]
        line_at(code, parameter, t, smallest, rise, bend, slope, value)
        total = 0.0
        for k in range(groups):
            total += weights[k] * (value[k] - slope[k] * t[k])
            slope[k] *= weights[k]
        constants[b] = total
        for j in range(n):
            total = 0.0
            for k in range(groups):
                total += slope[k] * columns[j, k]
            slopes[b, j] = total


class ConcaveOfModular(SetFunction):
    """f(S) = Σ_k weights_k φ(Σ_{j∈S} W_kj).

    Parameters
    ----------
    W : (K, n) array, non-negative
        One row of element weights for each of K groups.
    weights : (K,) array, non-negative, optional
        Weights of the groups; ones by default.
    concave : {"sqrt", "log1p", "power", "truncate"}, callable or pair of callables
        φ. "power" is t**parameter, "truncate" is min(t, parameter). A callable acts on arrays; with a pair (φ, φ')
        the function also has its concave extension.
    parameter : float, optional
        Exponent of "power" (default 0.5) or cap of "truncate" (default 1).

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.ConcaveOfModular([[1.0, 3.0, 0.0], [0.0, 1.0, 8.0]])
    >>> f([0, 1])
    3.0
    >>> f.knows.submodular
    True
    """

    def __init__(
        self,
        W: ArrayLike,
        weights: ArrayLike | None = None,
        concave: str | Phi | tuple[Phi, Phi] = "sqrt",
        parameter: float | None = None,
    ) -> None:
        self.W = as_matrix(
            W, "W", shape=(None, None), nonnegative="a concave function of negative weights is not submodular"
        )
        groups, self.n = self.W.shape
        self.weights = as_matrix(
            np.ones(groups) if weights is None else weights,
            "weights",
            shape=(groups,),
            nonnegative="a negative multiple of a submodular function is not submodular",
        )
        self.concave, self.parameter = concave, parameter
        self._scalar = as_scalar(concave, parameter, self.W.sum(axis=1).max(initial=0.0))
        self._columns = np.ascontiguousarray(self.W.T)
        self._smallest = np.where(self.W > 0, self.W, np.inf).min(axis=1, initial=np.inf)
        self._smallest[np.isinf(self._smallest)] = 0.0
        self._rise = (self._scalar.phi(self._smallest) - self._scalar.phi(np.zeros(groups))) / np.where(
            self._smallest > 0, self._smallest, 1.0
        )
        self._bend = self._scalar.least_bend(self.W.sum(axis=1))
        self.has_concave_extension = self._scalar.slope is not None
        self.knows = Knowledge(submodular=True, increasing=self._scalar.increasing)

    def curvature(self) -> Floats | None:
        """Σ_k weights_k h_k w_k w_kᵀ with h_k <= -φ'': φ(t) + φ(t + a + b) - φ(t + a) - φ(t + b) is the integral of φ''
        over a rectangle of sides a and b, and -∇² of the extension is the same sum with -φ''(w_k·x) for h_k.
        """
        roots = np.sqrt(self.weights * self._bend)[:, None] * self.W
        return roots.T @ roots if self._bend.any() else None

    @property
    def _compiled(self) -> tuple[int, float, Floats, Floats]:
        return self._scalar.code, self._scalar.parameter, self.weights, self._columns

    def _values(self, masks: Masks) -> Floats:
        if self._scalar.code < 0:
            return np.asarray(self._scalar.phi(masks @ self._columns), dtype=float) @ self.weights
        out = np.empty(len(masks))
        values_kernel(*self._compiled, masks, out)
        return out

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        if self._scalar.code < 0:
            return super()._marginals(masks, among)
        out = np.empty(masks.shape)
        marginals_kernel(*self._compiled, masks, everywhere(masks) if among is None else among, out)
        return out

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        if self._scalar.code < 0:
            return super()._chains(orders, start)
        out = np.empty(orders.shape)
        chains_kernel(*self._compiled, orders, start, out)
        return out

    def _concave_extension(self, x: Floats) -> Floats:
        return self._scalar.secant(x @ self._columns, self._smallest, self._bend)[0] @ self.weights

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # φ(w·S) <= φ(w·x) + φ'(w·x) (w·S - w·x) because φ is concave; summed over the groups.
        if self._scalar.code >= 0:
            constants, slopes = np.empty(len(x)), np.empty(x.shape)
            tangents_kernel(*self._compiled, self._smallest, self._rise, self._bend, x, constants, slopes)
            return constants, slopes
        t = x @ self._columns
        value, slope = self._scalar.secant(t, self._smallest, self._bend)
        return (value - slope * t) @ self.weights, (slope * self.weights) @ self.W


class CardinalityConcave(SetFunction):
    """f(S) = h(|S|), h concave.

    Parameters
    ----------
    n : int
    concave : name, callable or array of n + 1 values
        h, as in :class:`ConcaveOfModular`, or its values at 0, 1, ..., n.
    parameter : float, optional
        Exponent of "power" or cap of "truncate".

    Examples
    --------
    >>> import dsprog as ds
    >>> ds.CardinalityConcave(4, "sqrt")([0, 1, 2, 3])
    2.0
    >>> ds.CardinalityConcave(2, [0.0, 5.0, 6.0])([1])
    5.0
    """

    has_concave_extension = True

    def __init__(self, n: int, concave: str | Phi | ArrayLike = "sqrt", parameter: float | None = None) -> None:
        self.n = as_count(n, "n")
        self.concave, self.parameter = concave, parameter
        if isinstance(concave, str):
            concave = as_scalar(concave, parameter, float(self.n)).phi(np.arange(self.n + 1.0))
        elif callable(concave):
            concave = evaluated(concave, np.arange(self.n + 1.0), "concave")
        else:
            self.concave = concave = as_matrix(concave, "concave", shape=(self.n + 1,))
        self._h: Floats = np.asarray(concave, dtype=float)
        steps = np.diff(self._h)
        if (np.diff(steps) > 1e-12 * np.abs(self._h).max(initial=1e-300)).any():
            size = int(np.diff(steps).argmax()) + 1
            raise ValueError(f"concave must have falling increments, but they rise after size {size}")
        self.knows = Knowledge(
            submodular=True,
            supermodular=bool(np.allclose(np.diff(steps), 0, atol=1e-15)) or None,
            increasing=bool((steps >= 0).all()),
            decreasing=bool((steps <= 0).all()),
            symmetric=bool((self._h == self._h[::-1]).all()) or None,
            integral=bool((self._h % 1 == 0).all()) or None,
        )

    def _values(self, masks: Masks) -> Floats:
        return self._h[masks.sum(axis=1)]

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        if self.n == 0:
            return np.zeros(masks.shape)
        return np.diff(self._h)[masks.sum(axis=1)[:, None] - masks]

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        if self.n == 0:
            return np.zeros(orders.shape)
        out = np.empty(orders.shape)
        cardinality_chains_kernel(np.diff(self._h), orders, start, out)
        return out

    def _concave_extension(self, x: Floats) -> Floats:
        return np.interp(x.sum(axis=1), np.arange(self.n + 1), self._h)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # The interpolation of h is concave, so the line through the piece that holds |x| lies above it.
        size = x.sum(axis=1)
        steps = np.diff(self._h) if self.n else np.zeros(1)
        slope = steps[np.clip(np.floor(size).astype(int), 0, max(self.n - 1, 0))]
        return self._concave_extension(x) - slope * size, np.repeat(slope[:, None], self.n, axis=1)


@kernel
def cardinality_chains_kernel(steps, orders, start, out):
    """Increments of h(|S|) along orders."""
    n = start.shape[1]
    inside = np.empty(n, dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j] = start[b, j]
        size = inside.sum()
        for i in range(orders.shape[1]):
            j = orders[b, i]
            if j < 0 or inside[j]:
                out[b, i] = 0.0
                continue
            inside[j] = True
            out[b, i] = steps[size]
            size += 1


class ConcaveOf(SetFunction):
    """h(S) = φ(f(S)), f increasing submodular with f(∅) >= 0, φ concave and non-decreasing.

    Parameters
    ----------
    function : SetFunction
        Known to be submodular and increasing.
    concave, parameter
        φ, as in :class:`ConcaveOfModular`.

    Examples
    --------
    >>> import dsprog as ds
    >>> words = ds.Coverage([[1, 0], [1, 1], [0, 1], [0, 1]])
    >>> ds.ConcaveOf(words, "sqrt")([0, 1])
    2.0
    """

    def __init__(
        self, function: SetFunction, concave: str | Phi | tuple[Phi, Phi] = "sqrt", parameter: float | None = None
    ) -> None:
        if not (function.knows.submodular and function.knows.increasing):
            raise ValueError(f"function must be known to be submodular and increasing, got {function!r}")
        self.function, self.concave, self.parameter, self.n = function, concave, parameter, function.n
        lowest, highest = function._values(np.array([[False] * self.n, [True] * self.n]))
        if lowest < 0:
            raise ValueError(f"function must be non-negative, got {lowest:g} at the empty set")
        self._scalar = as_scalar(concave, parameter, float(highest))
        if not self._scalar.increasing:
            raise ValueError(
                "concave must be non-decreasing for a concave function of a submodular one to be submodular"
            )
        # By submodularity f(S) > 0 needs an element with f({j}) > 0, so no set has a value strictly between 0 and this.
        singles = function._values(np.eye(self.n, dtype=bool))
        self._smallest = float(singles[singles > 0].min(initial=np.inf)) if lowest == 0 else 0.0
        self._smallest = 0.0 if np.isinf(self._smallest) else self._smallest
        self.has_concave_extension = function.has_concave_extension and self._scalar.slope is not None
        self.knows = Knowledge(submodular=True, increasing=True)

    def _phi(self, t: Floats) -> Floats:
        return np.asarray(self._scalar.phi(t), dtype=float)

    def _values(self, masks: Masks) -> Floats:
        return self._phi(self.function._values(masks))

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        here, change = self.function._values(masks)[:, None], self.function._marginals(masks, among)
        with_j = np.where(masks, here, here + change)
        without_j = np.where(masks, np.maximum(here - change, 0.0), here)
        cancelled = masks & (without_j < 1e-5 * here)  # almost nothing is left: evaluate it, since φ may be steep there
        if cancelled.any():
            rows, columns = np.nonzero(cancelled)
            smaller = masks[rows]
            smaller[np.arange(len(rows)), columns] = False
            without_j[cancelled] = self.function._values(smaller)
        return self._phi(with_j) - self._phi(without_j)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        first = self.function._values(start)[:, None]
        levels = np.concatenate([first, first + np.cumsum(self.function._chains(orders, start), axis=1)], axis=1)
        return np.diff(self._phi(levels), axis=1)

    def _concave_extension(self, x: Floats) -> Floats:
        return self._scalar.secant(self.function._concave_extension(x), self._smallest)[0]

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # φ(f(S)) <= φ(t) + φ'(t) (f(S) - t) and f(S) <= κ + c(S), with φ' >= 0.
        t = self.function._concave_extension(x)
        value, slope = self._scalar.secant(t, self._smallest)
        constants, slopes = self.function._tangents(x)
        return value + slope * (constants - t), slope[:, None] * slopes
