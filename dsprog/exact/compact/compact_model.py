"""The compact model: the objective as one mixed-integer programme, for large problems with structure.

Interval branch and bound needs only values of f and g and reaches dozens of dense elements. Where the terms of an
objective are sums of small parts (coverage, groups, pairs, clients), these parts as columns of a programme give bounds
that stay tight for hundreds of elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.approximate.local_search import offer_local_optima
from dsprog.approximate.ssp import SSP
from dsprog.core.problem import Problem
from dsprog.core.validation import as_number
from dsprog.exact.compact.box_search import BoxSearch
from dsprog.exact.compact.model import Model
from dsprog.functions.mutual_information import joined
from dsprog.milp import check_backend
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.driver import branch_and_bound
from dsprog.run.run import Limits, Monitor, Verdict
from dsprog.run.solver import SearchSolver

PROOF = "compact model: {names} dual bounds of a mixed-integer programme{boxes}, tolerances taken off"
NAMES = {"highs": "HiGHS", "scip": "HiGHS and SCIP"}


@dataclass(frozen=True)
class CompactModel(SearchSolver):
    """Each term as columns, rows and cuts of a programme in HiGHS; curves are branched on.

    Coverage, facility location, cuts and pairwise terms have columns of their own; concave functions of an argument
    have tangents where they are subtracted, chords and branching on the argument where they are added. Terms without a
    model enter by their Lovász cuts (added) and Nemhauser–Wolsey cuts (subtracted).

    Parameters
    ----------
    tolerance : float
        A box is closed if its bound is this close to the best value, relative to the larger of that value and the
        largest marginal of f and g. What is reported as lower bound counts such a box with its own bound.
    starts : int
        Local searches before the programme.
    backend : {"highs", "scip"}
        What solves a box with integrality: HiGHS, again after each round of cuts, or SCIP, which takes the same cuts
        as lazy constraints while it searches (``pip install dsprog[scip]``). Relaxations are left to HiGHS.

    Examples
    --------
    >>> import dsprog as ds
    >>> words = ds.Coverage([[1, 0, 1], [1, 1, 0], [0, 1, 0]])
    >>> result = ds.minimize(ds.ConcaveOf(words) - ds.Modular([0.9, 0.2, 0.8]), ds.CompactModel())
    >>> result.S, result.certified
    ((0, 2), True)
    """

    keeps_checkpoints: ClassVar[bool] = True
    reduces: ClassVar[bool | None] = True

    tolerance: float = 1e-7
    starts: int = 20
    backend: str = "highs"

    def __post_init__(self) -> None:
        if not as_number(self.tolerance, "tolerance") >= 0:
            raise ValueError(f"tolerance must be at least 0, got {self.tolerance}")
        check_backend(self.backend, tuple(NAMES))

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Search the boxes of the programme."""
        return branch_and_bound(self.method(problem, monitor), monitor, checkpoint)

    def method(self, problem: Problem, monitor: Monitor) -> BoxSearch:
        """Start from local optima and build the programme."""
        self._start(problem, monitor)
        unit = size_of_data(problem, monitor.value)
        model = build(problem, unit)
        boxes = " on boxes of its curves" if model.curves else ""
        proof = PROOF.format(names=NAMES[self.backend], boxes=boxes)
        return BoxSearch(problem, model, monitor, self.tolerance * unit, proof, lazy=self.backend == "scip")

    def _start(self, problem: Problem, monitor: Monitor) -> None:
        """Local search, and where it can be SSP with a tenth of the time."""
        offer_local_optima(problem, monitor, self.starts)
        if len(problem.rows) or not problem.objective.is_certifiable:
            return
        limit = monitor.limits.time_limit
        few_seconds = Limits(time_limit=1.0 if limit is None else min(1.0, 0.1 * limit))
        inner = Monitor(problem, few_seconds, monitor.seed)
        inner.mask, inner.value = monitor.mask, monitor.value
        SSP(restarts=3).solve(problem, inner)
        monitor.offer(*inner.best_sets(), "SSP")


def size_of_data(problem: Problem, value: float) -> float:
    """The larger of |value| and the largest marginal of f and g at the empty set; 1 where all are 0."""
    sides = problem.objective.f, problem.objective.g
    largest = max(float(np.abs(side.marginals(np.zeros((1, problem.n)))).max(initial=0.0)) for side in sides)
    return max(largest, abs(value) if math.isfinite(value) else 0.0) or 1.0


def build(problem: Problem, unit: float) -> Model:
    """The model of a problem: every term, entered on the side of its sign."""
    model = Model(problem.n, problem.rows, unit)
    model.minimise(model.enter(joined(problem.objective), model.x, 1.0))
    return model
