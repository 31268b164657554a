"""Probabilistic coverage: how many are reached if each chosen element reaches each of them with some probability.

With hazards h_ij = -log(1 - p_ij) a target is reached with probability 1 - e^(-h_i(S)), a concave function of weights;
its concave extension is Σ_i weights_i (1 - e^(-h_i·x)). A hazard is at most 40, where e^(-h) is below rounding, so that
p = 1 is allowed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.gain_model import GainModel
from dsprog.core.kernel import filled, kernel, part
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_sparse
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.coverage import item_weights

CERTAIN = 40.0  # e^-40 is less than rounding of 1


@part
def survivors(indptr, rows, p, weights, mask, certain, alive):
    """weights_i Π (1 - p_ij) over the members j with p_ij < 1, and how many reach i for certain."""
    for i in range(len(weights)):
        alive[i] = weights[i]
        certain[i] = 0
    for j in range(len(mask)):
        if mask[j]:
            for q in range(indptr[j], indptr[j + 1]):
                if p[q] < 1.0:
                    alive[rows[q]] *= 1.0 - p[q]
                else:
                    certain[rows[q]] += 1


@kernel
def marginals_kernel(indptr, rows, p, weights, masks, out):
    """p_ij times the chance that no other member reaches i."""
    alive, certain = np.empty(len(weights)), np.empty(len(weights), dtype=np.int64)
    for b in range(len(masks)):
        survivors(indptr, rows, p, weights, masks[b], certain, alive)
        for j in range(masks.shape[1]):
            total = 0.0
            for q in range(indptr[j], indptr[j + 1]):
                i = rows[q]
                others = certain[i] - (1 if masks[b, j] and p[q] >= 1.0 else 0)
                if others == 0:
                    total += alive[i] * (p[q] / (1.0 - p[q]) if masks[b, j] and p[q] < 1.0 else p[q])
            out[b, j] = total


@kernel
def chains_kernel(indptr, rows, p, weights, orders, start, out):
    """What each element adds to those that are reached; entries that end or repeat a chain add nothing."""
    alive, inside = np.empty(len(weights)), np.empty(start.shape[1], dtype=np.bool_)
    for b in range(len(orders)):
        for i in range(len(weights)):
            alive[i] = weights[i]
        for j in range(len(inside)):
            inside[j] = start[b, j]
            if inside[j]:
                for q in range(indptr[j], indptr[j + 1]):
                    alive[rows[q]] *= 1.0 - p[q]
        for k in range(orders.shape[1]):
            j, total = orders[b, k], 0.0
            if j >= 0 and not inside[j]:
                inside[j] = True
                for q in range(indptr[j], indptr[j + 1]):
                    total += alive[rows[q]] * p[q]
                    alive[rows[q]] *= 1.0 - p[q]
            out[b, k] = total


class ProbabilisticCoverage(SetFunction):
    """f(S) = Σ_i weights_i (1 - Π_{j∈S} (1 - p_ij)): the expected weight of what is reached, also called influence.

    Parameters
    ----------
    p : (targets, n) array or scipy.sparse matrix in [0, 1]
        ``p[i, j]`` is the probability that element j reaches target i.
    weights : (targets,) array, non-negative, optional
        Ones by default.

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.ProbabilisticCoverage([[0.5, 0.5], [0.0, 1.0]])
    >>> f([0]), f([0, 1])
    (0.5, 1.75)
    """

    has_concave_extension = True
    has_columns = True
    has_gains = True

    def __init__(self, p: Any, weights: ArrayLike | None = None) -> None:
        import scipy.sparse as sparse

        by_element = sparse.csc_array(as_sparse(p, "p", square=False))
        if len(by_element.data) and not (by_element.data.min() >= 0 and by_element.data.max() <= 1):
            raise ValueError("p must be probabilities between 0 and 1")
        targets, self.n = by_element.shape
        self.p = by_element
        self.weights = item_weights(weights, targets)
        self._compiled = (by_element.indptr, by_element.indices, by_element.data, self.weights)
        self.knows = Knowledge(submodular=True, increasing=True)

    @cached_property
    def _hazards(self) -> Any:
        """-log(1 - p), as sparse as p."""
        hazards = self.p.copy()
        with np.errstate(divide="ignore"):
            hazards.data = np.minimum(-np.log1p(-hazards.data), CERTAIN)
        return hazards

    def _values(self, masks: Masks) -> Floats:
        return self._values_from_chains(masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return filled(marginals_kernel, masks.shape, *self._compiled, masks)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(chains_kernel, orders.shape, *self._compiled, orders, start)

    def _concave_extension(self, x: Floats) -> Floats:
        return -np.expm1(-(x @ self._hazards.T)) @ self.weights

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        # 1 - e^-t is concave: 1 - e^-h(S) <= 1 - e^-t + e^-t (h(S) - t), at t = h·x.
        t = x @ self._hazards.T
        slopes = np.exp(-t) * self.weights
        return -np.expm1(-t) @ self.weights - (slopes * t).sum(axis=1), slopes @ self._hazards

    def curvature(self) -> Floats:
        """Σ_i weights_i e^(-h_i(V)) h_i h_iᵀ: -∇² of the extension is that with e^(-h_i·x), and second differences are
        p_j p_k times the chance that no other reaches i, at least e^(-h_i(V)) p_j/(1 - p_j) p_k/(1 - p_k), where
        p/(1 - p) >= h.
        """
        hazards = self._hazards.toarray()
        roots = np.sqrt(self.weights * np.exp(-hazards.sum(axis=1)))[:, None] * hazards
        return np.asarray(roots.T @ roots)

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With nothing included, the same family on fewer elements."""
        return (
            super()._restrict(include, free) if len(include) else ProbabilisticCoverage(self.p[:, free], self.weights)
        )

    def groups(self) -> list[Ints]:
        """The elements that may reach a target."""
        by_target = self.p.tocsr()
        return np.split(by_target.indices, by_target.indptr[1:-1])

    def gains(self, model: GainModel, elements: Ints, weight: float) -> None:
        """A target keeps the chance that nobody has reached it."""
        model.survivals(self.p, self.weights, elements, weight)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """Those of a concave function of hazards."""
        return self._as_curves.columns(model, elements, weight)

    @cached_property
    def _as_curves(self) -> ConcaveOfModular:
        return ConcaveOfModular(self._hazards.toarray(), self.weights, (reached, unreached))


def reached(t: Any) -> Any:
    """1 - e^-t."""
    return -np.expm1(-np.asarray(t, dtype=float))


def unreached(t: Any) -> Any:
    """e^-t."""
    return np.exp(-np.asarray(t, dtype=float))
