"""The primal-dual interior point method that lowers the semidefinite bound.

The primal problem is max ⟨C, X⟩ with X_ii = 1, a_k'Xa_k - s_k = 1, s >= 0 and X positive semidefinite; the dual one is
:mod:`dsprog.exact.quadratic.semidefinite_bound`. On the central path XZ = μI and s_k γ_k = μ. With B = [I, A],
W = Z⁻¹ and d = (Δy, -Δγ), ΔZ = B Diag(d) B' and ΔX = μW - X - sym(W ΔZ X) give the Newton system

    ((B'WB)∘(B'XB) + diag(0, s/γ)) d = (μ diag W - 1, μ a'Wa - 1 - μ/γ),

less 1 - θ times what X and s miss of the primal rows where only a share θ of that is to be restored. The dual point
stays feasible, so that every point on the way is a bound; X need not be feasible before the end. Cuts are separated
from X while μ is large (a floor keeps it so, by the distance to the target): then new cuts do not shorten the steps,
and slack ones are dropped, so that the system stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint, inverse, is_positive_definite
from dsprog.exact.quadratic.semidefinite_cuts import (
    newton_kernel,
    violated_pentagons,
    violated_triangles,
)
from dsprog.exact.quadratic.semidefinite_falls import estimated_falls
from dsprog.run.blas import blas, lapack

CENTRING = ((1.8, 0.15), (1.4, 0.3), (0.8, 0.6))  # μ is this share of the gap's mean if both steps sum to more

CORRECTED = (0.25, 0.9)  # lengths of a step between which a second-order correction is worth a solve

RESTORED = 0.25  # of what X misses is asked for in a step at least, and as much as the last step went

FLAT = 0.1  # of the distance to the target: a floor below this, and no violated cut, end the method

SLACK = 0.5  # that a new cut starts with

INNER, LEAST = 0.3, 0.1  # of an X to begin at: how far it is moved inside, and the least slack of a cut there


@dataclass(frozen=True)
class SemidefiniteOutcome:
    """Where the method stopped: the point, its bound on s'Cs, X, and the work in steps and operations.

    ``falls`` are estimates of what the bound falls by where a vertex joins vertex 0 with sign 1 and -1, (2, N).
    """

    point: SemidefinitePoint
    bound: float
    X: Floats
    falls: Floats
    iterations: int
    flops: float


@dataclass(frozen=True)
class InteriorPoint:
    """The choices of the method.

    Parameters
    ----------
    added, pentagons : int
        Triangles and pentagons added at a time, at most. Twenty pentagons save a third to a half of the nodes and about
        a tenth of the time of g05_80.3, g05_100.4 and be120.8.1.
    violation : float
        Cuts are added where ½(a'Xa - 1) is below this; where there are none, below half of it.
    spread : int
        New triangles in which an edge may be: cuts that overlap shorten the steps and say the same.
    drop, dropped : float
        Slack beyond which a cut is dropped, and what dropping may cost, in units of the gap.
    rounds : float
        Rounds of cuts after which the bound must have closed, by extrapolation, to go on.
    floor : float
        The gap that μ keeps while the target is out of reach, in units of the distance to the target; it is halved
        where X violates nothing.
    near : float
        Cuts are exchanged as soon as the gap is below this many floors: an X that is far from optimal shows nearly the
        same violated cuts, two steps sooner.
    pushed : float
        What y is raised by in all when cuts are added, in units of the distance to the target: from a point that lies
        deeper inside, steps are longer, and what was raised must be lowered again.
    most : int
        Newton steps at most.
    """

    added: int = 60
    pentagons: int = 20
    violation: float = -0.2
    spread: int = 1
    drop: float = 0.1
    dropped: float = 0.3
    rounds: float = 4
    floor: float = 0.8
    near: float = 3.0
    pushed: float = 0.1
    most: int = 200

    def run(
        self,
        point: SemidefinitePoint,
        target: float,
        stop: Callable[[], bool] = lambda: False,
        X: Floats | None = None,
    ) -> SemidefiniteOutcome:
        """Lower the bound of a feasible point until it is at most ``target``, out of reach, or ``stop`` says so.

        ``X`` is near where the primal iterate begins: ones on its diagonal, and it may violate cuts.
        """
        N = len(point.y)
        if not point.C.any():
            return SemidefiniteOutcome(point, point.bound(), np.eye(N), np.zeros((2, N)), 0, 0.0)
        return CentralPath(self, point, target, stop, X).outcome()


class Move(NamedTuple):
    """A direction, and how far it leads into the cones."""

    dy: Floats
    dgamma: Floats
    dslack: Floats
    dZ: Floats
    dX: Floats
    primal: float
    dual: float


class CentralPath:
    """One run of the method."""

    def __init__(
        self,
        options: InteriorPoint,
        point: SemidefinitePoint,
        target: float,
        stop: Callable[[], bool],
        X: Floats | None = None,
    ) -> None:
        self.options, self.target, self.stop = options, target, stop
        self.floor, self.violation = options.floor, options.violation
        self.C, self.y, self.cuts = point.C, point.y.copy(), point.cuts
        if np.isfinite(target):  # a little inside, so that the first steps are not short
            self.y += 0.1 * max(0.0, point.bound() - target) / len(self.y)
        self.iterations, self.flops, self.lengths = 0, 0.0, (1.0, 1.0)
        self.single, self.room, self.single_room = True, np.empty(0), np.empty(0, dtype=np.float32)
        Z, shift = self.point().Z(), 1e-9 * float(np.abs(self.y).max())
        W = inverse(Z)
        while W is None:  # rounding on the way from the parent
            self.y, shift = self.y + shift, 4 * shift
            Z = self.point().Z()
            W = inverse(Z)
        self.Z, self.W = Z, W
        mu = len(self.y) / float(np.trace(W))  # X = μW has the trace of a matrix ss'
        self.X, self.cuts.slack = mu * W, np.clip(mu / self.cuts.gamma, 1e-3, 2.0)
        if X is not None:
            self.begin_near(X)

    def begin_near(self, X: Floats) -> None:
        """Begin at an X with ones on its diagonal, moved towards W, scaled to have them, by INNER."""
        unit = 1.0 / np.sqrt(np.diag(self.W))
        mixed = (1.0 - INNER) * X + INNER * unit[:, None] * self.W * unit
        if is_positive_definite(mixed):
            self.X, self.cuts.slack = mixed, np.maximum(self.cuts.gram(mixed) - 1.0, LEAST)

    def point(self) -> SemidefinitePoint:
        """Where it stands."""
        return SemidefinitePoint(self.C, self.y, self.cuts)

    @property
    def gap(self) -> float:
        """⟨X, Z⟩ + s·γ: what the bound can still fall without new cuts."""
        return float(np.vdot(self.X, self.Z) + self.cuts.slack @ self.cuts.gamma)

    @property
    def size(self) -> int:
        """The order of the Newton system."""
        return len(self.y) + len(self.cuts)

    def outcome(self) -> SemidefiniteOutcome:
        """Step; exchange cuts when this relaxation cannot reach the target; give up if that stalls."""
        point = self.point()
        bound = point.bound()
        history: list[float] = []
        while bound > self.target and self.iterations < self.options.most and not self.stop():
            if not self.step(bound):
                break
            self.iterations += 1
            now = self.point().bound()
            if now < bound:
                point, bound = self.point(), now
            gap = self.gap
            if self.centred(gap, now):
                history.append(bound)  # the best one: a point that was just pushed inside is no loss
                if self.stalled(history):
                    break
                if not self.exchange_cuts(gap / self.size):  # nothing is violated: closer to the optimum
                    self.floor, self.violation = 0.5 * self.floor, 0.5 * self.violation
                    if self.floor < FLAT:
                        break
        falls = self.falls() if bound > self.target else np.zeros((2, len(self.y)))
        return SemidefiniteOutcome(point, bound, self.X, falls, self.iterations, self.flops)

    def falls(self) -> Floats:
        """Of the bound, where a vertex is fixed here; all the same if the Newton system has no solution."""
        solve = self.newton_system(self.cuts.slack / self.cuts.gamma)
        if solve is None:
            return np.ones((2, len(self.y)))
        return estimated_falls(self.X, self.W, self.cuts, solve)

    def centred(self, gap: float, bound: float) -> bool:
        """Whether X is good enough to separate from, and new cuts are needed to reach the target."""
        feasible = float(np.abs(np.diag(self.X) - 1.0).max()) < 1e-2
        close = gap < self.options.near * self.floor * (bound - self.target)
        return feasible and min(self.lengths) > 0.3 and close

    def stalled(self, history: list[float]) -> bool:
        """Whether the last rounds, extrapolated, leave the target out of reach."""
        if len(history) < 4:
            return False
        gain = (history[-4] - history[-1]) / 3
        return history[-1] - self.target > self.options.rounds * gain

    def step(self, bound: float) -> bool:
        """One Newton step; whether there was one."""
        N, cuts, W = len(self.y), self.cuts, self.W
        mu = self.next_mu(bound)
        over = cuts.slack / cuts.gamma
        rhs = np.concatenate([mu * np.diag(W) - 1.0, mu * cuts.gram(W) - 1.0 - mu / cuts.gamma])
        # New cuts are violated. To ask for all of it at once would block the way at a tenth, and centring with it.
        rhs -= (1.0 - max(RESTORED, self.lengths[0])) * self.residual()
        solve = self.newton_system(over)
        if solve is None:
            return False
        self.flops += self.size**3 / 3 + 10.0 * N**3
        d = solve(rhs)
        if not np.isfinite(d).all():
            return False
        move = self.move(mu, d, over)
        if CORRECTED[0] < min(move.primal, move.dual) < CORRECTED[1]:
            # ΔZΔX, which the linear system left out, put in from the first move
            error = W @ move.dZ @ move.dX
            error = 0.5 * (error + error.T)
            left = move.dgamma * move.dslack / cuts.gamma
            rhs -= np.concatenate([np.diag(error), cuts.gram(error) - left])
            corrected = solve(rhs)
            if np.isfinite(corrected).all():  # single precision may overflow where the first direction did not
                second = self.move(mu, corrected, over, error, left)
                if second.primal + second.dual > move.primal + move.dual:
                    move = second
        return self.moved(move)

    def residual(self) -> Floats:
        """By how much X and the slacks miss the rows X_ii = 1 and a'Xa - s = 1."""
        X, cuts = self.X, self.cuts
        return np.concatenate([np.diag(X) - 1.0, cuts.gram(X) - 1.0 - cuts.slack])

    def newton_system(self, over: Floats) -> Callable[[Floats], Floats] | None:
        """What solves the Newton system, or None if it is not positive definite.

        The system is most of the work, and single precision takes half of it. An inexact direction leaves nothing
        behind but diag X a little off 1, which the next step corrects; no bound rests on it. Once that fails, double
        precision.
        """
        entries, cuts = self.size**2, self.cuts
        if len(self.room) < entries:  # the same memory at each step: new pages cost as much as filling them
            self.room, self.single_room = np.empty(2 * entries), np.empty(2 * entries, dtype=np.float32)
        M = self.room[:entries].reshape(self.size, self.size)
        newton_kernel(self.W, self.X, cuts.vertices, cuts.signs, cuts.triangles, over, M)
        if self.single:
            unit = len(self.y) / float(np.trace(self.W))  # of y: the system has its inverse, so no data overflow
            rounded = self.single_room[:entries].reshape(self.size, self.size)
            # What is not finite is seen in the factor; the half of M that it does not read may hold anything.
            with np.errstate(over="ignore", invalid="ignore"):
                np.multiply(M, unit, out=rounded, casting="same_kind")
            factor, info = lapack().spotrf(rounded.T, lower=0, overwrite_a=1, clean=0)
            if not info and np.isfinite(factor.diagonal()).all():
                return lambda rhs: unit * substituted(factor, rhs).astype(float)
            self.single = False
        exact, info = lapack().dpotrf(M.T, lower=0, overwrite_a=1, clean=0)
        return None if info else lambda rhs: np.asarray(lapack().dpotrs(exact, rhs, lower=0)[0])

    def move(self, mu: float, d: Floats, over: Floats, error: Floats | float = 0.0, left: Floats | float = 0.0) -> Move:
        """The direction that a solution of the system means, and how far it can be followed."""
        N, cuts, X, W = len(self.y), self.cuts, self.X, self.W
        dgamma = -d[N:]
        dslack = mu / cuts.gamma - over * dgamma - cuts.slack - left
        dZ = np.diag(d[:N])
        cuts.add_to(dZ, d[N:])
        product = W @ dZ @ X
        dX = mu * W - X - 0.5 * (product + product.T) - error
        primal = within_cone(X, dX, min(1.0, ratio(cuts.slack, dslack)))
        dual = within_cone(self.Z, dZ, min(1.0, ratio(cuts.gamma, dgamma)))
        return Move(d[:N], dgamma, dslack, dZ, dX, primal, dual)

    def moved(self, move: Move) -> bool:
        """Follow a direction; whether the matrix of the new point can be inverted."""
        primal, dual, cuts = move.primal, move.dual, self.cuts
        y = self.y + dual * move.dy
        changed = cuts.with_weights(cuts.gamma + dual * move.dgamma, cuts.slack + primal * move.dslack)
        Z = SemidefinitePoint(self.C, y, changed).Z()
        W = inverse(Z)
        if W is None:
            return False
        self.X = self.X + primal * move.dX
        self.y, self.cuts, self.Z, self.W, self.lengths = y, changed, Z, W, (primal, dual)
        return True

    def next_mu(self, bound: float) -> float:
        """A share of the gap, and not so small that new cuts would meet a point at the boundary."""
        both = sum(self.lengths)
        share = next((share for least, share in CENTRING if both > least), 1.0)
        floor = self.floor * (bound - self.target) if np.isfinite(self.target) else 0.0
        return max(share * self.gap, floor) / self.size

    def exchange_cuts(self, mu: float) -> bool:
        """Drop slack cuts, add violated ones with small weights; False if nothing is violated."""
        options = self.options
        new = violated_triangles(self.X, options.added, self.violation, options.spread)
        if options.pentagons:
            new = new.extended(violated_pentagons(self.X, self.cuts, options.pentagons, self.violation))
        if len(new) == 0:
            return False
        before = self.cuts.take(self.worth_keeping(mu))
        new.slack = np.full(len(new), SLACK)
        new.gamma = np.full(len(new), mu)
        if np.isfinite(self.target):
            self.y = self.y + options.pushed * (self.point().bound() - self.target) / len(self.y)
        while True:
            self.cuts = before.extended(new)
            Z = self.point().Z()
            W = inverse(Z)
            if W is not None:
                break
            new.gamma = new.gamma * 0.3
        self.Z, self.W = Z, W
        return True

    def worth_keeping(self, mu: float) -> Ints:
        """All but slack cuts whose weights together are small: dropping a cut costs its γ."""
        gamma = self.cuts.gamma
        order = np.argsort(gamma)
        allowed = self.options.dropped * (len(self.y) + 0.4 * len(gamma)) * mu
        slack = np.flatnonzero(self.cuts.slack[order] > self.options.drop)
        dropped = order[slack[np.cumsum(gamma[order[slack]]) <= allowed]]
        kept = np.ones(len(gamma), dtype=bool)
        kept[dropped] = False
        return np.flatnonzero(kept)


def substituted(factor: Floats, rhs: Floats) -> Floats:
    """(U'U)⁻¹ rhs in single precision; for one right side two triangular solves take a fifth of the time of spotrs."""
    strsv = blas().strsv
    both = strsv(factor, strsv(factor, rhs, trans=1)) if rhs.ndim == 1 else lapack().spotrs(factor, rhs, lower=0)[0]
    return np.asarray(both)


def within_cone(matrix: Floats, change: Floats, most: float) -> float:
    """A step of at most ``most`` after which the matrix is still positive definite."""
    if is_positive_definite(matrix + most * change):
        return most
    outside, inside = most, 0.7 * most
    while not is_positive_definite(matrix + inside * change):
        outside, inside = inside, 0.7 * inside
        if inside < 1e-12:
            return 0.0
    middle = 0.5 * (inside + outside)
    if is_positive_definite(matrix + middle * change):
        inside = middle
    return 0.95 * inside


def ratio(value: Floats, change: Floats) -> float:
    """95 % of the way to where an entry of value + t change reaches 0; infinite if none does."""
    falling = change < 0
    return 0.95 * float((value[falling] / -change[falling]).min(initial=np.inf))
