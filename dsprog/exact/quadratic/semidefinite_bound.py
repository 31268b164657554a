"""A semidefinite bound with triangle cuts for quadratic functions of signs, by an interior point method.

For signs s and three ±1 entries a, a's is odd, so (a's)² >= 1: a *triangle*. For any y and any γ >= 0 with

    Z = Diag(y) - Σ_k γ_k a_k a_k' - C   positive semidefinite,    s'Cs <= Σ y_i - Σ γ_k   for all signs s,

because s'Cs = Σ y_i - Σ γ_k (a_k's)² - s'Zs. Every such point gives a valid bound, converged or not, and a Cholesky
factorisation of Z that succeeds certifies it up to a rounding term.

The method follows the central path W = Z⁻¹, X = μW. With B = [I, A] and G = B'WB the Newton matrix is the entrywise
square of G plus slack/(γμ) on the diagonal of the cuts. Cuts are separated from X = μ(W - W dZ W) long before
convergence, and those that have become slack are dropped, so that the matrix stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Ints

EPS = float(np.finfo(float).eps)
SHRINK = (1.5, 1.2, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)  # of μ, by the length of the last step in tenths


@kernel
def newton_kernel(W, vertices, signs, slack_over_gamma_mu, out):
    """The lower triangle of (B'WB) squared entrywise, and the diagonal of the cuts."""
    N, m = len(W), len(vertices)
    for i in range(N):
        for j in range(i + 1):
            out[i, j] = W[i, j] * W[i, j]
    WA = np.empty(N)
    for k in range(m):
        a, b, c = vertices[k]
        p, q, r = signs[k]
        row = out[N + k]
        for i in range(N):
            WA[i] = p * W[a, i] + q * W[b, i] + r * W[c, i]
            row[i] = WA[i] * WA[i]
        for l in range(k + 1):
            g = signs[l, 0] * WA[vertices[l, 0]] + signs[l, 1] * WA[vertices[l, 1]] + signs[l, 2] * WA[vertices[l, 2]]
            row[N + l] = g * g
        row[N + k] += slack_over_gamma_mu[k]


@kernel
def gram_diagonal_kernel(W, vertices, signs, out):
    """a'Wa of every triangle."""
    for k in range(len(vertices)):
        total = 0.0
        for p in range(3):
            for q in range(3):
                total += signs[k, p] * signs[k, q] * W[vertices[k, p], vertices[k, q]]
        out[k] = total


@kernel
def add_triangles_kernel(vertices, signs, weights, Z):
    """Z += Σ weights_k a_k a_k'."""
    for k in range(len(vertices)):
        for p in range(3):
            for q in range(3):
                Z[vertices[k, p], vertices[k, q]] += weights[k] * signs[k, p] * signs[k, q]


@kernel
def violated_kernel(X, threshold, vertices, signs, violation):
    """Triangles with ½(a'Xa - 1) = 1 + σ_ij X_ij + σ_ik X_ik + σ_jk X_jk < threshold; returns their number."""
    N, count, most = len(X), 0, len(violation)
    for i in range(N):
        for j in range(i):
            for k in range(j):
                for kind in range(4):
                    p = 1.0 if kind < 2 else -1.0
                    q = 1.0 if kind % 2 == 0 else -1.0
                    v = 1.0 + p * X[i, j] + q * X[i, k] + p * q * X[j, k]
                    if v < threshold:
                        vertices[count, 0], vertices[count, 1], vertices[count, 2] = k, j, i
                        signs[count, 0], signs[count, 1], signs[count, 2] = q, p, 1.0
                        violation[count] = v
                        count += 1
                        if count == most:
                            return count
    return count


@dataclass
class Triangles:
    """Cuts (a's)² >= 1: three vertices in increasing order, their signs (the last +1), weights γ and slacks."""

    vertices: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    signs: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    gamma: Floats = field(default_factory=lambda: np.zeros(0))
    slack: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.gamma)

    def keys(self) -> Ints:
        """A number for each cut, the same for equal cuts."""
        i, j, k = self.vertices.T
        kind = 2 * (self.signs[:, 0] > 0) + (self.signs[:, 1] > 0)
        return ((i * 4096 + j) * 4096 + k) * 4 + kind

    def take(self, rows: Ints) -> Triangles:
        """Some of the cuts."""
        return Triangles(self.vertices[rows], self.signs[rows], self.gamma[rows], self.slack[rows])

    def extended(self, other: Triangles) -> Triangles:
        """These and the others that are not among these."""
        other = other.take(np.flatnonzero(~np.isin(other.keys(), self.keys())))
        return Triangles(
            np.vstack([self.vertices, other.vertices]),
            np.vstack([self.signs, other.signs]),
            np.append(self.gamma, other.gamma),
            np.append(self.slack, other.slack),
        )


