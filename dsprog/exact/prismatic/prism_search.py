"""The search of the prismatic algorithm: one prism a bundle, one iteration an expansion."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dsprog.approximate.first_sets import offer_first_sets
from dsprog.core.constraints import LinearRows
from dsprog.core.lovasz import greedy_vertices
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks, as_mask
from dsprog.exact.prismatic import prism
from dsprog.exact.prismatic.records import PrismIteration
from dsprog.exact.units import Units
from dsprog.milp import Programme
from dsprog.run.driver import Bundle, Expansion, Method, remade
from dsprog.run.run import Run
from dsprog.submodular import minimize_submodular

if TYPE_CHECKING:
    from dsprog.exact.prismatic.prismatic import Prismatic

CUT_DEPTH = 1e-9  # a plane that cuts off less than this, in units of the data, is not worth a row
JUDGED = 16  # points judged between two looks at the clock: f and g may be slow
WHOLE = 1e-6  # a bound of integral data this little above a whole number is that number


class PrismSearch(Method):
    """One prism a bundle; the cutting planes, shared by all prisms, are the state.

    A bundle has ``vertices`` and ``g_hat``, ĝ there; ``lower``; the optimum ``x`` of its programme with the ``slope``
    of the cutting plane at x; and ``mask`` with ``value``, the best set that x led to. Slopes and ĝ are in units of
    the data, ``lower`` and ``value`` are not.
    """

    def __init__(self, problem: Problem, run: Run, options: Prismatic) -> None:
        super().__init__(problem, run)
        n = problem.n
        self.options, self.programmes, self.watched = options, 0, 0
        self.valid = problem.objective.is_certifiable
        self.reason = "" if self.valid else "f and g are not both known to be submodular"
        self.start_set = as_mask(options.start_vertex, n, "start_vertex")
        self.integral = all(side.knows.integral is True for side in (problem.objective.f, problem.objective.g))
        self.slopes, self.known, self.pending = np.zeros((0, n)), no_sets(n), no_sets(n)
        self.floor = -math.inf

    @cached_property
    def units(self) -> Units:
        """f and g in units of the data. A programme hides up to 10 tolerances times its largest cost, and at the
        vertices |ĝ| <= |v|_1 <= 2n.
        """
        return Units.of(self.problem, 20 * self.model.tolerance * (1 + 2 * self.problem.n))

    @cached_property
    def model(self) -> Programme:
        """The programme of all prisms, with the planes and sets so far."""
        n, (R, r) = self.problem.n, constraint_rows(self.problem.rows)
        model = prism.prism_programme(n, self.floor, self.options.bound, self.options.backend)
        model.require(np.hstack([R, np.zeros((len(r), 1))]), r)
        prism.add_cutting_planes(model, self.slopes)
        prism.add_no_goods(model, self.known)
        return model

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """A prism that was closed by more than this before its bound met the value leaves a gap."""
        return self.units.rounding

    @property
    def accepted(self) -> float:  # type: ignore[override]
        """What the solver's tolerance allows."""
        return self.run.value - self._closing(self.run.value) if math.isfinite(self.run.value) else 0.0

    # -- what the driver asks for -----------------------------------------------------------------------------------

    def root(self) -> Bundle | None:
        """The first prism, bounded over P_0 = {t >= t~}; none if there are no elements."""
        n = self.problem.n
        if n == 0:
            return None
        self._begin()
        vertices = prism.first_simplex(self.start_set)
        g_hat = self._g_hat(vertices)
        found = self._bounded(vertices[None], g_hat[None], -math.inf)
        if found is not None:
            self._watched(None, found, np.ones(len(found), dtype=bool), math.inf)
            return found[0] if found else None
        x = self.start_set.astype(float)[None]  # out of time: the start vertex stands in for the optimum
        return self._bundle(vertices, g_hat, -math.inf, x, *self._judge(x))

    def start(self) -> None:
        """The start vertex is a binary vertex of the first simplex (for n = 1 there is another), so it has a value.

        Under constraints, of which the paper has none, it may not be feasible: greedy sets and exchanges help out.
        """
        self.run.cuts = 0
        corners = prism.binary_points(prism.first_simplex(self.start_set))
        corners = corners[self.problem.feasible(corners)]
        self.run.offer(corners, self.problem.objective.values(corners), "start vertex")
        if len(self.problem.rows):
            offer_first_sets(self.problem, self.run, 1)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """One iteration: cut, subdivide, bound the parts, delete. Out of time, the prism comes back as it was."""
        lower = float(bundle["lower"][0])
        if prism.is_no_better(lower, self._closing(cutoff)):
            return self._expansion([], 0, lower)
        self._exclude_known()
        is_new = self._cut(bundle["x"][0], bundle["slope"][0])
        vertices, g_hat, corners = self._subdivided(bundle, is_new)
        children = self._bounded(vertices, g_hat, lower)
        if children is None:
            return self._expansion([bundle], 0)
        masks = np.vstack([bundle["mask"], corners, *(child["mask"] for child in children)])
        corner_values = self.problem.objective.values(corners)
        values = np.concatenate([bundle["value"], corner_values, *(child["value"] for child in children)])
        feasible = self.problem.feasible(masks)
        masks, values = masks[feasible], values[feasible]
        self.pending = masks if self.options.no_goods else no_sets(self.problem.n)
        alpha = self._closing(min(cutoff, float(values.min(initial=math.inf))))
        bounds = np.array([child["lower"][0] for child in children])
        deleted = prism.is_no_better(bounds, alpha)
        kept = [child for child, gone in zip(children, deleted) if not gone]
        self._watched(bundle, children, ~deleted, float(values.min(initial=self.run.value)))
        return self._expansion(kept, 1, float(bounds[deleted].min(initial=math.inf)), masks, values)

    def proof(self) -> str:
        """How the bound was proved, in words."""
        names = {"bilp": "binary programmes", "lp": "linear programmes"}
        return f"every prism was bounded, {self.programmes:,} {names[self.options.bound]} in this run"

    def recipe(self) -> partial[Method]:
        """From the options; :meth:`state` brings the cutting planes."""
        return partial(remade, PrismSearch, self.options)

    def counts(self) -> dict[str, int]:
        """Programmes solved."""
        return {"programmes": self.programmes}

    def credit(self, counts: dict[str, int]) -> None:
        """Add those that a worker solved."""
        self.programmes += counts.get("programmes", 0)

    def state(self) -> dict[str, np.ndarray]:
        """Cutting planes, and the sets that are excluded: those of which the driver knows."""
        return {"slopes": self.slopes, "known": self.known, "floor": np.array(self.floor)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take back cutting planes and excluded sets."""
        self.floor, self.slopes, self.known = float(state["floor"]), state["slopes"], state["known"]
        self._build_again()

    # -- the operations, on this problem ----------------------------------------------------------------------------

    def _begin(self) -> None:
        """t~ = min f; where f is not known to be submodular, one plane stands in for it, and nothing is proved."""
        if self.units.f.knows.submodular is True:
            self.floor = minimize_submodular(self.units.f).lower_bound - CUT_DEPTH
        else:
            self.slopes = greedy_vertices(self.units.f, self.start_set.astype(float)[None])
        self._build_again()

    def _build_again(self) -> None:
        """Forget the programme, which is built anew from planes and sets."""
        vars(self).pop("model", None)

    def _cut(self, x: Floats, slope: Floats) -> bool:
        """Add t >= s·x unless (x, f̂(x)) lies on P already."""
        if slope @ x <= prism.outer_height(self.slopes, self.floor, x) + CUT_DEPTH:
            return False
        self.slopes = np.vstack([self.slopes, slope])
        prism.add_cutting_planes(self.model, slope[None])
        return True

    def _exclude_known(self) -> None:
        """Exclude the sets of the iteration before, which the driver has by now."""
        if len(self.pending):
            known = np.unique(np.vstack([self.known, self.pending]), axis=0)
            new = known[~rows_in(known, self.known)]
            prism.add_no_goods(self.model, new)
            self.known, self.pending = np.vstack([self.known, new]), no_sets(self.problem.n)

    def _subdivided(self, bundle: Bundle, is_new: bool) -> tuple[Floats, Floats, Masks]:
        """Vertices of the parts, ĝ there, and the new vertex as a set if it is one that was not evaluated yet."""
        vertices, g_hat, x = bundle["vertices"][0], bundle["g_hat"][0], bundle["x"][0]
        if self.options.subdivision == "optimum":
            weights = prism.barycentric(vertices, x)
            if prism.can_subdivide_at(weights):
                at_x = self._g_hat(x[None])
                return prism.parts(vertices, weights, x), prism.parts(g_hat, weights, at_x), no_sets(len(x))
            if is_new:  # x is a vertex, where the new plane makes the bound exact
                return vertices[None], g_hat[None], no_sets(len(x))
        weights = prism.bisection(vertices)
        middle = weights @ vertices
        halves = prism.parts(vertices, weights, middle), prism.parts(g_hat, weights, self._g_hat(middle[None]))
        return *halves, prism.binary_points(middle[None])

    def _bounded(self, vertices: Floats, g_hat: Floats, parent: float) -> list[Bundle] | None:
        """The parts with their bounds, never below their parent's, without the empty ones; None if time is over."""
        found = []
        for corners, heights in zip(vertices, g_hat):
            bound = prism.prism_bound(self.model, corners, heights, self.run.seconds_left)
            self.programmes += 1
            if bound.status == "limit":
                return None
            if not prism.is_empty(bound):
                found.append((corners, heights, max(parent, self._value(bound.beta)), bound.x))
        if not found:
            return []
        points, judged = np.array([x for *_, x in found]), []
        for first in range(0, len(points), JUDGED):
            if self.run.seconds_left <= 0:
                return None
            judged.append(self._judge(points[first : first + JUDGED]))
        slopes, masks, values = (np.concatenate(parts) for parts in zip(*judged))
        return [
            self._bundle(corners, heights, lower, x[None], slopes[k : k + 1], masks[k : k + 1], values[k : k + 1])
            for k, (corners, heights, lower, x) in enumerate(found)
            if x is not None
        ]

    def _judge(self, x: Floats) -> tuple[Floats, Masks, Floats]:
        """For every row of x: the cutting plane there, and the best set that it leads to with its value.

        A binary x is a set. A fractional one has a chain of sets, of whose values f̂(x) - ĝ(x) is an average.
        """
        rows = np.arange(len(x))
        sets = (x > 0.5)[:, None, :] if self.options.bound == "bilp" else prism.chain_sets(x)
        values = self.problem.objective.values(sets.reshape(-1, sets.shape[2])).reshape(sets.shape[:2])
        best = values.argmin(axis=1)
        return prism.cutting_planes(self.units.f, x), sets[rows, best], values[rows, best]

    def _watched(self, bundle: Bundle | None, parts: list[Bundle], is_open: Masks, value: float) -> None:
        """Tell the user's function about an iteration."""
        if self.options.watch is None:
            return
        n = self.problem.n
        self.watched += 1
        record = PrismIteration(
            number=self.watched - 1,
            vertices=None if bundle is None else bundle["vertices"][0],
            optimum=None if bundle is None else bundle["x"][0],
            parts=np.concatenate([np.zeros((0, n + 1, n)), *(part["vertices"] for part in parts)]),
            bounds=np.concatenate([np.zeros(0), *(part["lower"] for part in parts)]),
            open=np.asarray(is_open, dtype=bool),
            sets=np.concatenate([no_sets(n), *(part["mask"] for part in parts)]),
            values=np.concatenate([np.zeros(0), *(part["value"] for part in parts)]),
            value=value,
            planes=len(self.slopes),
        )
        self.options.watch(record)

    # -- small things -----------------------------------------------------------------------------------------------

    def _g_hat(self, points: Floats) -> Floats:
        return np.asarray((greedy_vertices(self.units.g, points) * points).sum(axis=1))

    def _value(self, beta: float) -> float:
        """A bound in the values of the objective; that of integral data is rounded up."""
        lower = self.units.offset + self.units.unit * beta
        return float(np.ceil(lower - WHOLE)) if self.integral else lower

    def _closing(self, alpha: float) -> float:
        """A prism with a bound from here on is closed."""
        if math.isinf(alpha):
            return alpha
        size = max(abs(alpha - self.units.offset), self.units.unit)
        return alpha - max(self.options.tolerance * size, self.units.rounding)

    def _bundle(
        self, vertices: Floats, g_hat: Floats, lower: float, x: Floats, slope: Floats, mask: Masks, value: Floats
    ) -> Bundle:
        prisms = {"vertices": vertices[None], "g_hat": g_hat[None], "lower": np.array([lower])}
        return {**prisms, "x": x, "slope": slope, "mask": mask, "value": value}

    def _expansion(
        self,
        bundles: list[Bundle],
        nodes: int,
        closed: float = math.inf,
        masks: Masks | None = None,
        values: Floats | None = None,
    ) -> Expansion:
        sets = no_sets(self.problem.n) if masks is None else masks
        numbers = np.zeros(0) if values is None else values
        return Expansion(bundles, nodes, sets, numbers, closed, self.options.bound, len(self.slopes))


def no_sets(n: int) -> Masks:
    """A batch of no sets."""
    return np.zeros((0, n), dtype=bool)


def rows_in(rows: Masks, others: Masks) -> Masks:
    """Whether each row is among the others."""
    seen = {row.tobytes() for row in others}
    return np.array([row.tobytes() in seen for row in rows], dtype=bool)


def constraint_rows(rows: LinearRows) -> tuple[Floats, Floats]:
    """Constraints lo <= A x <= hi as rows R x >= r."""
    lo, hi = rows.relaxed
    R, r = np.vstack([rows.A, -rows.A]), np.concatenate([lo, -hi])
    return R[np.isfinite(r)], r[np.isfinite(r)]
