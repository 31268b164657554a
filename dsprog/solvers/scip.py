"""Branch and cut in SCIP with lazy cuts: an independent referee, and what a user of a MIP solver would write.

    min t - u   subject to   t >= f(∅) + s·x       for every greedy vertex s of f,
                             u <= g(Y) + c_Y(x)    for the two modular upper bounds of g at every Y.

Both families describe f and g exactly at binary points; SCIP gets the cuts that its solutions violate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.checkpoint import Checkpoint
from dsprog.lovasz import greedy_vertices, modular_upper_bound
from dsprog.monitor import Monitor, Verdict
from dsprog.problem import Problem
from dsprog.solvers.solver import Solver


@dataclass(frozen=True)
class Scip(Solver):
    """Branch and cut with lazy cuts in SCIP; needs ``pip install dsprog[scip]``.

    Examples
    --------
    >>> import dsprog as ds
    >>> solver = ds.Scip()  # doctest: +SKIP
    """

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """Build the model, let SCIP run, and take its solution and dual bound."""
        model, x = build_model(problem)
        if monitor.limits.time_limit is not None:
            model.setParam("limits/time", max(0.0, monitor.limits.time_limit - monitor.seconds))
        if monitor.limits.node_limit is not None:
            model.setParam("limits/nodes", monitor.limits.node_limit)
        model.setParam("limits/gap", monitor.limits.gap)
        model.optimize()
        monitor.nodes = int(model.getNNodes())
        if model.getNSols():
            best = model.getBestSol()
            mask = np.array([[model.getSolVal(best, variable) > 0.5 for variable in x]], dtype=bool)
            monitor.offer(mask.reshape(1, problem.n), problem.objective.values(mask.reshape(1, problem.n)), "SCIP")
        return judge(problem, monitor, model)


def judge(problem: Problem, monitor: Monitor, model: Any) -> Verdict:
    """SCIP's status in our words; its bounds are proved only if f and g are submodular, and up to its tolerance."""
    status, proof = model.getStatus(), "SCIP branch and cut, within its feasibility tolerance"
    if status == "infeasible":
        return Verdict("infeasible")
    if not problem.objective.is_certifiable:
        return Verdict("finished", reason="f or g is not known to be submodular")
    monitor.raise_bound(min(model.getDualbound(), monitor.value))
    words = {"optimal": "optimal", "gaplimit": "gap", "timelimit": "time_limit", "nodelimit": "node_limit"}
    return Verdict(words.get(status, "interrupted"), proof)


def build_model(problem: Problem) -> tuple[Any, list[Any]]:
    """The model without cuts, and a handler that adds them."""
    try:
        from pyscipopt import Conshdlr, Model, quicksum
    except ImportError as error:
        raise ImportError("SCIP is not installed: pip install dsprog[scip]") from error
    f, g, n = problem.objective.f, problem.objective.g, problem.n
    model = Model()
    model.hideOutput()
    model.setParam("misc/allowstrongdualreds", False)
    x = [model.addVar(vtype="B", name=f"x{j}") for j in range(n)]
    t, u = (model.addVar(lb=None, ub=None, name=name) for name in "tu")
    model.setObjective(t - u)
    for row, lo, hi in zip(problem.rows.A, problem.rows.lo, problem.rows.hi):
        activity = quicksum(float(a) * v for a, v in zip(row, x))
        if np.isfinite(lo):
            model.addCons(activity >= float(lo))
        if np.isfinite(hi):
            model.addCons(activity <= float(hi))

    def cuts(point: np.ndarray) -> list[tuple[Any, float, np.ndarray]]:
        """(variable, constant, slopes) of the tightest cuts at a point: t above, u below constant + slopes·x."""
        s = greedy_vertices(f, point[None, :])[0]
        rounded = point > 0.5
        uppers = [modular_upper_bound(g, rounded, kind) for kind in ("grow", "shrink")]
        return [(t, f([]), s), *((u, upper.constant, upper.weights) for upper in uppers)]

    class Cuts(Conshdlr):
        def _violated(self, solution: Any, add: bool) -> bool:
            point = np.array([self.model.getSolVal(solution, v) for v in x])
            found = False
            for variable, constant, slopes in cuts(point):
                gap = constant + slopes @ point - self.model.getSolVal(solution, variable)
                sign = 1.0 if variable is t else -1.0
                if sign * gap > 1e-6 * max(1.0, abs(constant)):
                    found = True
                    if add:
                        expression = constant + quicksum(float(c) * v for c, v in zip(slopes, x))
                        self.model.addCons(variable >= expression if variable is t else variable <= expression)
            return found

        def conscheck(self, constraints: Any, solution: Any, *args: Any) -> dict[str, Any]:
            return {"result": results.INFEASIBLE if self._violated(solution, add=False) else results.FEASIBLE}

        def consenfolp(self, constraints: Any, n_useful: int, infeasible: bool) -> dict[str, Any]:
            return {"result": results.CONSADDED if self._violated(None, add=True) else results.FEASIBLE}

        def consenfops(self, *args: Any) -> dict[str, Any]:
            return {"result": results.CONSADDED if self._violated(None, add=True) else results.FEASIBLE}

        def conslock(self, constraint: Any, lock: Any, positive: int, negative: int) -> None:
            for variable in (*x, t, u):
                self.model.addVarLocks(variable, positive + negative, positive + negative)

    from pyscipopt import SCIP_RESULT as results

    for point in (np.zeros(n), np.ones(n), np.full(n, 0.5)):  # so that t and u are bounded from the start
        for variable, constant, slopes in cuts(point):
            expression = constant + quicksum(float(c) * v for c, v in zip(slopes, x))
            model.addCons(variable >= expression if variable is t else variable <= expression)
    handler = Cuts()
    model.includeConshdlr(
        handler, "cuts", "Lovász and Nemhauser-Wolsey cuts", chckpriority=-10, enfopriority=-10, needscons=False
    )
    return model, x
