"""Branch and cut in SCIP with lazy cuts: an independent referee, and what a user of a MIP solver would write.

    min t - u   subject to   t >= f(∅) + s·x       for every greedy vertex s of f,
                             u <= g(Y) + c_Y(x)    for the two modular upper bounds of g at every Y.

Both families describe f and g exactly at binary points; SCIP gets the cuts that its solutions violate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.core.lovasz import greedy_vertices, modular_upper_bound
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats
from dsprog.exact.units import Units
from dsprog.milp.lazy import LazyModel
from dsprog.milp.sparse import SparseProgramme
from dsprog.run.needs import Need, installed
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

ROUNDING = 1e-7  # in units of the data and for each element: what SCIP's tolerances of 1e-9 may hide in a bound
CUT_DEPTH = 1e-8  # a cut that is violated by less is not added


@dataclass(frozen=True)
class Scip(Solver):
    """Branch and cut with lazy cuts in SCIP; needs ``pip install dsprog[scip]``.

    Examples
    --------
    >>> import dsprog as ds
    >>> solver = ds.Scip()  # doctest: +SKIP
    """

    def needs(self) -> tuple[Need, ...]:
        """SCIP."""
        return (installed("pyscipopt", "dsprog[scip]"),)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """Build the programme in units of the data, let SCIP run, and take its solution and dual bound."""
        units = Units.of(problem, ROUNDING * (1 + problem.n))
        cuts = Cuts(problem, units)
        lazy, limits = LazyModel(cuts.programme, cuts.separate), run.limits
        if limits.time_limit is not None:
            lazy.scip.setParam("limits/time", run.seconds_left)
        if limits.node_limit is not None:
            lazy.scip.setParam("limits/nodes", limits.node_limit)
        lazy.scip.optimize()
        run.nodes = int(lazy.scip.getNNodes())
        if lazy.scip.getNSols():
            mask = lazy.point(lazy.scip.getBestSol())[None, cuts.x] > 0.5
            mask = mask[problem.feasible(mask)]
            run.offer(mask, problem.objective.values(mask), "SCIP")
        return judge(problem, run, lazy.scip, units)


def judge(problem: Problem, run: Run, model: Any, units: Units) -> Verdict:
    """SCIP's status in our words; its bounds are proved only if f and g are submodular, less what tolerances hide."""
    status, proof = model.getStatus(), "SCIP branch and cut, what its tolerances may hide taken off"
    if status == "infeasible":
        return Verdict("infeasible")
    if not problem.objective.is_certifiable:
        return Verdict("finished", reason="f or g is not known to be submodular")
    dual = model.getDualbound()
    if not model.isInfinity(abs(dual)):
        run.raise_bound(min(units.offset + units.unit * dual - units.rounding, run.value))
    words = {"optimal": "optimal", "timelimit": "time_limit", "nodelimit": "node_limit"}
    if status == "optimal" and not run.value - run.lower_bound <= 3 * units.rounding + run.tolerance:
        return Verdict("gap", proof)
    return Verdict(words.get(status, "interrupted"), proof)


class Cuts:
    """The programme with a few cuts, so that t and u are bounded from the start, and what adds the others."""

    def __init__(self, problem: Problem, units: Units) -> None:
        self.f, self.g, n = units.f, units.g, problem.n
        self.programme = SparseProgramme()
        self.x = self.programme.columns(np.zeros(n), 0.0, 1.0, integer=True)
        self.t, self.u = (int(j) for j in self.programme.columns([1.0, -1.0], -np.inf, np.inf))
        for row, lo, hi in zip(problem.rows.A, *problem.rows.relaxed):
            self.programme.row(self.x, row, lo, hi)
        for start in (0.0, 1.0, 0.5):
            for column, constant, slopes in self._at(np.full(n, start)):
                self._add(column, constant, slopes)

    def separate(self, z: Floats) -> bool:
        """Add the cuts that a point violates; say whether there are any."""
        found = False
        for column, constant, slopes in self._at(z[self.x]):
            excess = constant + slopes @ z[self.x] - z[column]
            if (excess if column == self.t else -excess) > CUT_DEPTH:
                self._add(column, constant, slopes)
                found = True
        return found

    def _at(self, point: Floats) -> list[tuple[int, float, Floats]]:
        """(column, constant, slopes) of the tightest cuts at a point: t above, u below constant + slopes·x."""
        s = greedy_vertices(self.f, point[None, :])[0]
        uppers = [modular_upper_bound(self.g, point > 0.5, kind) for kind in ("grow", "shrink")]
        return [(self.t, self.f([]), s), *((self.u, upper.constant, upper.weights) for upper in uppers)]

    def _add(self, column: int, constant: float, slopes: Floats) -> None:
        limits = (constant, np.inf) if column == self.t else (-np.inf, constant)
        self.programme.row(np.append(self.x, column), np.append(-slopes, 1.0), *limits)
