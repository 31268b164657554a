"""Branch and bound for dense quadratic functions: the semidefinite bound, one variable fixed at a time.

A node fixes some variables, that is, merges their vertices into vertex 0 with a sign. If P maps the signs of a child
to those of its parent, Z' = P'ZP is positive semidefinite with Z, and P'Diag(y)P is diagonal: the child starts feasible
and at the parent's bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_cuts import OddCuts
from dsprog.exact.quadratic.semidefinite_falls import best_fall
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint, SemidefiniteOutcome
from dsprog.exact.quadratic.settle import settled
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

STEP = 4e-10  # seconds of one step of the interior point method, times the cube of the order


@dataclass(frozen=True)
class Merged:
    """The problem of a node: C and k of the free vertices, 0 first, and where they were."""

    C: Floats
    k: float
    vertices: Ints

    @staticmethod
    def of(C: Floats, k: float, signs: Ints) -> Merged:
        """Merge every vertex with a sign (0: free) into vertex 0, whose sign is 1; E = k - s'Cs stays."""
        free = np.flatnonzero(signs == 0)
        fixed = signs.astype(float)
        small = np.zeros((len(free) + 1, len(free) + 1))
        small[1:, 1:] = C[np.ix_(free, free)]
        small[0, 1:] = small[1:, 0] = C[free] @ fixed
        return Merged(small, k - float(fixed @ C @ fixed), np.append(0, free))


class SemidefiniteSearch(Method):
    """Best-first search over partial labellings.

    A bundle is one node: ``labels`` (1, n) with -1 for free variables, the parent's dual point: ``y`` over all
    vertices, ``cuts`` (1, m, 5) with their ``signs`` and ``gamma``; and, but for the root, its primal one: ``X`` over
    all vertices, in single precision, its diagonal scaled to 1.
    """

    name = "the semidefinite bound with triangle and pentagon cuts"
    settles: bool = True  # whether one optimum is enough, so that persistency may fix variables

    def __init__(
        self,
        problem: Problem,
        run: Run,
        form: QuadraticForm,
        steps: Steps,
        rng: np.random.Generator,
        interior_point: InteriorPoint,
    ) -> None:
        super().__init__(problem, run)
        self.form, self.steps, self.rng, self.interior_point = form, steps, rng, interior_point
        # all nodes inherit the cuts of the root, where more patience pays
        self.at_root = replace(interior_point, rounds=5 * interior_point.rounds)

    @cached_property
    def spins(self) -> tuple[Floats, float]:
        """C and k with E = k - s'Cs."""
        return self.form.spin_matrix()

    @property
    def C(self) -> Floats:
        """Of the whole form."""
        return self.spins[0]

    @property
    def k(self) -> float:
        """Of the whole form."""
        return self.spins[1]

    def root(self) -> Bundle:
        """Nothing fixed, a diagonally dominant dual point."""
        point = SemidefinitePoint.diagonally_dominant(self.C)
        return self.bundle(np.full(self.form.n, -1), self.k - point.bound(), point.y, point.cuts)

    def bundle(self, labels: Ints, lower: float, y: Floats, cuts: OddCuts) -> Bundle:
        """A node as arrays; y and cuts over all vertices."""
        rows = {"labels": labels, "y": y, "cuts": cuts.vertices, "signs": cuts.signs, "gamma": cuts.gamma}
        return {"lower": np.array([lower]), **{name: array[None] for name, array in rows.items()}}

    def proof(self) -> str:
        """In words."""
        return f"branch and bound with {self.name}"

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Bound one node; close it or fix one more variable both ways."""
        labels, parent = bundle["labels"][0].copy(), float(bundle["lower"][0])
        if self.settles:
            labels = settled(self.form, labels)
        if (labels >= 0).all():
            mask = (labels == 1)[None]
            value = self.form.values(mask)
            return Expansion([], 1, mask, value, max(parent, float(value[0])), "semidefinite")
        if not self.in_time(int((labels < 0).sum())):
            return self.searched(bundle)
        signs = np.concatenate([[1], np.where(labels < 0, 0, 1 - 2 * labels)])
        merged = Merged.of(self.C, self.k, signs)
        target = merged.k - self.steps.needed(cutoff)
        point = self.inherited(bundle, merged, signs)
        whole = bool((bundle["labels"] < 0).all())
        path = self.at_root if whole else self.interior_point
        outcome = path.run(point, target, self.stop, inherited_X(bundle, merged))
        lower = self.steps.rounded(max(parent, merged.k - outcome.bound))
        masks = self.rounded(labels, merged.vertices, outcome.X)
        values = self.form.values(masks)
        if lower >= cutoff:
            return Expansion([], 1, masks, values, lower, "semidefinite")
        if self.stop():
            return Expansion([{**bundle, "lower": np.array([lower])}], 1, masks, values, source="semidefinite")
        implied = outcome.point.implied(outcome.X, target)
        ruled_out = implied != 0
        labels[merged.vertices[ruled_out] - 1] = implied[ruled_out] < 0
        children = self.branch(labels, lower, merged, outcome, outcome.bound - target)
        closed = self.steps.rounded(max(lower, cutoff)) if ruled_out.any() else np.inf
        return Expansion(children, 1, masks, values, closed, "semidefinite")

    def stop(self) -> bool:
        """Whether the run wants to stop."""
        return self.run.stop_reason() is not None

    def in_time(self, free: int) -> bool:
        """Whether the time left is enough for a step with so many free variables."""
        return STEP * float(free) ** 3 <= self.run.seconds_left

    def searched(self, bundle: Bundle) -> Expansion:
        """A tabu search instead of a bound, for which no time is left; the node stays as it is."""
        masks, values = tabu_search(self.form, random_starts(self.form.n, 2, self.rng)[1:], self.rng)
        return Expansion([bundle], 0, masks, values, source="tabu search")

    def inherited(self, bundle: Bundle, merged: Merged, signs: Ints) -> SemidefinitePoint:
        """The parent's dual point for the merged problem, a little inside."""
        y = bundle["y"][0]
        # P'Diag(y)P sums y over the vertices merged into 0; what P'CP has at (0, 0) has moved from C to k.
        local = y[merged.vertices]
        merged_y = float(y[signs != 0].sum()) - (self.k - merged.k)
        local = np.append(merged_y, local[1:])
        gamma = bundle["gamma"][0]
        cuts = OddCuts(bundle["cuts"][0], bundle["signs"][0], gamma, np.zeros(len(gamma)))
        cuts, local = merge_cuts(cuts, signs, merged, local)
        return SemidefinitePoint(merged.C, local, cuts)

    def branch(
        self, labels: Ints, lower: float, merged: Merged, outcome: SemidefiniteOutcome, distance: float
    ) -> list[Bundle]:
        """Fix the variable with the best falls of the bound, which is at this distance from its target."""
        point, vertices = outcome.point, merged.vertices
        y = np.zeros(self.form.n + 1)
        y[vertices] = point.y
        y[0] += self.k - merged.k
        cuts = OddCuts(vertices[point.cuts.vertices], point.cuts.signs, point.cuts.gamma, point.cuts.slack)
        if (labels >= 0).all():
            return [self.bundle(labels, lower, y, cuts)]
        unit = 1.0 / np.sqrt(np.diag(outcome.X))
        X = np.zeros((len(y), len(y)), dtype=np.float32)
        X[np.ix_(vertices, vertices)] = unit[:, None] * outcome.X * unit
        open_ones = 1 + np.flatnonzero(labels[vertices[1:] - 1] < 0)
        chosen = int(vertices[best_fall(outcome.falls, open_ones, distance)]) - 1
        children = []
        for label in (0, 1):
            child = labels.copy()
            child[chosen] = label
            children.append({**self.bundle(child, lower, y, cuts), "X": X[None]})
        return children

    def rounded(self, labels: Ints, vertices: Ints, X: Floats) -> Masks:
        """Sets from X: the signs of its first row and of random combinations of rows, improved by tabu search."""
        weights = np.vstack([np.eye(1, len(X)), self.rng.normal(size=(3, len(X)))])
        values = weights @ X
        values *= np.where(values[:, :1] < 0, -1.0, 1.0)
        masks = np.repeat((labels == 1)[None], len(values), axis=0)
        masks[:, vertices[1:] - 1] = values[:, 1:] < 0
        return tabu_search(self.form, masks, self.rng, steps=2 * self.form.n)[0]


