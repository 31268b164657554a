"""Large sparse programmes with binary columns in HiGHS: their relaxation, kept warm, and the whole, to a gap of zero.

    min  c·z + constant    such that    row_lower <= A z <= row_upper,    lower <= z <= upper,    some of z integer.

Columns, rows and their limits may change between solves. What comes back is the dual bound, lowered by what the
tolerances of HiGHS may hide, and it is valid at every limit. Both kinds of solve run in a thread that Ctrl-C cancels;
what was proved until then is kept.

>>> p = SparseProgramme()
>>> z = p.columns([-1.0, -1.0], 0.0, 1.0, integer=True)
>>> _ = p.row(z, [2.0, 2.0], upper=3.0)
>>> round(p.relaxed().bound, 6), round(p.solve().bound, 6)
(-1.5, -1.0)
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.validation import Floats, Ints
from dsprog.milp import highs
from dsprog.milp.programme import ProgrammeFailed

TOLERANCE = 1e-9
OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": TOLERANCE,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
    "mip_detect_symmetry": False,  # good sets are known beforehand, and the programmes are many
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_feasibility_jump": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
}


@dataclass(frozen=True)
class Outcome:
    """``bound`` holds for all feasible points, whatever stopped HiGHS; ``z`` is the best point found, if there is one.

    ``status`` is "optimal", "infeasible" (below the cutoff, if there was one), "limit" or "interrupted".
    """

    status: str
    bound: float
    z: Floats | None = None


class SparseProgramme:
    """Columns and rows that grow, and HiGHS to solve them."""

    def __init__(self) -> None:
        self.cost, self.lower, self.upper, self.integer = np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
        self.indices: list[Ints] = []
        self.values: list[Floats] = []
        self.row_lower: list[float] = []
        self.row_upper: list[float] = []
        self.constant = 0.0
        self._relaxation: Any = None
        self._rows_there = 0

    # -- building ---------------------------------------------------------------------------------------------------

    def columns(self, cost: ArrayLike, lower: ArrayLike, upper: ArrayLike, integer: bool = False) -> Ints:
        """Add a column for each entry of ``cost``; returns their numbers."""
        cost = np.atleast_1d(np.asarray(cost, dtype=float))
        first, count = len(self.cost), len(cost)
        self.cost = np.append(self.cost, cost)
        self.lower = np.append(self.lower, np.broadcast_to(np.asarray(lower, dtype=float), count))
        self.upper = np.append(self.upper, np.broadcast_to(np.asarray(upper, dtype=float), count))
        self.integer = np.append(self.integer, np.full(count, integer))
        self._relaxation = None
        return np.arange(first, first + count)

    def row(self, columns: ArrayLike, values: ArrayLike, lower: float = -math.inf, upper: float = math.inf) -> int:
        """Add lower <= Σ values·z[columns] <= upper, entries of the same column added up; returns its number."""
        places, where = np.unique(np.asarray(columns, dtype=np.int64), return_inverse=True)
        entries = np.bincount(where, np.asarray(values, dtype=float), minlength=len(places)).astype(float)
        self.indices.append(places.astype(np.int32))
        self.values.append(entries)
        self.row_lower.append(lower)
        self.row_upper.append(upper)
        return len(self.row_lower) - 1

    def rows(self, columns: ArrayLike, values: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Add a row for each line of ``columns``, in which no column stands twice; the rest is one for all, or each."""
        places = np.asarray(columns, dtype=np.int32)
        self.indices += list(places)
        self.values += list(np.broadcast_to(np.asarray(values, dtype=float), places.shape).copy())
        self.row_lower += np.broadcast_to(np.asarray(lower, dtype=float), len(places)).tolist()
        self.row_upper += np.broadcast_to(np.asarray(upper, dtype=float), len(places)).tolist()

    def change_row(self, row: int, columns: ArrayLike, values: ArrayLike, lower: float, upper: float) -> None:
        """Give a row other values for the columns that it has, and other limits."""
        places = np.searchsorted(self.indices[row], np.asarray(columns))
        self.values[row][places] = values
        self.row_lower[row], self.row_upper[row] = lower, upper
        if self._relaxation is not None and row < self._rows_there:
            for column, value in zip(np.atleast_1d(columns), np.atleast_1d(values)):
                self._relaxation.changeCoeff(row, int(column), float(value))
            self._relaxation.changeRowBounds(row, lower, upper)

    def limit(self, column: int, lower: float, upper: float) -> None:
        """Give a column other limits."""
        self.lower[column], self.upper[column] = lower, upper
        if self._relaxation is not None:
            self._relaxation.changeColBounds(int(column), lower, upper)

    # -- solving ----------------------------------------------------------------------------------------------------

    @property
    def rounding(self) -> float:
        """What the tolerances of HiGHS may hide in a value."""
        return 10 * TOLERANCE * (1.0 + float(np.abs(self.cost).max(initial=0.0)))

    def relaxed(self, time_limit: float = math.inf) -> Outcome:
        """Solve without integrality; the basis of one solve starts the next."""
        if self._relaxation is None:
            self._relaxation, self._rows_there = self._built(whole=False), len(self.row_lower)
        if self._rows_there < len(self.row_lower):
            highs.add(self._relaxation, self.rows_from(self._rows_there))
            self._rows_there = len(self.row_lower)
        return self._outcome(self._relaxation, time_limit, whole=False)

    def solve(
        self, time_limit: float = math.inf, cutoff: float = math.inf, watch: highs.Watch | None = None
    ) -> Outcome:
        """Solve with integrality; points of value ``cutoff`` and more need not be found.

        ``watch`` gets the bound so far, now and then, and ends the run by a true answer, as if its time were over.
        """
        model = self._built(whole=True)
        if math.isfinite(cutoff):
            model.setOptionValue("objective_bound", cutoff)

        def told(bound: float) -> bool:
            return watch is not None and watch(min(bound, cutoff) - self.rounding)

        return self._outcome(model, time_limit, whole=True, cutoff=cutoff, watch=None if watch is None else told)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the programme with integrality as an .mps or .lp file, as HiGHS does; columns are c0, c1, and so on."""
        model = self._built(whole=True)
        for j in range(len(self.cost)):
            model.passColName(j, f"c{j}")
        model.writeModel(os.fspath(path))

    def rows_from(self, first: int = 0) -> highs.Rows:
        """The rows from one on."""
        limits = np.array(self.row_lower[first:]), np.array(self.row_upper[first:])
        starts = np.cumsum([0, *map(len, self.indices[first:])])
        indices = np.concatenate([np.zeros(0, np.int32), *self.indices[first:]])
        return highs.Rows(*limits, starts, indices, np.concatenate([np.zeros(0), *self.values[first:]]))

    def _built(self, whole: bool) -> Any:
        integer = self.integer if whole else None
        return highs.built(OPTIONS, self.cost, self.lower, self.upper, self.rows_from(), integer, self.constant)

    def _outcome(
        self, model: Any, time_limit: float, whole: bool, cutoff: float = math.inf, watch: highs.Watch | None = None
    ) -> Outcome:
        interrupted = run_cancellable(model, time_limit, watch)
        if not interrupted and highs.status(model) == "unclear":
            model.setOptionValue("presolve", "off")
            interrupted = run_cancellable(model, time_limit, watch)
        status, info = highs.status(model), model.getInfo()
        if not interrupted and status == "unclear":
            words = model.modelStatusToString(model.getModelStatus())
            raise ProgrammeFailed(f"HiGHS could not treat a programme: {words}")
        if status in ("infeasible", "cutoff") and not interrupted:
            return Outcome("infeasible", cutoff - self.rounding if math.isfinite(cutoff) else math.inf)
        optimal = status == "optimal"
        if whole and self.integer.any():
            bound = min(float(info.mip_dual_bound), cutoff) - self.rounding
        else:
            bound = float(info.objective_function_value) - self.rounding if optimal else -math.inf
        found = model.getSolution()
        z = np.asarray(found.col_value, dtype=float) if found.value_valid else None
        z = z if whole or optimal else None
        if interrupted:  # even if HiGHS was through before it saw it: Ctrl-C is not to be lost
            return Outcome("interrupted", bound, z)
        if optimal:
            return Outcome("infeasible" if z is None else "optimal", bound, z)
        return Outcome("limit", bound, z)


def run_cancellable(model: Any, time_limit: float, watch: highs.Watch | None = None) -> bool:
    """Run HiGHS for a time that Ctrl-C may cut short; the answer says whether it did."""
    model.setOptionValue("time_limit", model.getRunTime() + max(0.0, min(time_limit, 1e9)))
    return highs.was_cancelled(model, watch)
