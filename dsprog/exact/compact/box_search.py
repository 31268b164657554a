"""Spatial branch and bound on a compact model: a node is a box, an interval for the argument of each curve.

A node is looked at in two stages. First the relaxation, with violated rows added while that pays: it costs
milliseconds and leads to halving boxes as long as most of the distance to the cutoff comes from chords. Then the
programme with integrality: its optimum is a set, where rows are added, or the box halved, until the bound reaches the
cutoff. A set that comes back all the same, as happens within the tolerances of HiGHS, is excluded by a row of its own,
since its value is known: the search is finite.
"""

from __future__ import annotations

import math
import os
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dsprog.approximate.first_sets import offer_first_sets
from dsprog.approximate.local_search import descend
from dsprog.approximate.ssp import SSP
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.exact.compact.ascent import RootAscent
from dsprog.exact.compact.maxima import maxima_of
from dsprog.exact.compact.model import Model
from dsprog.exact.compact.rounding import filled
from dsprog.exact.floor import floor
from dsprog.milp.lazy import solve_lazily
from dsprog.milp.sparse import Outcome
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

if TYPE_CHECKING:
    from dsprog.exact.compact.compact_model import CompactModel

RELAXED, WHOLE = 0, 1  # the stages of a node
ROUNDS = 30  # of added rows for one relaxation
LARGEST_ROUNDING = 1e-6  # in units of the data: what a proof may leave to tolerances
CHORDS = 0.3  # a box is halved if its chords make up this part of the distance to the cutoff


PROOF = "compact model: {names} dual bounds of a mixed-integer programme{boxes}, tolerances taken off"
NAMES = {"highs": "HiGHS", "scip": "HiGHS and SCIP"}