def inherited_X(bundle: Bundle, merged: Merged) -> Floats | None:
    """The parent's X without the vertices that are fixed: the rest is near the optimum, but for those that follow."""
    if "X" not in bundle:
        return None
    return np.asarray(bundle["X"][0][np.ix_(merged.vertices, merged.vertices)], dtype=float)


def merge_cuts(cuts: OddCuts, fixed: Ints, merged: Merged, y: Floats) -> tuple[OddCuts, Floats]:
    """Cuts after vertices were merged into 0: the entries there are summed, so that a's and its parity stay.

    One with a single entry ±1 left moves its γ from the cut to y without loss; one with an entry beyond all others
    together is implied and dropped. Both leave Z positive semidefinite.
    """
    N = len(merged.vertices)
    where = np.zeros(len(fixed), dtype=np.int64)
    where[merged.vertices] = np.arange(N)
    turned = cuts.signs * np.where(fixed[cuts.vertices] != 0, fixed[cuts.vertices], 1)
    place = np.arange(len(cuts))[:, None] * N + where[cuts.vertices]
    A = np.bincount(place.ravel(), turned.ravel(), len(cuts) * N).reshape(-1, N)
    entries, largest = np.abs(A).sum(axis=1), np.abs(A).max(axis=1, initial=0.0)
    single = entries == 1
    y = y.copy()
    np.subtract.at(y, np.nonzero(A[single])[1], cuts.gamma[single])
    useful = 2 * largest < entries
    return OddCuts.dense(A[useful], cuts.gamma[useful]), y
