"""A quadratic function of 0/1 variables as plain arrays: what the quadratic solver and its bounds work on.

    E(x) = constant + Σ u_i x_i + Σ_{i<j} P_ij x_i x_j

With a vertex 0 that stands for "false" and s_i = 1 - 2 x_i relative to it, x_i x_j = (1 - s_i - s_j + s_i s_j) / 4,
so E is also a function of signs, k - s'Cs with s_0 = 1; both views are used below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.oracle import count
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks


@kernel
def values_kernel(u, indptr, indices, data, masks, out):
    """Σ_{i∈S} u_i + ½ Σ_{i,j∈S} P_ij."""
    for b in range(len(masks)):
        total = 0.0
        for i in range(masks.shape[1]):
            if masks[b, i]:
                total += u[i]
                for p in range(indptr[i], indptr[i + 1]):
                    if masks[b, indices[p]]:
                        total += 0.5 * data[p]
        out[b] = total


@dataclass(frozen=True)
class QuadraticForm:
    """u, a symmetric sparse P with an empty diagonal and the constant of E.

    >>> import numpy as np
    >>> form = QuadraticForm.dense([1.0, -2.0], [[0.0, 3.0], [3.0, 0.0]], constant=5.0)
    >>> form.values(np.array([[True, True], [False, True]]))
    array([7., 3.])
    """

    u: Floats
    pairs: Any
    constant: float = 0.0

    @staticmethod
    def of(f: SetFunction) -> QuadraticForm | None:
        """The form of a set function, or None if it is not quadratic."""
        return f.quadratic_form()

    @staticmethod
    def linear(u: Floats, constant: float = 0.0) -> QuadraticForm:
        """Without pairs."""
        import scipy.sparse as sparse

        return QuadraticForm(u, sparse.csr_array((len(u), len(u))), constant)

    @staticmethod
    def combined(n: int, terms: Iterable[tuple[float, QuadraticForm]]) -> QuadraticForm:
        """Σ a_k E_k."""
        import scipy.sparse as sparse

        u, pairs, constant = np.zeros(n), sparse.csr_array((n, n)), 0.0
        for a, form in terms:
            u, pairs, constant = u + a * form.u, pairs + a * form.pairs, constant + a * form.constant
        return QuadraticForm.sparse(u, pairs, constant)

    @staticmethod
    def dense(u: Any, P: Any, constant: float = 0.0) -> QuadraticForm:
        """From a symmetric matrix."""
        import scipy.sparse as sparse

        return QuadraticForm.sparse(np.asarray(u, dtype=float), sparse.csr_array(np.asarray(P, dtype=float)), constant)

    @staticmethod
    def sparse(u: Floats, pairs: Any, constant: float = 0.0) -> QuadraticForm:
        """From a symmetric sparse matrix; stored zeros go."""
        import scipy.sparse as sparse

        pairs = sparse.csr_array(pairs, copy=True)
        pairs.eliminate_zeros()
        pairs.sort_indices()
        return QuadraticForm(u, pairs, float(constant))

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.u)

    @cached_property
    def compiled(self) -> tuple[Floats, Ints, Ints, Floats]:
        """The arrays that kernels take, of one type whatever scipy chose, so that each kernel is compiled once."""
        indptr, indices = (index.astype(np.int64) for index in (self.pairs.indptr, self.pairs.indices))
        return self.u, indptr, indices, self.pairs.data

    @property
    def density(self) -> float:
        """The share of pairs that are not zero."""
        return self.pairs.nnz / max(1, self.n * (self.n - 1))

    @property
    def submodular(self) -> bool:
        """Whether no pair is positive."""
        return not self.pairs.nnz or bool(self.pairs.data.max() <= 0)

    @cached_property
    def field(self) -> Floats:
        """w_i = u_i + ½ Σ_j P_ij, so that E = constant + Σ w_i x_i - ½ Σ_{i<j} P_ij [x_i ≠ x_j]."""
        return self.u + 0.5 * np.asarray(self.pairs.sum(axis=1)).ravel()

    @cached_property
    def scale(self) -> float:
        """An upper bound on |E - constant|, for tolerances."""
        return float(np.abs(self.u).sum() + 0.5 * np.abs(self.pairs.data).sum())

    @property
    def least(self) -> float:
        """A bound that costs nothing: E = constant + Σ x_i (u_i + ½ Σ_j P_ij x_j), each summand at its least."""
        pull = 0.5 * np.asarray(self.pairs.minimum(0).sum(axis=1)).ravel()
        return self.constant + float(np.minimum(0.0, self.u + pull).sum())

    def values(self, masks: Masks) -> Floats:
        """E of each row; each counts as an oracle call."""
        count(len(masks))
        out = np.empty(len(masks))
        values_kernel(*self.compiled, np.ascontiguousarray(masks), out)
        return out + self.constant

    def fixed(self, labels: Ints) -> tuple[QuadraticForm, Ints]:
        """The form with the variables labelled 0 or 1 put in (-1: left free), and the free variables."""
        free = np.flatnonzero(labels < 0)
        ones = (labels == 1).astype(float)
        constant = self.constant + float(self.u @ ones) + 0.5 * float(ones @ (self.pairs @ ones))
        u = self.u + self.pairs @ ones
        return QuadraticForm.sparse(u[free], self.pairs[free][:, free], constant), free

    def complemented(self) -> QuadraticForm:
        """E(1 - x) = E(1) - (u + P1)·x + ½ xᵀPx."""
        ones = np.ones(self.n)
        field = self.u + self.pairs @ ones
        at_ones = self.constant + 0.5 * float((self.u + field) @ ones)
        return QuadraticForm(-field, self.pairs, at_ones)

    def relabelled(self, order: Ints) -> QuadraticForm:
        """The form with new variable k standing for old variable ``order[k]``."""
        return QuadraticForm.sparse(self.u[order], self.pairs[order][:, order], self.constant)

    def spin_matrix(self) -> tuple[Floats, float]:
        """C of order n + 1 and k with E = k - s'Cs for s_0 = 1, s_i = 1 - 2 x_i."""
        C = np.zeros((self.n + 1, self.n + 1))
        C[1:, 1:] = -self.pairs.toarray() / 8
        C[0, 1:] = C[1:, 0] = self.field / 4
        return C, self.constant + 0.5 * float(self.u.sum()) + 0.125 * float(self.pairs.sum())


