"""Programmes in HiGHS, changed in place."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dsprog.milp import highs
from dsprog.milp.by_scipy import ScipyProgramme
from dsprog.milp.programme import Optimum, Programme


class HighsProgramme(Programme):
    """HiGHS, changed in place.

    Presolve and primal heuristics are off: on programmes of a few dozen columns they take longer than the search, and
    presolve does not always end (:class:`ScipyProgramme`).
    """

    tolerance = 1e-9
    options: ClassVar[dict[str, Any]] = {
        "output_flag": False,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "small_matrix_value": 1e-12,
        "presolve": "off",
        "mip_detect_symmetry": False,
        "mip_heuristic_effort": 0.0,
        "mip_heuristic_run_feasibility_jump": False,
        "mip_heuristic_run_rins": False,
        "mip_heuristic_run_rens": False,
        "mip_heuristic_run_root_reduced_cost": False,
    }

    def __init__(self, *arrays: Any) -> None:
        super().__init__(*arrays)
        self._model: Any = None
        self._rows = 0  # of R that the model has
        self._exchanged = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}

    def exchange(self, W: ArrayLike, d: ArrayLike) -> None:
        """Put other columns λ in place of those that are there."""
        super().exchange(W, d)
        self._exchanged = True

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero; the basis of one linear programme starts the next.

        A programme that HiGHS gives up, as happens from a bad basis, is built afresh, and then left to scipy.
        """
        found = self._attempt(time_limit)
        if found is None:
            self._model = None
            found = self._attempt(time_limit)
        return self._by_scipy(time_limit) if found is None else found

    def _attempt(self, time_limit: float) -> Optimum | None:
        model, is_mip = self._current_model(), bool(self.integer.any())
        if is_mip:
            highs.run(model, time_limit)
        else:
            model.run()  # milliseconds; its time limit would count all runs of the model together
        status = highs.status(model)
        if status == "optimal":
            info = model.getInfo()
            value = float(info.objective_function_value)
            bound = float(info.mip_dual_bound) if is_mip else value
            return self._optimum(model.getSolution().col_value, value, bound)
        if status == "infeasible":
            return Optimum("infeasible", math.inf)
        return Optimum("limit", -math.inf) if status == "limit" else None

    def _by_scipy(self, time_limit: float) -> Optimum:
        """The same programme with the release and the wider tolerances of HiGHS that scipy has."""
        other = ScipyProgramme(self.c, self.lower, self.upper, self.integer, self.L, self.b, self.threads)
        other.require(self.R, self.r)
        other.exchange(self.W, self.d)
        return other.solve(time_limit)

    def _current_model(self) -> Any:
        if self._model is None:
            self._model, self._rows, self._exchanged = self._built(), len(self.r), False
            return self._model
        if len(self.r) > self._rows:
            R, r = self.R[self._rows :], self.r[self._rows :]
            highs.add(self._model, highs.Rows.dense(R, r, np.full(len(r), np.inf)))
            self._rows = len(self.r)
        if self._exchanged:
            self._exchange_in_place()
        return self._model

    def _exchange_in_place(self) -> None:
        model, first, more = self._model, len(self.c), len(self.d)
        basis, had = model.getBasis(), model.getNumCol() - first
        model.deleteCols(had, np.arange(first, first + had, dtype=np.int32))
        columns = highs.Rows.dense(self.W.T, np.zeros(more), np.full(more, np.inf))
        model.addCols(more, self.d, columns.lower, columns.upper, *columns.entries)
        if had == more and not self.integer.any():
            model.setBasis(basis)
        self._exchanged = False

    def _built(self) -> Any:
        rows = highs.Rows.dense(*self._stacked())
        integer = np.append(self.integer, np.zeros(len(self.d), dtype=bool))
        return highs.built({**self.options, "threads": self.threads}, *self._boxes(), rows, integer)
