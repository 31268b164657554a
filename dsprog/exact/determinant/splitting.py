"""C = D + (C - D): the diagonal D that the bounds of a whole tree rest on, optimised once at its root.

For D = diag(d) > 0 with D ⪯ C, put A = D^-½ C D^-½ = I + P with P ⪰ 0; then log det C_S = Σ_S log d_i + log det A_S,
and the bound of :mod:`gamma_bound` applies to P. D ⪯ C implies D_F ⪯ every Schur complement of C onto F, so one D
serves every node. The larger D, the closer the bound: D is chosen to minimise max_x B(x) with a logarithmic
barrier for D ⪯ C, by L-BFGS in θ = log d; at the maximising x the slope of the maximum is that of B (Danskin).

*Rounding*. D ⪯ C must hold certainly: D is shrunk until a Cholesky factorisation of A - I - shift·I succeeds, with
shift = 4 (n + 2) ε tr A, above the (n + 2) ε tr A at which its success proves that P ⪰ 0 (Rump), and above the backward
error of every Schur complement. Eigenvalues and Schur complements are those of P + ΔP with ‖ΔP‖ a small multiple of
√n ε ‖A‖ (errors that do not conspire), and log det (I + P)_S moves by at most |S| ‖ΔP‖ since (I + P)_S ⪰ I.
:attr:`DiagonalSplit.rounding` allows for 4 √n ε ‖A‖, and every bound is weakened by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.determinant.determinant_problem import Reward
from dsprog.exact.determinant.gamma_bound import DeterminantNode, diagonal_slope
from dsprog.exact.determinant.size_polytope import middle
from dsprog.exact.determinant.spectral_ascent import climb
from dsprog.run.blas import lapack

EPS = float(np.finfo(float).eps)
BARRIERS = (3e-2, 5e-3, 1e-3)
PAIRS = 12  # of L-BFGS
LONGEST = 0.7  # step in θ
ENOUGH = 1e-3  # of the gap: a step that closes less is the last
NARROW = 0.1  # in units of a: a gap below it is closed by few nodes and asks for no better diagonal
ROUNDS = 25  # of L-BFGS for each barrier


@dataclass(frozen=True)
class DiagonalSplit:
    """A reward with its diagonals taken out: weights u with the log d, and the scaled matrices A_k = I + P_k."""

    reward: Reward
    theta: Floats
    u: Floats
    A: tuple[Floats, ...]
    rounding: float

    @classmethod
    def of(cls, reward: Reward, theta: Floats) -> DiagonalSplit:
        """With D certainly below C, shrunk as far as that takes."""
        safe = np.array([certain(C, row) for C, row in zip(reward.C, theta)]).reshape(theta.shape)
        A = tuple(scaled(C, row) for C, row in zip(reward.C, safe))
        n, most = reward.n, max(reward.most, 1)
        norms = sum(a * float(np.linalg.norm(M, 2)) for a, M in zip(reward.a, A) if n)
        sizes = np.abs(reward.weights).sum() + abs(reward.constant) + float(reward.a @ np.abs(safe).sum(axis=1))
        rounding = 4.0 * EPS * (np.sqrt(n) * most * norms + sizes) + reward.error
        return cls(reward, safe, reward.weights + reward.a @ safe, A, float(rounding))

    def node(self, I: Masks, F: Ints, least: int, most: int) -> DeterminantNode:
        """The problem of the free elements F given those of I, by Schur complements."""
        base, P = self.reward.constant + float(self.u[I].sum()), []
        inside = np.flatnonzero(I)
        for a, A in zip(self.reward.a, self.A):
            rest = A[np.ix_(F, F)]
            if len(inside):
                root, failed = lapack().dpotrf(A[np.ix_(inside, inside)], lower=1)
                assert not failed, "A ⪰ I"
                W = lapack().dtrtrs(root, A[np.ix_(inside, F)], lower=1)[0]
                rest -= W.T @ W
                base += 2.0 * a * float(np.log(np.diagonal(root)).sum())
            rest.flat[:: len(F) + 1] -= 1.0
            P.append(rest)
        return DeterminantNode(base, self.u[F], self.reward.a, tuple(P), least, most)

    def root(self) -> DeterminantNode:
        """The whole."""
        n = self.reward.n
        return self.node(np.zeros(n, dtype=bool), np.arange(n), self.reward.least, self.reward.most)


def scaled(C: Floats, theta: Floats) -> Floats:
    """D^-½ C D^-½."""
    half = np.exp(-0.5 * theta)
    return C * np.outer(half, half)


def certain(C: Floats, theta: Floats) -> Floats:
    """θ lowered until A - I is certainly positive semidefinite."""
    n = len(C)
    for power in range(60):
        lowered = theta - (1e-10 * 2.0**power if power else 0.0)
        A = scaled(C, lowered)
        if is_definite(A - (1.0 + 4.0 * (n + 2) * EPS * np.trace(A)) * np.eye(n)):
            return lowered
    raise ValueError("a matrix is not positive definite, so that it has no log determinants")


def is_definite(A: Floats) -> bool:
    """Whether a Cholesky factorisation succeeds."""
    return not len(A) or lapack().dpotrf(A, lower=1)[1] == 0


# -- where to begin -------------------------------------------------------------------------------------------------


def least_eigenvalue(C: Floats, scale: Floats) -> Floats:
    """θ of D = .9 λ · diag(scale) with λ the least eigenvalue of C scaled by it."""
    half = 1.0 / np.sqrt(scale)
    return np.log(scale) + np.log(0.9 * max(float(np.linalg.eigvalsh(C * np.outer(half, half))[0]), 1e-300))


def balanced(C: Floats, theta: Floats) -> Floats:
    """θ of .95 times the D that maximises Σ log d_i + .1 log det(C - D), by Newton's method from θ on."""
    weight, d, n = 0.1, np.exp(theta), len(C)

    def value(d: Floats) -> float:
        root, failed = lapack().dpotrf(C - np.diag(d), lower=1)
        return -np.inf if failed else float(np.log(d).sum() + 2 * weight * np.log(np.diagonal(root)).sum())

    now = value(d)
    for _ in range(30):
        Z = np.linalg.inv(C - np.diag(d))
        slope = 1.0 / d - weight * np.diagonal(Z)
        move = np.linalg.solve(np.diag(1.0 / d**2) + weight * Z * Z, slope)
        if slope @ move < 1e-3 * n * weight:
            break
        step = min(1.0, 0.9 / max(float((-move / d).max()), 1e-300))
        while (new := value(d + step * move)) < now + 0.1 * step * float(slope @ move) and step > 1e-8:
            step *= 0.5
        if not new > now:
            break
        d, now = d + step * move, new
    return np.log(0.95 * d)