def violated_triangles(X: Floats, count: int, threshold: float = -0.02) -> Triangles:
    """The ``count`` triangles that X violates most."""
    room = 200_000
    vertices, signs, violation = np.empty((room, 3), dtype=np.int64), np.empty((room, 3)), np.empty(room)
    found = violated_kernel(X, threshold, vertices, signs, violation)
    rows = np.argsort(violation[:found], kind="stable")[:count]
    return Triangles(vertices[rows], signs[rows], np.zeros(len(rows)), np.zeros(len(rows)))


def inverse(Z: Floats) -> Floats | None:
    """Z⁻¹ by a Cholesky factorisation, or None if Z is not positive definite."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, info = dpotrf(Z, lower=1, clean=0)
    if info:
        return None
    half, info = dpotri(factor, lower=1, overwrite_c=1)
    if info:
        return None
    lower = np.tril(half)
    return np.ascontiguousarray(lower + np.tril(lower, -1).T)


def is_positive_definite(Z: Floats) -> bool:
    """Whether a Cholesky factorisation succeeds."""
    from scipy.linalg.lapack import dpotrf

    return dpotrf(Z, lower=1, clean=0)[1] == 0


@dataclass
class SemidefinitePoint:
    """A dual feasible point (y, γ) of the bound for a matrix C with an empty diagonal."""

    C: Floats
    y: Floats
    cuts: Triangles

    @staticmethod
    def diagonally_dominant(C: Floats) -> SemidefinitePoint:
        """y_i = 1.1 Σ_j |C_ij| and no cuts: Z is positive definite by its diagonal."""
        rows = np.abs(C).sum(axis=1)
        return SemidefinitePoint(C, 1.1 * rows + 1e-3 * max(float(rows.max(initial=0.0)), 1e-300), Triangles())

    def Z(self) -> Floats:
        """Diag(y) - Σ γ aa' - C."""
        Z = np.diag(self.y) - self.C
        add_triangles_kernel(self.cuts.vertices, self.cuts.signs, -self.cuts.gamma, Z)
        return Z

    def bound(self) -> float:
        """An upper bound on s'Cs, valid if a Cholesky factorisation of Z has succeeded.

        Then Z + E is positive semidefinite with |E_ij| <= (N + 2) eps √(Z_ii Z_jj) and some units of rounding in Z
        itself, and s'Es <= (Σ_i √|Z_ii|)² (N + 2) eps; the factor 4 covers the rounding of Z and of the sums.
        """
        N, cuts = len(self.y), self.cuts
        size = np.abs(self.y) + np.abs(self.C).sum(axis=1)
        np.add.at(size, cuts.vertices.ravel(), np.repeat(3 * cuts.gamma, 3))
        rounding = 4 * EPS * (N + len(cuts) + 2) * N * float(size.sum())
        return float(self.y.sum() - cuts.gamma.sum()) + rounding


@dataclass(frozen=True)
class SemidefiniteOutcome:
    """Where the method stopped: the point, its bound on s'Cs, and X if it was looked at."""

    point: SemidefinitePoint
    bound: float
    X: Floats
    iterations: int


@dataclass(frozen=True)
class InteriorPoint:
    """The choices of the method.

    Parameters
    ----------
    added : int
        Cuts added at a time, at most.
    drop : float
        Slack beyond which a cut is dropped.
    rounds : int
        Rounds of cuts after which the bound must have closed, by extrapolation, to go on.
    most : int
        Newton steps at most.
    """

    added: int = 40
    drop: float = 0.1
    rounds: int = 4
    most: int = 120

    def run(self, point: SemidefinitePoint, target: float) -> SemidefiniteOutcome:
        """Lower the bound of a feasible point until it is at most ``target``, or until that is out of reach."""
        return Descent(self, point, target).outcome()


