"""The odd-cycle bound for sparse quadratic functions: a linear programme over the edges, with cuts from shortest paths.

On a graph with a vertex 0 for "false", E(x) = constant + Σ_e w_e z_e where z_e = 1 if the ends of e differ. Around any
closed walk z changes sides an even number of times, so for every odd part F of its edges

    Σ_{e∉F} z_e + Σ_{e∈F} (1 - z_e) >= 1.

The relaxation has these rows for all cycles. Violated ones are shortest paths from (v, 0) to (v, 1) in the doubled
graph, where an edge costs z_e inside a layer and 1 - z_e across; planar graphs need no others. A vertex z of the
programme is a poor point to separate from; points between z and a good set need a third of the rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.milp.growing import GrowingProgramme

ROUNDS = 30  # by this count seven programmes that closed at the root stayed at 17 or below, three others passed it


class Graph(NamedTuple):
    """Neighbours of every vertex in compressed rows: where rows start, the other ends, and the numbers of the edges."""

    indptr: Ints
    heads: Ints
    edges: Ints


class CycleRows(NamedTuple):
    """Room for rows of a programme: where they start, columns, values, and right-hand sides b."""

    starts: Ints
    columns: Ints
    values: Floats
    b: Floats


@part
def push_heap(keys, items, size, key, item):
    """Put an item into a binary heap; returns the new size."""
    i = size
    while i > 0 and keys[(i - 1) // 2] > key:
        keys[i], items[i] = keys[(i - 1) // 2], items[(i - 1) // 2]
        i = (i - 1) // 2
    keys[i], items[i] = key, item
    return size + 1


@part
def pop_heap(keys, items, size):
    """Take the least item out of a binary heap of ``size`` entries: the last one sinks from the top."""
    key, item = keys[size - 1], items[size - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i], items[i] = keys[child], items[child]
        i = child
    keys[i], items[i] = key, item
    return size - 1


@kernel
def odd_cycles_kernel(graph, z, order, most, limit, rows):
    """Rows of violated odd cycles, looked for from the vertices in ``order``; returns their number."""
    indptr, heads, edges = graph.indptr, graph.heads, graph.edges
    starts, columns, values, b = rows.starts, rows.columns, rows.values, rows.b
    n = len(indptr) - 1
    distance, parent, used = np.empty(2 * n), np.empty(2 * n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    keys, items = np.empty(len(heads) * 4 + 4), np.empty(len(heads) * 4 + 4, dtype=np.int64)
    position, touched = np.empty(n, dtype=np.int64), np.empty(2 * n, dtype=np.int64)
    walk = np.empty(2 * n + 2, dtype=np.int64)
    distance[:] = np.inf
    for i in range(n):
        position[i], used[i] = -1, False
    count, filled = 0, 0
    starts[0] = 0
    for v in order:
        if used[v]:
            continue
        size, reached = push_heap(keys, items, 0, 0.0, v), 1
        distance[v], parent[v], touched[0] = 0.0, -1, v
        found = False
        while size:
            key, node = keys[0], items[0]
            size = pop_heap(keys, items, size)
            if key > distance[node]:
                continue
            if node == v + n:
                found = True
                break
            i, layer = node % n, node // n
            for p in range(indptr[i], indptr[i + 1]):
                for cross in range(2):
                    step = 1.0 - z[edges[p]] if cross else z[edges[p]]
                    other = heads[p] + n * (layer ^ cross)
                    if key + step < min(distance[other], limit):
                        if distance[other] == np.inf:
                            touched[reached] = other
                            reached += 1
                        distance[other], parent[other] = key + step, 2 * p + cross
                        size = push_heap(keys, items, size, key + step, other)
        if found:
            # the way back, up to the first vertex that is met twice: a simple cycle with an odd number of crossings
            length, node = 0, v + n
            while True:
                i = node % n
                if position[i] >= 0:
                    first = position[i]
                    break
                position[i] = length
                code = parent[node]
                walk[length] = code
                length += 1
                p, cross = code // 2, code % 2
                tail, after = 0, n  # the row that holds arc p: indptr[tail] <= p < indptr[tail + 1]
                while after - tail > 1:
                    middle = (tail + after) // 2
                    if indptr[middle] <= p:
                        tail = middle
                    else:
                        after = middle
                node = tail + n * ((node // n) ^ cross)
            crossings = 0
            for k in range(first, length):
                p, cross = walk[k] // 2, walk[k] % 2
                columns[filled], values[filled] = edges[p], -1.0 if cross else 1.0
                crossings += cross
                used[heads[p]] = True
                filled += 1
            b[count] = 1.0 - crossings
            count += 1
            starts[count] = filled
            node = v + n
            for k in range(length):
                position[heads[walk[k] // 2]] = -1
            position[v] = -1
        for k in range(reached):
            distance[touched[k]] = np.inf
        if count == most or filled + 2 * n > len(columns):
            break
    return count


@kernel
def forest_kernel(tails, heads, order, differ, parent, side, labels):
    """Join vertices along the edges in ``order`` that close no cycle; ``labels`` of each relative to vertex 0.

    ``side`` says whether a vertex differs from its parent in a forest that is flattened by halving paths.
    """
    for e in order:
        a, b, odd = tails[e], heads[e], differ[e]
        while parent[a] != a:
            odd = odd != side[a]
            a = parent[a]
        while parent[b] != b:
            odd = odd != side[b]
            b = parent[b]
        if a != b:
            if a < b:
                a, b = b, a
            parent[a], side[a] = b, odd
    for v in range(len(parent)):
        a, odd = v, False
        while parent[a] != a:
            odd = odd != side[a]
            a = parent[a]
        labels[v] = odd


@dataclass(frozen=True)
class Edges:
    """The edges of the graph: ``tails`` < ``heads`` over vertices 0 (false) and i + 1 (variable i), weights w."""

    tails: Ints
    heads: Ints
    w: Floats

    @staticmethod
    def of(form: QuadraticForm) -> Edges:
        """E = constant + Σ w z: the field to vertex 0 where there is one, -½ P_ij between variables."""
        import scipy.sparse as sparse

        upper = sparse.triu(form.pairs, 1).tocoo()
        outer = np.flatnonzero(form.field)
        tails = np.concatenate([np.zeros(len(outer), dtype=np.int64), upper.row + 1])
        heads = np.concatenate([outer + 1, upper.col + 1])
        return Edges(tails, heads, np.concatenate([form.field[outer], -0.5 * upper.data]))

    def rows(self, n: int, which: Masks) -> Graph:
        """Neighbours of every vertex over some of the edges."""
        number = np.flatnonzero(which)
        tails = np.concatenate([self.tails[number], self.heads[number]])
        heads = np.concatenate([self.heads[number], self.tails[number]])
        order = np.argsort(tails, kind="stable")
        indptr = np.searchsorted(tails[order], np.arange(n + 2))
        return Graph(indptr, heads[order].astype(np.int64), np.tile(number, 2)[order])


class OddCycleBound:
    """The linear programme of one form, tightened by :meth:`run`."""

    def __init__(self, form: QuadraticForm, rng: np.random.Generator) -> None:
        self.form, self.rng = form, rng
        self.edges = Edges.of(form)
        self.programme = GrowingProgramme(self.edges.w)
        outer = self.edges.tails == 0
        self.everywhere = bool(outer.sum() == form.n)  # then every cycle through 0 falls into triangles at 0
        self.graph = self.edges.rows(form.n, ~outer if self.everywhere else np.ones(len(outer), dtype=bool))
        self.column = np.full(form.n + 1, -1)
        self.column[self.edges.heads[outer]] = np.flatnonzero(outer)
        inner = np.flatnonzero(~outer)
        both = (self.column[self.edges.tails[inner]] >= 0) & (self.column[self.edges.heads[inner]] >= 0)
        self.chords = inner[both]
        self.z = np.zeros(len(self.edges.w))
        self.inner: Floats | None = None

    @property
    def lower(self) -> float:
        """The bound so far."""
        return self.form.constant + self.programme.bound

    def run(self, needed: float, pause: Callable[[Floats], tuple[bool, float]]) -> float:
        """Solve and separate until the bound exceeds ``needed``, no cycle is violated, or the bound stalls.

        ``pause`` is called with z after each round; it says whether to stop, and the bound that is now needed. The
        bound stalls when :data:`ROUNDS` more like the last six would not be enough.
        """
        history: list[float] = []
        while True:
            self.z = self.programme.solve()
            stop, needed = pause(self.z)
            history.append(self.lower)
            stalled = len(history) > 8 and ROUNDS * (history[-1] - history[-7]) < 6 * (needed - history[-1])
            if self.lower > needed or stop or stalled:
                return self.lower
            self.programme.forget(4)
            if not self.separate():
                return self.lower

    def separate(self) -> int:
        """Add violated triangles at vertex 0 or, if there are few, odd cycles; returns how many."""
        found = self.triangles()
        if found < self.few:
            found += self.cycles()
        return found

    @property
    def few(self) -> int:
        """Fewer cuts than this are not worth a round."""
        return max(10, self.form.n // 20)

    def triangles(self, threshold: float = 1e-3) -> int:
        """The most violated of the four triangles over 0 and the ends of each pair."""
        z, chords = self.z, self.chords
        if len(chords) == 0:
            return 0
        i, j = self.column[self.edges.tails[chords]], self.column[self.edges.heads[chords]]
        signs = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1], [-1, -1, -1]])
        at = np.stack([i, j, chords])
        slack = signs @ z[at] - np.array([0, 0, 0, -2])[:, None]
        kind = slack.argmin(axis=0)
        rows = np.flatnonzero(slack.min(axis=0) < -threshold)
        self.programme.add(
            3 * np.arange(len(rows) + 1),
            at.T[rows].ravel(),
            signs[kind[rows]].ravel().astype(float),
            np.where(kind[rows] == 3, -2.0, 0.0),
        )
        return len(rows)

    def cycles(self, most: int = 1000) -> int:
        """Odd cycles that z violates, looked for where they cut deepest: on the way from z to a set.

        A row that holds at the set and not at a point between is violated at z, and by more.
        """
        if self.inner is not None:
            for share in (0.5, 0.8):
                count = self.cycles_at(share * self.z + (1.0 - share) * self.inner, most)
                if count >= self.few:
                    return count
        return self.cycles_at(self.z, most)

    def towards(self, mask: Masks) -> None:
        """Separate from points between z and the set."""
        side = np.append(False, mask)
        self.inner = (side[self.edges.tails] != side[self.edges.heads]).astype(float)

    def cycles_at(self, z: Floats, most: int) -> int:
        """Odd cycles that z violates, by shortest paths from the vertices in random order."""
        n = len(self.graph[0]) - 1
        room = max(200_000, 8 * n)
        starts, columns = np.zeros(most + 1, dtype=np.int64), np.empty(room, dtype=np.int64)
        rows = CycleRows(starts, columns, np.empty(room), np.empty(most))
        count = odd_cycles_kernel(self.graph, z, self.rng.permutation(n), most, 1.0 - 1e-4, rows)
        filled = rows.starts[count]
        self.programme.add(rows.starts[: count + 1], rows.columns[:filled], rows.values[:filled], rows.b[:count])
        return count

    def most_fractional(self, labels: Ints) -> int:
        """The free variable to branch on: one end of the edge to a fixed vertex (0 is one) that z has decided least.

        What an edge costs counts as well. Fixing a variable fixes its edges to fixed vertices, and odd cycles the
        others; if it has none, all its edges count.
        """
        edges, doubt = self.edges, np.abs(self.edges.w) * np.minimum(self.z, 1.0 - self.z)
        known = np.append(True, labels >= 0)
        fringe = doubt * (known[edges.tails] != known[edges.heads])
        score = fringe if fringe.max(initial=0.0) > 0 else doubt
        total = np.bincount(edges.tails, score, self.form.n + 1) + np.bincount(edges.heads, score, self.form.n + 1)
        return int(np.argmax(np.where(known, -1.0, total)[1:]))

    def fix(self, labels: Ints) -> None:
        """Limit the programme to the sets that agree with the labels (-1: free); its rows hold for all."""
        known, side = np.append(True, labels >= 0), np.append(False, labels == 1)
        edges = self.edges
        decided, differ = known[edges.tails] & known[edges.heads], side[edges.tails] != side[edges.heads]
        self.programme.limit(np.where(decided, differ, 0.0), np.where(decided, differ, 1.0))

    def implied(self, labels: Ints, needed: float) -> Ints:
        """The labels and those that follow from reduced costs: with the other one the bound exceeds ``needed``."""
        programme, edges, labels = self.programme, self.edges, labels.copy()
        free = (programme.upper > programme.lower) & (self.lower + np.abs(programme.reduced) > needed)
        for e in np.flatnonzero(free):
            i, j = int(edges.tails[e]) - 1, int(edges.heads[e]) - 1
            differ = int(programme.reduced[e] < 0)
            first = 0 if i < 0 else int(labels[i])
            if first >= 0 and labels[j] < 0:
                labels[j] = first ^ differ
            elif first < 0 and labels[j] >= 0:
                labels[i] = labels[j] ^ differ
        return labels

    def labels(self) -> Masks:
        """A labelling along the edges that z has decided most: a spanning forest by |z - ½|."""
        edges, N = self.edges, self.form.n + 1
        labels, side = np.zeros(N, dtype=bool), np.zeros(N, dtype=bool)
        order = np.argsort(-np.abs(self.z - 0.5), kind="stable")
        forest_kernel(edges.tails, edges.heads, order, self.z > 0.5, np.arange(N), side, labels)
        return labels[1:]