def first_thetas(reward: Reward) -> list[Floats]:
    """Diagonals to begin with, for each matrix; the first is certainly below it."""
    plain = np.array([certain(C, least_eigenvalue(C, np.ones(reward.n))) for C in reward.C])
    unit = np.array([least_eigenvalue(C, np.diagonal(C)) for C in reward.C])
    even = np.array([balanced(C, row) for C, row in zip(reward.C, plain)])
    return [plain, unit, even]


# -- optimisation ---------------------------------------------------------------------------------------------------


@dataclass
class Root:
    """The best diagonal found for a reward, with the bound and the point that belong to it."""

    split: DiagonalSplit
    x: Floats
    upper: float

    @property
    def total(self) -> float:
        """The bound with what rounding may take from it."""
        return self.upper + self.split.rounding


class Optimiser:
    """min over θ of max_x B(x; θ) - μ Σ_k a_k log det(C_k - D_k)."""

    def __init__(self, reward: Reward, target: float, stop: Callable[[], bool]) -> None:
        self.reward, self.target, self.stop = reward, target, stop
        self.x, self.step = middle(reward.n, reward.least, reward.most), 0.0
        self.upper, self.theta, self.best_x = np.inf, np.zeros(0), self.x

    def bound(self, theta: Floats) -> tuple[float, Floats] | None:
        """max B at θ, its bound kept if it is the best, and the slope; None if D ⪯ C fails."""
        reward = self.reward
        A = [scaled(C, row) for C, row in zip(reward.C, theta)]
        P = tuple(M - np.eye(reward.n) for M in A)
        if not all(is_definite(M) for M in P):
            return None
        u = reward.weights + reward.a @ theta
        node = DeterminantNode(reward.constant, u, reward.a, P, reward.least, reward.most)
        accuracy = max(1e-4, 0.03 * (self.upper - self.target)) if np.isfinite(self.upper + self.target) else 1e-2
        found = climb(node, self.x, self.step, 40, self.target, accuracy)
        self.x, self.step = found.x, found.step
        if found.upper < self.upper:
            self.upper, self.theta, self.best_x = found.upper, theta, found.x
        slope = np.array([a * diagonal_slope(M, found.x, reward.most) for a, M in zip(reward.a, P)])
        return found.reached, slope

    def value(self, theta: Floats, mu: float) -> tuple[float, Floats] | None:
        """With the barrier; its slope is μ a_k diag((A_k - I)⁻¹)."""
        found = self.bound(theta)
        if found is None:
            return None
        total, slope = found
        for k, (C, a) in enumerate(self.reward.pairs):
            P = scaled(C, theta[k]) - np.eye(len(C))
            root, failed = lapack().dpotrf(P, lower=1)
            if failed:
                return None
            inverse = lapack().dpotri(root, lower=1)[0]
            total -= mu * a * float(2 * np.log(np.diagonal(root)).sum() + theta[k].sum())
            slope[k] += mu * a * np.diagonal(inverse)
        return total, slope

    @property
    def done(self) -> bool:
        """Whether the root is closed, or time is up."""
        return self.upper <= self.target or self.stop()

    def run(self, thetas: list[Floats], barriers: tuple[float, ...] = BARRIERS) -> Root:
        """From the best of some diagonals on."""
        for theta in thetas:
            self.bound(theta)
            if self.done:
                break
        for mu in barriers:
            if not self.done:
                self.descend(self.theta, mu)
        split = DiagonalSplit.of(self.reward, self.theta)
        return Root(split, self.best_x, self.upper)

    def descend(self, theta: Floats, mu: float) -> None:
        """L-BFGS with steps that keep to D ⪯ C."""
        now = self.value(theta, mu)
        pairs: list[tuple[Floats, Floats]] = []
        for _ in range(ROUNDS):
            if now is None or self.done:
                return
            value, slope = now
            move = -two_loops(slope, pairs)
            move *= min(1.0, LONGEST / max(float(np.abs(move).max()), 1e-300))
            falls, step, new = float((slope * move).sum()), 1.0, None
            while step > 1e-4 and not self.done:
                new = self.value(theta + step * move, mu)
                if new is not None and new[0] <= value + 1e-4 * step * falls:
                    break
                step, new = 0.4 * step, None
            if new is None or value - new[0] < ENOUGH * max(
                abs(value - self.target), NARROW * float(self.reward.a.max())
            ):
                return
            pairs = [*pairs, (step * move, new[1] - slope)][-PAIRS:]
            theta, now = theta + step * move, new


def two_loops(slope: Floats, pairs: list[tuple[Floats, Floats]]) -> Floats:
    """The slope times L-BFGS's inverse Hessian."""
    q, kept = slope.copy(), [(s, y, float((s * y).sum())) for s, y in pairs]
    kept = [(s, y, sy) for s, y, sy in kept if sy > 1e-12 * float((y * y).sum())]
    factors = []
    for s, y, sy in reversed(kept):
        factors.append(float((s * q).sum()) / sy)
        q -= factors[-1] * y
    if kept:
        s, y, sy = kept[-1]
        q *= sy / float((y * y).sum())
    else:
        q *= 0.1 / max(float(np.abs(q).max()), 1e-300)
    for (s, y, sy), factor in zip(kept, reversed(factors)):
        q += (factor - float((y * q).sum()) / sy) * s
    return q