class Descent:
    """One run of the method."""

    def __init__(self, options: InteriorPoint, point: SemidefinitePoint, target: float) -> None:
        self.options, self.target = options, target
        self.C, self.y, self.cuts = point.C, point.y.copy(), point.cuts
        if np.isfinite(target):  # a little inside, so that the first steps are not short
            self.y += 0.1 * max(0.0, point.bound() - target) / len(self.y)
        self.iterations = 0
        W = inverse(self.point().Z())
        shift = 1e-9 * float(np.abs(self.y).max())
        while W is None:  # rounding on the way from the parent
            self.y, shift = self.y + shift, 4 * shift
            W = inverse(self.point().Z())
        self.W = W
        self.mu = len(self.y) / float(np.trace(W))  # X = μW has the trace of a matrix ss'
        self.cuts.slack = np.clip(self.mu / self.cuts.gamma, 1e-3, 2.0)

    def point(self) -> SemidefinitePoint:
        """Where it stands."""
        return SemidefinitePoint(self.C, self.y, self.cuts)

    def outcome(self) -> SemidefiniteOutcome:
        """Centre and shrink μ; add cuts when this relaxation cannot reach the target; give up if they stall."""
        best, bound, X = self.point(), self.point().bound(), self.mu * self.W
        history: list[float] = []
        while bound > self.target and self.iterations < self.options.most:
            length, dZ = self.step()
            self.iterations += 1
            now = self.point().bound()
            if now < bound:
                best, bound = self.point(), now
            remaining = (len(self.y) + len(self.cuts)) * self.mu
            if length > 0.5 and remaining < bound - self.target:
                X = self.mu_of_step * (self.W_of_step - self.W_of_step @ dZ @ self.W_of_step)
                history.append(bound - remaining)
                if self.stalled(history) or not self.exchange_cuts(X):
                    break
            else:
                self.mu *= SHRINK[int(10 * length)]
        return SemidefiniteOutcome(best, bound, X, self.iterations)

    def stalled(self, history: list[float]) -> bool:
        """Whether the last rounds, extrapolated, leave the target out of reach."""
        if len(history) < 3:
            return False
        gain = (history[-3] - history[-1]) / 2
        return history[-1] - self.target > self.options.rounds * gain

    def step(self) -> tuple[float, Floats]:
        """One Newton step; says whether it was (nearly) a full one, and dZ."""
        from scipy.linalg.lapack import dpotrf, dpotrs

        N, m, mu, W, cuts = len(self.y), len(self.cuts), self.mu, self.W, self.cuts
        M = np.zeros((N + m, N + m))
        newton_kernel(W, cuts.vertices, cuts.signs, cuts.slack / (cuts.gamma * mu), M)
        gram = np.empty(m)
        gram_diagonal_kernel(W, cuts.vertices, cuts.signs, gram)
        rhs = np.concatenate([np.diag(W) - 1 / mu, gram - 1 / mu - 1 / cuts.gamma])
        factor, info = dpotrf(M.T, lower=0, overwrite_a=1, clean=0)
        if info:
            self.mu *= 2
            return 0.0, np.zeros_like(W)
        D = dpotrs(factor, rhs, lower=0)[0]
        dy, dgamma = D[:N], -D[N:]
        dslack = mu / cuts.gamma - cuts.slack / cuts.gamma * dgamma - cuts.slack
        dZ = np.diag(dy)
        add_triangles_kernel(cuts.vertices, cuts.signs, -dgamma, dZ)
        length = min(1.0, ratio(cuts.gamma, dgamma))
        Z = self.point().Z()
        full = length
        while not is_positive_definite(Z + length * dZ):
            length *= 0.8
        if length < full:
            length *= 0.9
        inverse_ = inverse(Z + length * dZ)
        assert inverse_ is not None
        self.W_of_step, self.mu_of_step = W, mu
        self.y = self.y + length * dy
        self.cuts = Triangles(
            cuts.vertices,
            cuts.signs,
            cuts.gamma + length * dgamma,
            cuts.slack + min(1.0, ratio(cuts.slack, dslack)) * dslack,
        )
        self.W = inverse_
        return length, dZ

    def exchange_cuts(self, X: Floats) -> bool:
        """Drop slack cuts, add violated ones with small weights; False if nothing is violated."""
        new = violated_triangles(X, self.options.added)
        if len(new) == 0:
            return False
        before = self.cuts.take(self.worth_keeping())
        new.slack = np.ones(len(new))
        new.gamma = np.full(len(new), self.mu)
        while True:
            self.cuts = before.extended(new)
            W = inverse(self.point().Z())
            if W is not None:
                break
            new.gamma = new.gamma * 0.3
        self.W = W
        return True

    def worth_keeping(self) -> Ints:
        """All but slack cuts whose weights together are small: dropping a cut costs its γ."""
        order = np.argsort(self.cuts.gamma)
        small = np.cumsum(self.cuts.gamma[order]) <= 0.1 * len(self.y) * self.mu
        slack = self.cuts.slack[order] > self.options.drop
        return np.sort(order[~(small & slack)])


def ratio(value: Floats, change: Floats) -> float:
    """95 % of the way to where an entry of value + t change reaches 0; infinite if none does."""
    falling = change < 0
    return 0.95 * float((value[falling] / -change[falling]).min(initial=np.inf))
