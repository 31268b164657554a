"""Concave functions of weights: the workhorse of submodular modelling.

φ concave and w >= 0 make φ(w(S)) submodular, since the same weight adds less to a larger sum. Sums of such terms model
diminishing returns; with φ = min(·, cap) they contain coverage and partition matroids.

Each has the concave extension Σ_k φ_k(w_k·x). Where φ has infinite slope at 0 (the square root), φ is replaced on [0,
w_min], w_min the smallest positive weight, by its secant there: no set has a weight strictly between, so values at
binary points stay. Where -φ'' >= h on [0, w(V)], the parabola ½h t(w_min - t) is added to the secant, so that
φ + ½h t² stays concave: its slope falls at w_min because φ(0) <= φ(w_min) - φ'(w_min) w_min - ½h w_min².
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import IN, GainModel
from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix, check_size, chosen_entries
from dsprog.functions._scalar import Phi, as_scalar, phi_of, slope_of

MANY_CURVES = 4  # boxes of more curves would be too many
MOST_SUMS = 1 << 20  # sums over groups that are held at once


@part
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


@part
def sum_columns(columns, mask, left_out, t):
    """The group weights of a set, one element left out (-1: none)."""
    for k in range(len(t)):
        t[k] = 0.0
    for j in range(len(mask)):
        if mask[j] and j != left_out:
            for k in range(len(t)):
                t[k] += columns[j, k]


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


@part
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

    has_columns = True

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
        sums = self.W.sum(axis=1)
        self._scalar = as_scalar(concave, parameter, sums.max(initial=0.0))
        with np.errstate(over="ignore"):
            check_size(self.weights * self._scalar.phi(sums), "weights times concave(W)")
        self._columns = np.ascontiguousarray(self.W.T)
        self._smallest = np.where(self.W > 0, self.W, np.inf).min(axis=1, initial=np.inf)
        self._smallest[np.isinf(self._smallest)] = 0.0
        self._rise = (self._scalar.phi(self._smallest) - self._scalar.phi(np.zeros(groups))) / np.where(
            self._smallest > 0, self._smallest, 1.0
        )
        self._bend = self._scalar.least_bend(self.W.sum(axis=1))
        self.has_concave_extension = self._scalar.slope is not None
        self.has_gains = self._scalar.code >= 0
        self.knows = Knowledge(submodular=True, increasing=self._scalar.increasing)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With nothing included, the same family on fewer columns of W."""
        if len(include):
            return super()._restrict(include, free)
        W = self.W[:, free]
        there = W.any(axis=1) | (self._scalar.phi(np.zeros(1))[0] != 0)  # groups without elements count as φ(0)
        return ConcaveOfModular(W[there], self.weights[there], self.concave, self.parameter)

    @property
    def rests_on_claim(self) -> bool:
        """Whether φ is the user's: it was looked at on a grid, which proves nothing between the points."""
        return not isinstance(self.concave, str)

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
        if len(masks) == 1 or len(masks) * len(self.weights) <= 2 * MOST_SUMS:
            return np.asarray(self._scalar.phi(masks @ self._columns), dtype=float) @ self.weights
        rows = 1 + MOST_SUMS // len(self.weights)
        return np.concatenate([self._values(masks[b : b + rows]) for b in range(0, len(masks), rows)])

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        if self._scalar.code < 0:
            return super()._marginals(masks, among)
        return filled(marginals_kernel, masks.shape, *self._compiled, masks, chosen_entries(masks, among))

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        if self._scalar.code < 0:
            return super()._chains(orders, start)
        return filled(chains_kernel, orders.shape, *self._compiled, orders, start)

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

    def groups(self) -> list[Ints]:
        """The elements with a weight in each group."""
        return [np.flatnonzero(row) for row in self.W]

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """A group is a curve."""
        at = self._scalar.phi(self.W @ (elements == IN).astype(float))
        model.curves(self.W, self.weights, (self._scalar.code, self._scalar.parameter), elements, weight, at)

    def on_device(self, machine: Any) -> Any:
        """With φ by name."""
        from dsprog.device.batched_concave import ConcaveOnDevice

        if self._scalar.code < 0:
            return None
        phi, groups = (self._scalar.code, self._scalar.parameter), {"weights": self.weights, "smallest": self._smallest}
        groups |= {"rise": self._rise, "bend": self._bend}
        return ConcaveOnDevice(machine, phi, self._scalar.phi, self.W, **groups)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """Each group lies under tangents, or is a curve of its weight; a group of one element is modular.

        Where there are many curves, each group enters by its Lovász cuts.
        """
        if weight < 0 and self._scalar.slope is None:
            return None
        several = (self.W > 0).sum(axis=1) > 1
        curved = np.flatnonzero(several & (self.weights > 0))
        total = self._modular_groups(elements, ~several)
        if weight < 0 and len(curved):
            return total.plus(self._below_tangents(model, elements, weight, curved))
        for k in curved:
            there = np.flatnonzero(self.W[k])
            if several.sum() > MANY_CURVES:
                group = ConcaveOfModular(self.W[[k]][:, there], self.weights[[k]], self.concave, self.parameter)
                total = total.plus(model.by_cuts(group, elements[there], weight))
            else:
                row, argument = self.W[k], Expression(elements[there], self.W[k, there])
                integral = bool((row % 1 == 0).all())
                curve = model.curve(self._scalar.phi, argument, 0.0, float(row.sum()), integral)
                total = total.plus(curve.scaled(self.weights[k]))
        return total

    def _modular_groups(self, elements: Ints, single: Masks) -> Expression:
        """Groups of at most one element j: φ(0) + (φ(W_kj) - φ(0)) x_j."""
        at_zero = float(self._scalar.phi(np.zeros(1))[0])
        k, j = np.nonzero(self.W * single[:, None])
        rises = self.weights[k] * (self._scalar.phi(self.W[k, j]) - at_zero)
        return Expression(elements[j], rises, at_zero * float(self.weights[single].sum()))

    def _below_tangents(self, model: ColumnModel, elements: Ints, weight: float, groups: Ints) -> Expression:
        """A column under the tangents of φ for each of some groups."""
        arguments = [Expression(elements[row > 0], row[row > 0]) for row in self.W[groups]]
        smallest, weights = self._smallest[groups], self.weights[groups]

        def line(t: Floats) -> tuple[Floats, Floats]:
            return self._scalar.secant(t, smallest)

        highest = self.W[groups].sum(axis=1)
        u = model.below_tangents(line, arguments, np.zeros(len(groups)), highest, -weight * weights)
        return Expression(u, weights)