@dataclass(frozen=True)
class Steps:
    """The values that a form can take: constant + multiples of ``size``; size 0 if anything is possible.

    >>> steps = Steps(1.0, 2.0)
    >>> steps.rounded(3.2), steps.needed(5.0) < 3.2
    (5.0, True)
    """

    constant: float
    size: float

    @staticmethod
    def of(form: QuadraticForm) -> Steps:
        """The greatest common divisor of whole coefficients."""
        numbers = np.abs(np.concatenate([form.u, form.pairs.data]))
        whole = bool((numbers % 1 == 0).all()) and form.scale < 2**50
        divisor = int(np.gcd.reduce(numbers.astype(np.int64))) if whole and len(numbers) else 0
        return Steps(form.constant, float(divisor))

    @property
    def slack(self) -> float:
        """What a bound may lose to rounding and still be rounded up."""
        return 1e-5 * self.size

    def rounded(self, lower: float) -> float:
        """The least possible value that is not below ``lower``."""
        if self.size == 0 or not np.isfinite(lower):
            return lower
        return self.constant + self.size * float(np.ceil((lower - self.constant - self.slack) / self.size))

    def needed(self, cutoff: float) -> float:
        """A bound above this is rounded to at least ``cutoff``."""
        if self.size == 0 or not np.isfinite(cutoff):
            return cutoff
        above = float(np.ceil((cutoff - self.constant) / self.size - 1e-9))
        return self.constant + self.size * (above - 1) + 2 * self.slack
