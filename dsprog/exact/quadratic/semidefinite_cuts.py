"""Cuts of the semidefinite bound: whole numbers a on a few vertices, their sum odd, so (a's)² >= 1 for all signs s.

Three entries ±1 are a *triangle*, five a *pentagon*. A vector a has at most five entries, so every product with it is
a gather, never a matrix product. Separation enumerates all triangles; pentagons extend the tightest of them by the
best pair of vertices: with u = Xa,

    (a + σe_i + τe_j)'X(a + σe_i + τe_j) = a'Xa + X_ii + X_jj + 2σu_i + 2τ(u_j + σX_ij).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Ints

WIDTH = 5  # entries that a cut can have
VERTICES = 2048  # more vertices than this have no keys
ROOM = 5000  # for violated triangles, from which some sixty are chosen


@kernel
def newton_kernel(W, X, vertices, signs, triangles, diagonal, out):
    """The lower triangle of (B'WB)∘(B'XB), B = [I, A], plus ``diagonal`` at the cuts; the first ones are triangles."""
    N, m = len(W), len(vertices)
    for i in range(N):
        for j in range(i + 1):
            out[i, j] = W[i, j] * X[i, j]
    Wa, Xa = np.empty(N), np.empty(N)
    for k in range(m):
        row = out[N + k]
        a, b, c = vertices[k, 0], vertices[k, 1], vertices[k, 2]
        p, q, r = signs[k, 0], signs[k, 1], signs[k, 2]
        for i in range(N):
            Wa[i] = p * W[a, i] + q * W[b, i] + r * W[c, i]
            Xa[i] = p * X[a, i] + q * X[b, i] + r * X[c, i]
        if k >= triangles:
            a, b = vertices[k, 3], vertices[k, 4]
            p, q = signs[k, 3], signs[k, 4]
            for i in range(N):
                Wa[i] += p * W[a, i] + q * W[b, i]
                Xa[i] += p * X[a, i] + q * X[b, i]
        for i in range(N):
            row[i] = Wa[i] * Xa[i]
        for l in range(min(k + 1, triangles)):
            a, b, c = vertices[l, 0], vertices[l, 1], vertices[l, 2]
            p, q, r = signs[l, 0], signs[l, 1], signs[l, 2]
            row[N + l] = (p * Wa[a] + q * Wa[b] + r * Wa[c]) * (p * Xa[a] + q * Xa[b] + r * Xa[c])
        for l in range(triangles, k + 1):
            g = h = 0.0
            for e in range(WIDTH):
                g += signs[l, e] * Wa[vertices[l, e]]
                h += signs[l, e] * Xa[vertices[l, e]]
            row[N + l] = g * h
        row[N + k] += diagonal[k]


@kernel
def gram_diagonal_kernel(W, vertices, signs, out):
    """a'Wa of every cut."""
    for k in range(len(vertices)):
        total = 0.0
        for p in range(WIDTH):
            for q in range(WIDTH):
                total += signs[k, p] * signs[k, q] * W[vertices[k, p], vertices[k, q]]
        out[k] = total


@kernel
def add_cuts_kernel(vertices, signs, weights, Z):
    """Z += Σ weights_k a_k a_k'."""
    for k in range(len(vertices)):
        for p in range(WIDTH):
            for q in range(WIDTH):
                Z[vertices[k, p], vertices[k, q]] += weights[k] * signs[k, p] * signs[k, q]


@kernel
def violated_kernel(X, threshold, vertices, signs, violation):
    """Triangles with ½(a'Xa - 1) = 1 + p X_ij + q (X_ik + p X_jk) < threshold <= 0, as many as there is room for.

    Over q the least is 1 + p X_ij - |X_ik + p X_jk|, and with the other q it is more than threshold. Almost no pair
    i, j has such a k, and a count without branches, many k at a time, tells which do. Returns their number.
    """
    N, count, most = len(X), 0, len(violation)
    for i in range(N):
        for j in range(i):
            x, first, second = X[i, j], X[i], X[j]
            plus, minus, hits = 1.0 + x - threshold, 1.0 - x - threshold, 0
            for k in range(j):
                y, z = first[k], second[k]
                hits += (abs(y + z) > plus) | (abs(y - z) > minus)
            if hits == 0:
                continue
            for k in range(j):
                for kind in range(2):
                    p = 1.0 - 2.0 * kind
                    both = X[i, k] + p * X[j, k]
                    v = 1.0 + p * x - abs(both)
                    if v < threshold:
                        vertices[count, 0], vertices[count, 1], vertices[count, 2] = k, j, i
                        signs[count, 0], signs[count, 1], signs[count, 2] = -1.0 if both > 0 else 1.0, p, 1.0
                        violation[count] = v
                        count += 1
                        if count == most:
                            return count
    return count


