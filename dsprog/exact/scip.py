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
from dsprog.milp.lazy import LazyModel
from dsprog.milp.sparse import SparseProgramme
from dsprog.run.needs import Need, installed
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver


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
        """Build the programme, let SCIP run, and take its solution and dual bound."""
        cuts = Cuts(problem)
        lazy, limits = LazyModel(cuts.programme, cuts.separate), run.limits
        if limits.time_limit is not None:
            lazy.scip.setParam("limits/time", run.seconds_left)
        if limits.node_limit is not None:
            lazy.scip.setParam("limits/nodes", limits.node_limit)
        lazy.scip.setParam("limits/gap", limits.gap)
        lazy.scip.optimize()
        run.nodes = int(lazy.scip.getNNodes())
        if lazy.scip.getNSols():
            mask = lazy.point(lazy.scip.getBestSol())[None, cuts.x] > 0.5
            run.offer(mask, problem.objective.values(mask), "SCIP")
        return judge(problem, run, lazy.scip)


def judge(problem: Problem, run: Run, model: Any) -> Verdict:
    """SCIP's status in our words; its bounds are proved only if f and g are submodular, and up to its tolerance."""
    status, proof = model.getStatus(), "SCIP branch and cut, within its feasibility tolerance"
    if status == "infeasible":
        return Verdict("infeasible")
    if not problem.objective.is_certifiable:
        return Verdict("finished", reason="f or g is not known to be submodular")
    run.raise_bound(min(model.getDualbound(), run.value))
    words = {"optimal": "optimal", "gaplimit": "gap", "timelimit": "time_limit", "nodelimit": "node_limit"}
    return Verdict(words.get(status, "interrupted"), proof)


class Cuts:
    """The programme with a few cuts, so that t and u are bounded from the start, and what adds the others."""

    def __init__(self, problem: Problem) -> None:
        self.f, self.g, n = problem.objective.f, problem.objective.g, problem.n
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
            if (excess if column == self.t else -excess) > 1e-6 * max(1.0, abs(constant)):
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
