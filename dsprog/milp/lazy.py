"""Sparse programmes in SCIP whose rows come as they are needed: branch and cut with lazy cuts.

``separate`` is asked about every point that is integral where it must be: it adds the rows that the point violates to
the programme and says whether there were any; the rows go on to SCIP, which never starts again. The dual bound is that
of the rows so far, so it is valid at every limit; as in :mod:`dsprog.milp.sparse`, what tolerances may hide is taken
off.

Since SCIP does not see the rows to come, all that it might conclude from their absence is turned off: reductions by
duality (also through locks), symmetry, restarts and components.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from dsprog.core.validation import Floats
from dsprog.milp.programme import ProgrammeFailed
from dsprog.milp.sparse import TOLERANCE, Outcome, SparseProgramme

Separate = Callable[[Floats], bool]
MEETINGS = 10  # after which an integral point is let through, its rows being there up to tolerances
SETTINGS: dict[str, Any] = {
    "limits/gap": 0.0,
    "limits/absgap": 0.0,
    "numerics/feastol": TOLERANCE,
    "numerics/dualfeastol": TOLERANCE,
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
    "misc/usesymmetry": 0,
    "presolving/maxrestarts": 0,
    "constraints/components/maxprerounds": 0,
}


class LazyModel:
    """A programme in SCIP, and how much of it SCIP has."""

    def __init__(self, programme: SparseProgramme, separate: Separate) -> None:
        from pyscipopt import Model

        self.programme, self.separate = programme, separate
        self.variables: list[Any] = []
        self.rows = 0
        self.meetings: Counter[bytes] = Counter()
        self.scip = Model()
        self.scip.hideOutput()
        self.scip.setParams(SETTINGS)
        self.send()
        self.scip.addObjoffset(programme.constant)
        self.scip.includeConshdlr(  # asked after integrality
            handler(self), "lazy", "rows as they are needed", chckpriority=-10, enfopriority=-10, needscons=False
        )

    def send(self) -> bool:
        """Give SCIP the columns and rows that it does not have; say whether there were rows."""
        from pyscipopt import quicksum

        p, first = self.programme, self.rows
        for j in range(len(self.variables), len(p.cost)):
            kind, limits = "I" if p.integer[j] else "C", (finite(p.lower[j]), finite(p.upper[j]))
            self.variables.append(self.scip.addVar(f"z{j}", kind, *limits, obj=float(p.cost[j])))
        for i in range(first, len(p.row_lower)):
            total = quicksum(float(a) * self.variables[j] for j, a in zip(p.indices[i], p.values[i]))
            lower, upper = p.row_lower[i], p.row_upper[i]
            if math.isfinite(lower):
                self.scip.addCons(total == float(lower) if lower == upper else total >= float(lower))
            if math.isfinite(upper) and lower != upper:
                self.scip.addCons(total <= float(upper))
        self.rows = len(p.row_lower)
        return self.rows > first

    def point(self, solution: Any = None) -> Floats:
        """The values of all columns in a solution, or now; columns that SCIP does not have yet are 0."""
        z = np.zeros(len(self.programme.cost))
        z[: len(self.variables)] = [self.scip.getSolVal(solution, variable) for variable in self.variables]
        return z

    def violates(self, solution: Any = None) -> bool:
        """Whether a point violates rows to come; they are added to the programme."""
        z = self.point(solution)
        return self.separate(z) and self.meetings[self.name(z)] < MEETINGS

    def enforce(self) -> bool:
        """Whether the point of the present node is cut off, by rows that SCIP gets now."""
        if not self.violates():
            return False
        self.meetings[self.name(self.point())] += 1
        return self.send()

    def name(self, z: Floats) -> bytes:
        """What tells integral points apart."""
        return z[np.flatnonzero(self.programme.integer)].round().tobytes()


def handler(lazy: LazyModel) -> Any:
    """SCIP's way to ask."""
    from pyscipopt import SCIP_RESULT, Conshdlr

    class Lazy(Conshdlr):
        def conscheck(self, constraints: Any, solution: Any, *args: Any) -> dict[str, Any]:
            return {"result": SCIP_RESULT.INFEASIBLE if lazy.violates(solution) else SCIP_RESULT.FEASIBLE}

        def consenfolp(self, constraints: Any, n_useful: int, infeasible: bool) -> dict[str, Any]:
            return {"result": SCIP_RESULT.CONSADDED if lazy.enforce() else SCIP_RESULT.FEASIBLE}

        def consenfops(self, *args: Any) -> dict[str, Any]:
            return {"result": SCIP_RESULT.CONSADDED if lazy.enforce() else SCIP_RESULT.FEASIBLE}

        def conslock(self, constraint: Any, lock: Any, positive: int, negative: int) -> None:
            for variable in lazy.variables:
                self.model.addVarLocks(variable, positive + negative, positive + negative)

    return Lazy()


def solve_lazily(
    programme: SparseProgramme, separate: Separate, time_limit: float = math.inf, cutoff: float = math.inf
) -> Outcome:
    """Solve with integrality and all rows that are needed; points of value ``cutoff`` and more need not be found."""
    from pyscipopt import SCIP_PARAMSETTING

    lazy = LazyModel(programme, separate)
    lazy.scip.setHeuristics(SCIP_PARAMSETTING.OFF)  # good points are known beforehand
    if math.isfinite(time_limit):
        lazy.scip.setParam("limits/time", max(0.0, time_limit))
    if math.isfinite(cutoff):
        lazy.scip.setObjlimit(cutoff)
    lazy.scip.optimize()
    status, found = lazy.scip.getStatus(), lazy.scip.getNSols() > 0
    words = {"optimal": "optimal", "infeasible": "infeasible", "timelimit": "limit", "userinterrupt": "interrupted"}
    if status not in words:
        raise ProgrammeFailed(f"SCIP could not treat a programme: {status}")
    if words[status] == "infeasible":
        return Outcome("infeasible", cutoff - programme.rounding if math.isfinite(cutoff) else math.inf)
    bound = lazy.scip.getDualbound()
    bound = -math.inf if lazy.scip.isInfinity(-bound) else min(bound, cutoff) - programme.rounding
    return Outcome(words[status], bound, lazy.point(lazy.scip.getBestSol()) if found else None)


def finite(limit: float) -> float | None:
    """A limit as SCIP takes it: None where there is none."""
    return float(limit) if math.isfinite(limit) else None
