"""How a function enters a search on gains: clients, each with one number of state that changes as elements are chosen.

The model is a function to be *maximised*,

    G(S) = constant + Σ_{j∈S} modular_j + Σ_{i reward} h_i(S) - Σ_{i cost} h_i(S),

where each client i is one of three kinds, increasing and submodular but for curves, which need not increase:

- *maximum*:   h_i(S) = max(b_i, max_{j∈S} s_ij) - the best benefit of a client, or the weight of an item once covered;
- *survival*:  h_i(S) = c_i (1 - q_i Π_{j∈S} (1 - p_ij)) - the chance that someone is reached;
- *curve*:     h_i(S) = c_i φ_i(a_i + Σ_{j∈S} w_ij), φ_i concave.

The state is b_i, c_i q_i, or a_i. A term a h of the objective enters with the weight -a: one that is subtracted becomes
a reward, one that is added a cost. ``elements[j]`` is the model's element that stands for element j: seen through a
restriction, :data:`OUT` never is chosen and :data:`IN` always is, which is settled here, in the first state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dsprog.core.validation import Floats, Ints

if TYPE_CHECKING:
    from dsprog.core.set_function import SetFunction

Matrix = tuple[Ints, Ints, Floats]  # in compressed columns: pointers, rows, entries
OUT, IN = -1, -2
TABLE = 4  # the code of a curve that is given at whole numbers; smaller codes are those of functions/_scalar


class Clients(NamedTuple):
    """All clients, as kernels take them: six sparse matrices (rewards and costs of the three kinds) in one.

    Client i of kind k has the place ``offsets[k] + i`` in the state, and ``rows`` are places. Entries of element j and
    kind k lie between ``indptr[k, j]`` and ``indptr[k, j + 1]``.
    """

    indptr: Ints
    rows: Ints
    data: Floats
    hazards: Floats  # -log(1 - p) beside each p, at most 40; nothing if there are no survivals
    curves: Floats  # code, parameter, weight, and start in the table, for each place
    table: Floats
    first: Floats  # the first state
    offsets: Ints
    full: bool  # whether every element has a benefit for every client of the first kind, in order


@dataclass
class Side:
    """Clients of one sign while they are gathered: blocks of rows, each with its first state."""

    n: int
    maxima: list[Any] = field(default_factory=list)
    best: list[Floats] = field(default_factory=list)
    survivals: list[Any] = field(default_factory=list)
    alive: list[Floats] = field(default_factory=list)
    sums: list[Any] = field(default_factory=list)
    first: list[Floats] = field(default_factory=list)
    curves: list[tuple[int, float, float, int]] = field(default_factory=list)
    table: list[Floats] = field(default_factory=list)

    def blocks(self) -> list[tuple[Matrix, Floats]]:
        """The matrix of each kind, and its first state."""
        kinds = ((self.maxima, self.best), (self.survivals, self.alive), (self.sums, self.first))
        return [(stacked(blocks, self.n), joined(first)) for blocks, first in kinds]


def joined(parts: list[Floats]) -> Floats:
    """Arrays as one."""
    return np.concatenate([np.zeros(0), *parts])


def stacked(blocks: list[Any], n: int) -> Matrix:
    """Blocks of rows as one matrix in compressed columns; entries that are 0 are left out, unless they are few."""
    import scipy.sparse as sparse

    if len(blocks) == 1 and isinstance(blocks[0], np.ndarray) and 4 * np.count_nonzero(blocks[0]) > 3 * blocks[0].size:
        clients = len(blocks[0])  # dense: every element has an entry for every client, which kernels use
        rows = np.tile(np.arange(clients), n)
        return np.arange(n + 1) * clients, rows, np.ascontiguousarray(blocks[0].T, dtype=float).ravel()
    if not blocks:
        return np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    matrix = sparse.csc_array(sparse.vstack([sparse.csc_array(block) for block in blocks], format="csc"))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix.indptr, matrix.indices, matrix.data.astype(float)


class GainModel:
    """What functions enter; see the module.

    >>> import dsprog as ds, numpy as np
    >>> model = GainModel(2)
    >>> model.enter(ds.FacilityLocation([[3.0, 1.0], [0.0, 2.0]]) - ds.Modular([1.0, 0.5]), np.arange(2), 1.0)
    >>> model.modular, model.compiled().data
    (array([-1. , -0.5]), array([3., 1., 2.]))
    """

    def __init__(self, n: int) -> None:
        self.n, self.constant, self.modular = n, 0.0, np.zeros(n)
        self.rewards, self.costs = Side(n), Side(n)

    def enter(self, h: SetFunction, elements: Ints, weight: float) -> None:
        """Another function, by its own gains."""
        h.gains(self, elements, weight)

    def linear(self, weights: Floats, constant: float, elements: Ints, weight: float) -> None:
        """constant + Σ_{j∈S} weights_j."""
        free = elements >= 0
        self.constant += weight * (constant + float(weights[elements == IN].sum()))
        np.add.at(self.modular, elements[free], weight * weights[free])

    def maxima(self, benefits: Any, elements: Ints, weight: float) -> None:
        """Σ_i max_{j∈S} benefits_ij, 0 for the empty set; benefits >= 0, an array or a sparse matrix."""
        if weight == 0 or 0 in benefits.shape:
            return
        inside, side = np.flatnonzero(elements == IN), self._side(weight)
        first = np.zeros(benefits.shape[0])
        if len(inside):
            most = benefits[:, inside].max(axis=1)
            first = np.asarray(most.todense() if hasattr(most, "todense") else most, dtype=float).ravel()
        side.maxima.append(abs(weight) * self._placed(benefits, elements))
        side.best.append(abs(weight) * first)
        self.constant += weight * float(first.sum())

    def survivals(self, p: Any, weights: Floats, elements: Ints, weight: float) -> None:
        """Σ_i weights_i (1 - Π_{j∈S} (1 - p_ij)); p an array or a sparse matrix in [0, 1]."""
        if weight == 0 or 0 in p.shape:
            return
        inside, side = np.flatnonzero(elements == IN), self._side(weight)
        chosen = p[:, inside]
        chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
        alive = weights * np.prod(1.0 - chosen, axis=1)
        side.survivals.append(self._placed(p, elements))
        side.alive.append(abs(weight) * alive)
        self.constant += weight * float((weights - alive).sum())

    def curves(
        self, W: Any, weights: Floats, kind: tuple[int, float], elements: Ints, weight: float, at: Floats
    ) -> None:
        """Σ_k weights_k φ(Σ_{j∈S} W_kj), φ by its code and parameter; ``at``: its value at the sums of those inside."""
        if weight == 0 or len(weights) == 0:
            return
        self._curves(W, elements, weight, [(*kind, abs(weight) * float(c), 0) for c in weights])
        self.constant += weight * float(weights @ at)

    def steps(self, h: Floats, elements: Ints, weight: float) -> None:
        """h(|S|), h given at 0, ..., n."""
        if weight == 0:
            return
        side = self._side(weight)
        place = sum(map(len, side.table))
        side.table.append(np.asarray(h, dtype=float))
        self._curves(np.ones((1, len(elements))), elements, weight, [(TABLE, 0.0, abs(weight), place)])
        self.constant += weight * float(h[int((elements == IN).sum())])

    def _curves(self, W: Any, elements: Ints, weight: float, curves: list[tuple[int, float, float, int]]) -> None:
        side, inside = self._side(weight), (elements == IN).astype(float)
        side.sums.append(self._placed(W, elements))
        side.first.append(np.asarray(W @ inside, dtype=float).ravel())
        side.curves += curves

    def compiled(self) -> Clients:
        """For kernels; a place of the state is four bytes, as rows are many."""
        blocks = [*self.rewards.blocks(), *self.costs.blocks()]
        offsets = np.cumsum([0, *(len(first) for _, first in blocks)])
        starts = np.cumsum([0, *(len(data) for (_, _, data), _ in blocks)])
        curves, table = np.zeros((4, offsets[-1])), [*self.rewards.table, *self.costs.table]
        for side, place, start in (
            (self.rewards, offsets[2], 0),
            (self.costs, offsets[5], len(joined(self.rewards.table))),
        ):
            for i, curve in enumerate(side.curves):
                curves[:, place + i] = (*curve[:3], curve[3] + start)
        (indptr, _, data), first = blocks[0]
        entries = np.concatenate([matrix[2] for matrix, _ in blocks])
        p = np.minimum(entries, 1.0) if offsets[2] > offsets[1] else np.zeros(0)
        with np.errstate(divide="ignore"):
            hazards = np.minimum(-np.log1p(-p), 40.0)
        return Clients(
            np.array([matrix[0] + start for (matrix, _), start in zip(blocks, starts)], dtype=np.int64),
            np.concatenate([matrix[1] + offset for (matrix, _), offset in zip(blocks, offsets)]).astype(np.int32),
            entries,
            hazards,
            curves,
            joined(table),
            joined([first for _, first in blocks]),
            offsets,
            len(data) == len(first) * self.n and bool((np.diff(indptr) == len(first)).all()),
        )

    def _side(self, weight: float) -> Side:
        return self.rewards if weight > 0 else self.costs

    def _placed(self, matrix: Any, elements: Ints) -> Any:
        """The columns of free elements at the places of the model's elements."""
        if np.array_equal(elements, np.arange(self.n)):
            return matrix
        import scipy.sparse as sparse

        entries = sparse.coo_array(matrix)
        free = elements[entries.col] >= 0
        places = (entries.row[free], elements[entries.col[free]])
        return sparse.csc_array((entries.data[free], places), shape=(matrix.shape[0], self.n))
