"""Programmes in SCIP; needs ``pip install dsprog[scip]``."""

from __future__ import annotations

import math

import numpy as np

from dsprog.milp.programme import Optimum, Programme, ProgrammeFailed


class ScipProgramme(Programme):
    """SCIP, built anew each time; needs ``pip install dsprog[scip]``."""

    tolerance = 1e-9

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""
        from pyscipopt import Model, quicksum

        model = Model()
        model.hideOutput()
        model.setParams({"limits/gap": 0.0, "limits/absgap": 0.0, "numerics/feastol": self.tolerance})
        if not math.isinf(time_limit):
            model.setParam("limits/time", max(time_limit, 0.0))
        costs, lower, upper = self._boxes()
        kinds = ["I" if whole else "C" for whole in self.integer] + ["C"] * len(self.d)
        limits = zip(kinds, lower.tolist(), upper.tolist(), costs.tolist())
        y = [
            model.addVar(vtype=kind, lb=None if math.isinf(a) else a, ub=None if math.isinf(z) else z, obj=cost)
            for kind, a, z, cost in limits
        ]
        for row, a, z in zip(*self._stacked()):
            total = quicksum(float(row[j]) * y[j] for j in np.flatnonzero(row))
            model.addCons(total == float(a) if a == z else total >= float(a))
        model.optimize()
        status = model.getStatus()
        if status == "optimal":
            return self._optimum([model.getVal(v) for v in y], model.getObjVal(), model.getDualbound())
        if status == "infeasible":
            return Optimum("infeasible", math.inf)
        if status == "timelimit":
            return Optimum("limit", -math.inf)
        if status == "userinterrupt":
            raise KeyboardInterrupt
        raise ProgrammeFailed(f"SCIP could not treat a programme: {status}")