class BoxSearch(Method):
    """The mathematics of a run of :class:`dsprog.CompactModel`."""

    def __init__(self, problem: Problem, run: Run, options: CompactModel) -> None:
        super().__init__(problem, run)
        self.options = options
        self.integral = problem.objective.knows.integral is True
        self.met: set[bytes] = set()
        self.seen: list[Masks] = []  # sets of points that SCIP asked about

    @cached_property
    def thresholds(self) -> RootAscent | None:
        """For costs less best benefits: the bound that comes before any programme, and what it decides."""
        maxima = self.problem.derived(maxima_of)
        return None if maxima is None else RootAscent(maxima, self.problem, self.run).go()

    @cached_property
    def model(self) -> Model:
        """The programme, in units of the data, on the elements that thresholds have not decided."""
        unit, thresholds = size_of_data(self.problem, self.run.value), self.thresholds
        if thresholds is None:
            return build(self.problem, unit)
        model = build(self.problem, unit, thresholds.I, thresholds.U)
        model.separate_near(thresholds.walk.average)
        return model

    @property
    def decided(self) -> float:
        """A bound of all sets that the model leaves out."""
        return math.inf if self.thresholds is None else self.thresholds.decided

    @cached_property
    def tolerance(self) -> float:
        """How close to the best value the bound of a box must come, never less than what rounding may hide."""
        return max(self.options.tolerance * self.model.unit, 4 * self.model.unit * self.model.programme.rounding)

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """A box is closed by its bound and the tolerance; one that is large for the data leaves a gap."""
        return min(2 * self.tolerance, LARGEST_ROUNDING * self.model.unit)

    @property
    def valid(self) -> bool:  # type: ignore[override]
        """Whether every term entered by rows that hold."""
        return not self.model.unproved

    @property
    def reason(self) -> str:  # type: ignore[override]
        """Why not."""
        return self.model.unproved

    def root(self) -> Bundle:
        """The whole range of every argument; good sets come first, since the size of values is that of the data."""
        if self.thresholds is None:
            self._find_sets()
        curves = self.model.curves
        a, b = np.array([[c.lowest for c in curves]]), np.array([[c.highest for c in curves]])
        lower = floor(self.problem) if self.thresholds is None else self.thresholds.lower
        return {"lower": np.array([lower]), "a": a, "b": b, "stage": np.array([RELAXED])}

    def _find_sets(self) -> None:
        """Local search, and where it can be SSP with a tenth of the time."""
        problem, run = self.problem, self.run
        offer_first_sets(problem, run, self.options.starts)
        if len(problem.rows) or not problem.objective.is_certifiable:
            return
        trial = run.trial(min(1.0, 0.1 * run.seconds_left))
        SSP(restarts=3).solve(problem, trial)
        run.offer(*trial.best_sets(), "SSP")

    def proof(self) -> str:
        """What closed the boxes."""
        boxes = " on boxes of its curves" if self.model.curves else ""
        return PROOF.format(names=NAMES[self.options.backend], boxes=boxes)

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """One stage of one box; an interruption inside is left to the monitor, so that its bound is reported."""
        self.model.set_intervals(bundle["a"][0], bundle["b"][0])
        stage = self._relax if bundle["stage"][0] == RELAXED else self._solve
        return stage(bundle, cutoff - self.tolerance)

    # -- the two stages ---------------------------------------------------------------------------------------------

    def _relax(self, node: Bundle, cutoff: float) -> Expansion:
        lower, z = float(node["lower"][0]), np.zeros(0)
        for _ in range(ROUNDS):
            outcome = self.model.programme.relaxed(self.run.seconds_left)
            before, lower = lower, self._raised(lower, outcome)
            if lower >= cutoff:
                return self._result([], lower)
            if outcome.z is None:
                return self._result([with_lower(node, lower)])
            z = outcome.z
            aim = max(self.tolerance, 1e-3 * (cutoff - lower)) if math.isfinite(cutoff) else self.tolerance
            if not self.model.separate(z, aim) or (math.isfinite(before) and lower - before < 0.1 * aim):
                break
        masks, values = self._rounded(z)
        cutoff = min(cutoff, float(values.min(initial=np.inf)) - self.tolerance)
        if lower >= cutoff:
            return self._result([], lower, masks, values)
        if self._chord_gaps(node, z).sum() > CHORDS * (cutoff - lower):
            return self._result(self._halved(node, lower, z), masks=masks, values=values)
        return self._result([with_lower(node, lower, WHOLE)], masks=masks, values=values)

    def _solve(self, node: Bundle, cutoff: float) -> Expansion:
        outcome = self._solved((cutoff + self.tolerance) / self.model.unit, float(node["lower"][0]))
        lower = self._raised(float(node["lower"][0]), outcome)
        masks = self._sets_of(outcome)
        values = self.problem.objective.values(masks)
        cutoff = min(cutoff, float(values.min(initial=np.inf)) - self.tolerance)
        if lower >= cutoff:
            return self._result([], lower, masks, values)
        if outcome.status != "optimal" or outcome.z is None:
            return self._result([with_lower(node, lower)], masks=masks, values=values)
        self.model.separate(outcome.z, self.tolerance)
        self._exclude_if_met_before(outcome.z[self.model.x] > 0.5)
        if self._chord_gaps(node, outcome.z).sum() > 0.1 * self.tolerance:
            return self._result(self._halved(node, lower, outcome.z), masks=masks, values=values)
        return self._result([with_lower(node, lower)], masks=masks, values=values)

    def _solved(self, cutoff: float, lower: float) -> Outcome:
        """The programme with integrality: rows come after each solve of HiGHS, or while SCIP searches."""

        def watch(bound: float) -> bool:
            proved = max(lower, self.model.unit * bound) if math.isfinite(bound) else lower
            return self.run.pause(0, "compact model", lambda: (1, min(proved, self.decided)))

        if self.options.backend == "highs":
            return self.model.programme.solve(self.run.seconds_left, cutoff, watch)
        return solve_lazily(self.model.programme, self._separate, self.run.seconds_left, cutoff)

    def _separate(self, z: Floats) -> bool:
        self.seen.append(z[self.model.x] > 0.5)
        return self.model.separate(z, self.tolerance)

    def _exclude_if_met_before(self, mask: Masks) -> None:
        """Its value, if it is feasible, was offered when it was met first."""
        if mask.tobytes() in self.met:
            self.model.exclude(mask)
        self.met.add(mask.tobytes())

    # -- helpers ----------------------------------------------------------------------------------------------------

    def _raised(self, lower: float, outcome: Outcome) -> float:
        self.run.interrupted |= outcome.status == "interrupted"
        bound = self.model.unit * outcome.bound
        if self.integral and math.isfinite(bound):
            bound = math.ceil(bound - 1e-6)
        return max(lower, bound)

    def _sets_of(self, outcome: Outcome) -> Masks:
        """The feasible ones of the sets that HiGHS or SCIP found."""
        found = [*self.seen, *([] if outcome.z is None else [outcome.z[self.model.x] > 0.5])]
        self.seen = []
        masks = np.array(found, dtype=bool).reshape(-1, self.problem.n)
        return masks[self.problem.feasible(masks)]

    def _rounded(self, z: Floats) -> tuple[Masks, Floats]:
        """Sets near a fractional point: the prefixes of its elements in falling order, and what the rows leave of the
        elements that it has a part of; the best two improved.
        """
        x = z[self.model.x]
        order = np.argsort(-x, kind="stable")
        sizes = np.unique(np.append(np.linspace(0, len(x), min(len(x) + 1, 33)).astype(int), (x >= 0.5).sum()))
        masks = np.zeros((len(sizes), len(x)), dtype=bool)
        for row, size in zip(masks, sizes):
            row[order[:size]] = True
        if len(self.problem.rows):
            near = [filled(self.problem.rows, order, x > part) for part in (1e-6, 0.5 - 1e-6)]
            masks = np.vstack([masks, *near])
        masks = masks[self.problem.feasible(masks)]
        best = np.argsort(self.problem.objective.values(masks), kind="stable")[:2]
        feasible = self.problem.feasible if len(self.problem.rows) else None
        return descend(self.problem.objective, masks[best], self.problem.slack, feasible)

    def _chord_gaps(self, node: Bundle, z: Floats) -> Floats:
        """What each chord takes off the objective at a point."""
        cost = self.model.programme.cost
        ends = zip(self.model.curves, node["a"][0], node["b"][0])
        return self.model.unit * np.array([cost[c.value] * c.gap(z, a, b) for c, a, b in ends])

    def _halved(self, node: Bundle, lower: float, z: Floats) -> list[Bundle]:
        worst = int(self._chord_gaps(node, z).argmax())
        curve, children = self.model.curves[worst], []
        for left, right in curve.halves(z[curve.argument], node["a"][0, worst], node["b"][0, worst]):
            child = with_lower(node, lower, RELAXED)
            child["a"][0, worst], child["b"][0, worst] = left, right
            children.append(child)
        return children

    def _result(
        self, bundles: list[Bundle], closed: float = np.inf, masks: Masks | None = None, values: Floats | None = None
    ) -> Expansion:
        masks = np.zeros((0, self.problem.n), dtype=bool) if masks is None else masks
        values = np.zeros(0) if values is None else values
        closed = min(closed, self.decided)
        return Expansion(bundles, 1, masks, values, closed, "compact model", len(self.model.programme.row_lower))