@kernel
def spread_kernel(vertices, order, most, used, chosen):
    """Choose rows in ``order`` whose three edges are in less than ``most`` rows chosen before; returns their number."""
    count = 0
    for r in order:
        a, b, c = vertices[r, 0], vertices[r, 1], vertices[r, 2]
        if max(used[a, b], used[a, c], used[b, c]) < most:
            used[a, b] += 1
            used[a, c] += 1
            used[b, c] += 1
            chosen[count] = r
            count += 1
            if count == len(chosen):
                break
    return count


@kernel
def best_pairs_kernel(X, vertices, signs, pairs, turns, least):
    """For each triangle the pair j < i beside it with the least σu_i - |u_j + σX_ij|, u = Xa, and its signs τ, σ.

    A count without branches tells which i may have a better j than the best so far: few have.
    """
    N = len(X)
    u, taken = np.empty(N), np.zeros(N, dtype=np.bool_)
    for t in range(len(vertices)):
        a, b, c = vertices[t, 0], vertices[t, 1], vertices[t, 2]
        for i in range(N):
            u[i] = signs[t, 0] * X[a, i] + signs[t, 1] * X[b, i] + signs[t, 2] * X[c, i]
        taken[a] = taken[b] = taken[c] = True
        u[a] = u[b] = u[c] = 0.0  # they are not to be counted
        best, first, second, p = np.inf, 0, 0, 1.0
        for i in range(N):
            if taken[i]:
                continue
            for side in range(2):
                sigma = 1.0 - 2.0 * side
                base, limit, hits = sigma * u[i], sigma * u[i] - best, 0
                for j in range(i):
                    hits += abs(u[j] + sigma * X[i, j]) > limit
                if hits == 0:
                    continue
                for j in range(i):
                    value = base - abs(u[j] + sigma * X[i, j])
                    if value < best and not taken[j]:
                        best, first, second, p = value, i, j, sigma
        taken[a] = taken[b] = taken[c] = False
        pairs[t, 0], pairs[t, 1] = second, first
        turns[t, 0], turns[t, 1] = -1.0 if u[second] + p * X[first, second] > 0 else 1.0, p
        least[t] = best


