"""Programmes by ``scipy.optimize.milp``, where HiGHS cannot be imported or has given up."""

from __future__ import annotations

import math

import numpy as np

from dsprog.milp.programme import Optimum, Programme, ProgrammeFailed


class ScipyProgramme(Programme):
    """``scipy.optimize.milp``, built anew each time and with scipy's fixed tolerances.

    Presolve is off: that of HiGHS 1.12 to 1.15 never ends, or finds nothing feasible, where binary columns are
    multiples of each other through the weights, as the vertices of prisms make them.
    """

    tolerance = 1e-7

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        costs, lower, upper = self._boxes()
        limit = {} if math.isinf(time_limit) else {"time_limit": time_limit}
        found = milp(
            costs,
            integrality=np.append(self.integer, np.zeros(len(self.d))),
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(*self._stacked()),
            options={"mip_rel_gap": 0.0, "presolve": False, **limit},
        )
        if found.status == 0:
            bound = found.fun if found.mip_dual_bound is None else found.mip_dual_bound
            return self._optimum(found.x, float(found.fun), float(bound))
        if found.status == 2:
            return Optimum("infeasible", math.inf)
        if found.status == 1:
            return Optimum("limit", -math.inf)
        raise ProgrammeFailed(f"no solver could treat a programme: {found.message}")
