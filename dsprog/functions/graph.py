"""Functions of pairs: graph cuts and quadratic pseudo-Boolean functions.

Both are constant + Σ_{i∈S} u_i + Σ_{i<j, both in S} P_ij, stored as u and a symmetric sparse P, and share their
kernels. Such a function is submodular exactly when every P_ij <= 0.

Concave extension, pair by pair: for P_ij <= 0 the product x_i x_j becomes max(0, x_i + x_j - 1), for P_ij >= 0
min(x_i, x_j); both are the concave envelope of P_ij x_i x_j on the square and agree with it at its corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference
from dsprog.core.column_model import ColumnModel, Expression
from dsprog.core.kernel import filled, kernel
from dsprog.core.knowledge import Knowledge
from dsprog.core.modular import Modular
from dsprog.core.quadratic_form import QuadraticForm, values_kernel
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_flag, as_matrix, as_number, as_sparse


@kernel
def marginals_kernel(u, indptr, indices, data, masks, out):
    """u_j + Σ_{i∈S} P_ij: the same for members and outsiders, since P_jj = 0."""
    for b in range(len(masks)):
        for j in range(len(u)):
            out[b, j] = u[j]
        for i in range(masks.shape[1]):
            if masks[b, i]:
                for p in range(indptr[i], indptr[i + 1]):
                    out[b, indices[p]] += data[p]


@kernel
def chains_kernel(u, indptr, indices, data, orders, start, out):
    """Increments along orders, the field u + P S carried along."""
    field = np.empty(len(u))
    inside = np.empty(len(u), dtype=np.bool_)
    for b in range(len(orders)):
        for j in range(len(inside)):
            inside[j], field[j] = start[b, j], u[j]
        for i in range(len(u)):
            if inside[i]:
                for p in range(indptr[i], indptr[i + 1]):
                    field[indices[p]] += data[p]
        for k in range(orders.shape[1]):
            j = orders[b, k]
            if j < 0 or inside[j]:
                out[b, k] = 0.0
                continue
            inside[j] = True
            out[b, k] = field[j]
            for p in range(indptr[j], indptr[j + 1]):
                field[indices[p]] += data[p]


@kernel
def tangents_kernel(u, indptr, indices, data, x, constants, slopes):
    """Tangents of the concave extension; each pair i < j once."""
    for b in range(len(x)):
        for j in range(len(u)):
            slopes[b, j] = u[j]
        constants[b] = 0.0
        for i in range(len(u)):
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j <= i:
                    continue
                if data[p] > 0:  # P min(x_i, x_j)
                    slopes[b, i if x[b, i] <= x[b, j] else j] += data[p]
                elif x[b, i] + x[b, j] > 1:  # P (x_i + x_j - 1), and 0 otherwise
                    constants[b] -= data[p]
                    slopes[b, i] += data[p]
                    slopes[b, j] += data[p]


class Quadratic(SetFunction):
    """constant + Σ_{i∈S} u_i + Σ_{i<j, both in S} P_ij, for the two families below."""

    has_concave_extension = True
    has_columns = True
    has_gain_table = True
    constant: float

    def _set_pairs(self, u: Floats, pairs: Any, constant: float) -> None:
        """Take u and a symmetric CSR matrix of P with an empty diagonal."""
        self.n, self.u, self.pairs, self.constant = len(u), u, pairs, constant
        # as QuadraticForm has them, so that its solvers and the function share compiled kernels
        self._compiled = (u, pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64), pairs.data)
        numbers = np.concatenate([u, pairs.data, [constant]])
        negative, positive = pairs.minimum(0), pairs.maximum(0)
        lowest = u + np.asarray(negative.sum(axis=1)).ravel()
        highest = u + np.asarray(positive.sum(axis=1)).ravel()
        self.knows = Knowledge(
            submodular=not bool((pairs.data > 0).any()),
            supermodular=not bool((pairs.data < 0).any()),
            increasing=bool((lowest >= 0).all()),
            decreasing=bool((highest <= 0).all()),
            integral=bool((numbers % 1 == 0).all()) or None,
        )

    def _values(self, masks: Masks) -> Floats:
        return filled(values_kernel, len(masks), *self._compiled, masks) + self.constant

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return filled(marginals_kernel, masks.shape, *self._compiled, masks)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return filled(chains_kernel, orders.shape, *self._compiled, orders, start)

    def _tangents(self, x: Floats) -> tuple[Floats, Floats]:
        constants, slopes = np.empty(len(x)), np.empty(x.shape)
        tangents_kernel(*self._compiled, x, constants, slopes)
        return constants + self.constant, slopes

    def groups(self) -> list[Ints]:
        """Each pair."""
        pairs = self.pairs.tocoo()
        return list(np.column_stack([pairs.row, pairs.col]))

    def gain_table(self, j: int, others: Ints, given: Masks) -> Floats:
        """u_j + Σ_{i∈U∪given} P_ij, one element of ``others`` after the other."""
        first, last = self.pairs.indptr[j : j + 2]
        field = np.zeros(self.n)
        field[self.pairs.indices[first:last]] = self.pairs.data[first:last]
        table = np.array([self.u[j] + float(field[given].sum())])
        for weight in field[others]:
            table = np.concatenate([table, table + weight])
        return table

    def on_device(self, machine: Any) -> Any:
        """With a dense matrix of pairs."""
        from dsprog.device.batched_quadratic import QuadraticOnDevice

        return QuadraticOnDevice(machine, self.u, self.pairs.toarray(), self.constant)

    def quadratic_form(self) -> QuadraticForm:
        """As it is stored."""
        return QuadraticForm(self.u, self.pairs, self.constant)

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression:
        """A pair is a column y = x_i x_j: pressed down y >= x_i + x_j - 1 and y >= 0, pressed up y <= x_i, y <= x_j."""
        pairs = upper_triangle(self.pairs).tocoo()
        y, i, j = model.columns(len(pairs.data)), elements[pairs.row], elements[pairs.col]
        twice, down = i == j, weight * pairs.data > 0
        for column, same in zip(y[twice], i[twice]):  # two elements that stand for the same column
            model.row([column, same], [1.0, -1.0], 0.0, 0.0)
        model.rows(np.column_stack([y, i, j])[down & ~twice], [1.0, -1.0, -1.0], lower=-1.0)
        for end in (i, j):
            model.rows(np.column_stack([y, end])[~down & ~twice], [1.0, -1.0], upper=0.0)
        return Expression(elements, self.u, self.constant).plus(Expression(y, pairs.data))

    def _restrict(self, include: Ints, free: Ints) -> Pairwise:
        labels = np.zeros(self.n, dtype=np.int64)
        labels[include], labels[free] = 1, -1
        form, _ = self.quadratic_form().fixed(labels)
        return Pairwise(upper_triangle(form.pairs), form.u, form.constant)


class Cut(Quadratic):
    """f(S) = Σ_{i∈S, j∉S} a_ij, the weight of the edges that leave S.

    Parameters
    ----------
    adjacency : (n, n) array or scipy.sparse matrix, non-negative
        a_ij is the weight of the edge from i to j.
    directed : bool
        An undirected graph (the default) must be given by a symmetric matrix; its cut function is symmetric.

    Examples
    --------
    >>> import dsprog as ds
    >>> path = [[0, 1, 0], [1, 0, 5], [0, 5, 0]]
    >>> ds.Cut(path)([0, 1])
    5.0
    """

    def __init__(self, adjacency: Any, directed: bool = False) -> None:
        directed, matrix = as_flag(directed, "directed"), as_sparse(adjacency, "adjacency")
        if matrix.nnz and matrix.data.min() < 0:
            raise ValueError(
                f"adjacency must be non-negative (a cut with negative weights is not submodular: use Pairwise), "
                f"got {matrix.data.min():g}"
            )
        if not directed and (matrix != matrix.T).nnz:
            raise ValueError("adjacency must be symmetric for an undirected cut (or pass directed=True)")
        self.adjacency, self.directed = matrix, directed
        pairs = without_loops(matrix)  # a loop never leaves S
        self._set_pairs(np.asarray(pairs.sum(axis=1)).ravel(), symmetric_pairs(-pairs), 0.0)
        if not directed:
            self.knows = Knowledge(submodular=True, symmetric=True, integral=self.knows.integral)


class Pairwise(Quadratic):
    """f(S) = constant + Σ_{i∈S} linear_i + Σ_{i,j∈S} Q_ij: a quadratic function of 0/1 variables.

    Parameters
    ----------
    quadratic : (n, n) array or scipy.sparse matrix
        Q, not necessarily symmetric; Q_ij and Q_ji add up, and the diagonal acts as a linear term (x_i² = x_i).
    linear : (n,) array, optional
    constant : float, optional

    Examples
    --------
    >>> import dsprog as ds
    >>> energy = ds.Pairwise([[0, 3], [0, 0]], linear=[-2.0, -2.0])
    >>> energy([0]), energy([0, 1])
    (-2.0, -1.0)
    >>> energy.split().is_certifiable
    True
    """

    def __init__(self, quadratic: Any, linear: ArrayLike | None = None, constant: float = 0.0) -> None:
        self.quadratic = as_sparse(quadratic, "quadratic")
        n = self.quadratic.shape[0]
        self.linear = as_matrix(np.zeros(n) if linear is None else linear, "linear", shape=(n,))
        u = self.linear + self.quadratic.diagonal()
        self._set_pairs(u, symmetric_pairs(self.quadratic), as_number(constant, "constant"))

    def split(self) -> Difference:
        """Negative pairs and the linear part into f, positive pairs into g."""
        zeros = np.zeros(self.n)
        f = Pairwise(upper_triangle(self.pairs.minimum(0)), zeros)
        g = Pairwise(upper_triangle(-self.pairs.maximum(0)), zeros)
        return Difference(f + Modular(self.u, self.constant), g)


def symmetric_pairs(matrix: Any) -> Any:
    """P_ij = Q_ij + Q_ji for i ≠ j, as a CSR matrix without a diagonal."""
    return without_loops(matrix + matrix.T)


def without_loops(matrix: Any) -> Any:
    """The entries off the diagonal that are not 0, as a CSR matrix."""
    import scipy.sparse as sparse

    coo = sparse.coo_array(matrix)
    off = (coo.row != coo.col) & (coo.data != 0)
    pairs = sparse.csr_array((coo.data[off], (coo.row[off], coo.col[off])), shape=coo.shape)
    pairs.sort_indices()
    return pairs


def upper_triangle(pairs: Any) -> Any:
    """The pairs i < j of a symmetric matrix."""
    import scipy.sparse as sparse

    upper = sparse.csr_array(sparse.triu(pairs, 1))
    upper.eliminate_zeros()
    return upper