@dataclass
class OddCuts:
    """Rows a: vertices in increasing order with their entries (0: no entry; the last is positive), weights γ, slacks.

    Triangles come first.
    """

    vertices: Ints = field(default_factory=lambda: np.zeros((0, WIDTH), dtype=np.int64))
    signs: Floats = field(default_factory=lambda: np.zeros((0, WIDTH)))
    gamma: Floats = field(default_factory=lambda: np.zeros(0))
    slack: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.gamma)

    @property
    def triangles(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.signs[:, 3] == 0))

    def keys(self) -> Ints:
        """A number for each cut, the same for equal cuts."""
        key = np.zeros(len(self), dtype=np.int64)
        for column in self.vertices.T:
            key = key * VERTICES + column
        for column in self.signs.T[:4]:
            key = key * 2 + (column > 0)
        return key

    def take(self, rows: Ints) -> OddCuts:
        """Some of the cuts."""
        return OddCuts(self.vertices[rows], self.signs[rows], self.gamma[rows], self.slack[rows])

    def with_weights(self, gamma: Floats, slack: Floats) -> OddCuts:
        """The same cuts elsewhere."""
        return OddCuts(self.vertices, self.signs, gamma, slack)

    def extended(self, other: OddCuts) -> OddCuts:
        """These and the others that are not among these."""
        other = other.take(np.flatnonzero(~np.isin(other.keys(), self.keys())))
        both = OddCuts(
            np.vstack([self.vertices, other.vertices]),
            np.vstack([self.signs, other.signs]),
            np.append(self.gamma, other.gamma),
            np.append(self.slack, other.slack),
        )
        return both.take(np.argsort(both.signs[:, 3] != 0, kind="stable"))

    def gram(self, W: Floats) -> Floats:
        """a'Wa of every cut."""
        out = np.empty(len(self))
        gram_diagonal_kernel(W, self.vertices, self.signs, out)
        return out

    def add_to(self, Z: Floats, weights: Floats) -> None:
        """Z += Σ weights_k a_k a_k'."""
        add_cuts_kernel(self.vertices, self.signs, weights, Z)

    def sums(self, size: int) -> Floats:
        """Σ_k γ_k |a_ki| Σ_j |a_kj| for each vertex i: what the cuts put into row i of Z, at most."""
        entries = np.abs(self.signs)
        weights = self.gamma[:, None] * entries * entries.sum(axis=1)[:, None]
        return np.bincount(self.vertices.ravel(), weights.ravel(), size).astype(float)

    @staticmethod
    def dense(A: Floats, gamma: Floats) -> OddCuts:
        """From rows with at most five entries each; equal rows, up to sign, become one."""
        rows, columns = np.nonzero(A)
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        vertices, signs = np.zeros((len(A), WIDTH), dtype=np.int64), np.zeros((len(A), WIDTH))
        vertices[rows, place], signs[rows, place] = columns, A[rows, columns]
        last = np.bincount(rows, minlength=len(A)) - 1
        signs *= np.sign(signs[np.arange(len(A)), last])[:, None]
        cuts = OddCuts(vertices, signs, gamma, np.zeros(len(A)))
        _, first, where = np.unique(cuts.keys(), return_index=True, return_inverse=True)
        one = cuts.take(first)
        one.gamma = np.bincount(where, gamma, len(first)).astype(float)
        return one.take(np.argsort(one.signs[:, 3] != 0, kind="stable"))


def violated_triangles(X: Floats, count: int, threshold: float, most: int = 2) -> OddCuts:
    """The ``count`` triangles that X violates most, each edge in ``most`` of them; ½(a'Xa - 1) < threshold."""
    vertices, signs = np.zeros((ROOM, WIDTH), dtype=np.int64), np.zeros((ROOM, WIDTH))
    violation = np.empty(ROOM)
    found = violated_kernel(X, threshold, vertices, signs, violation)
    while found == ROOM and np.median(violation) > violation.min():  # there may be others that are more violated
        found = violated_kernel(X, float(np.median(violation)), vertices, signs, violation)
    order, rows = np.argsort(violation[:found], kind="stable"), np.empty(count, dtype=np.int64)
    rows = rows[: spread_kernel(vertices, order, most, np.zeros(X.shape, dtype=np.int64), rows)]
    return OddCuts(vertices[rows], signs[rows], np.zeros(len(rows)), np.zeros(len(rows)))


def violated_pentagons(X: Floats, cuts: OddCuts, count: int, threshold: float, tried: int = 100) -> OddCuts:
    """The ``count`` most violated among the best extensions of the tightest triangles of ``cuts``."""
    triangles = cuts.take(np.arange(cuts.triangles))
    if len(X) < WIDTH or len(triangles) == 0:
        return OddCuts()
    gram = triangles.gram(X)
    tight = np.argsort(gram, kind="stable")[:tried]
    base = triangles.take(tight)
    pairs, turns, least = np.zeros((len(base), 2), dtype=np.int64), np.empty((len(base), 2)), np.empty(len(base))
    best_pairs_kernel(X, base.vertices, base.signs, pairs, turns, least)
    violation = 0.5 * (gram[tight] - 1.0) + 1.0 + least
    vertices, signs = np.hstack([base.vertices[:, :3], pairs]), np.hstack([base.signs[:, :3], turns])
    order = np.argsort(vertices, axis=1)
    vertices, signs = np.take_along_axis(vertices, order, axis=1), np.take_along_axis(signs, order, axis=1)
    signs *= signs[:, -1:]
    rows = np.argsort(violation, kind="stable")
    rows = rows[violation[rows] < threshold]
    found = OddCuts(vertices[rows], signs[rows], np.zeros(len(rows)), np.zeros(len(rows)))
    _, first = np.unique(found.keys(), return_index=True)
    return found.take(np.sort(first)[:count])