def with_lower(node: Bundle, lower: float, stage: int | None = None) -> Bundle:
    """A copy of a node with a better bound, and in another stage if one is given."""
    changed = {key: array.copy() for key, array in node.items()}
    changed["lower"][0] = lower
    if stage is not None:
        changed["stage"][0] = stage
    return changed


def size_of_data(problem: Problem, value: float) -> float:
    """The larger of |value - v(∅)| and the largest marginal of f and g at ∅; 1 where all are 0. Constants count not."""
    sides = problem.objective.f, problem.objective.g
    largest = max(
        float(np.abs(side.marginals(np.zeros((1, problem.n), dtype=bool))).max(initial=0.0)) for side in sides
    )
    return max(largest, abs(value - problem.objective([])) if math.isfinite(value) else 0.0) or 1.0


def export(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write the compact model of a problem as an ``.mps`` or ``.lp`` file.

    Its optimum is that of the problem where every term has columns that are exact; curves are replaced by their chords
    and cuts are those of the start, so that in general it is a relaxation.
    """
    model = build(problem, 1.0)
    model.set_intervals(*(np.array([getattr(curve, end) for curve in model.curves]) for end in ("lowest", "highest")))
    model.programme.write(path)


def build(problem: Problem, unit: float, I: Masks | None = None, U: Masks | None = None) -> Model:
    """The model of a problem on the sets between I and U: every term, entered on the side of its sign."""
    model = Model(problem.n, problem.rows, unit, I, U)
    model.minimise(model.enter(problem.objective, model.elements, 1.0))
    return model
