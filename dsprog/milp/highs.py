"""The only file that imports HiGHS: models from sparse rows, running them so that Ctrl-C works, what they answer."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.core.deferred_signals import signals_deferred
from dsprog.core.validation import Floats, Masks

INTERRUPTS = ("cbSimplexInterrupt", "cbIpmInterrupt", "cbMipInterrupt")  # where HiGHS asks whether to go on
PATIENCE = 1.0  # seconds that HiGHS may take before Ctrl-C is watched for; a programme that takes longer starts again
Watch = Callable[[float], bool]


@dataclass(frozen=True)
class Rows:
    """lower <= A z <= upper, A row by row: where each row starts and the last ends, columns, values."""

    lower: Floats
    upper: Floats
    starts: np.ndarray
    indices: np.ndarray
    values: Floats

    @staticmethod
    def dense(A: Floats, lower: Floats, upper: Floats) -> Rows:
        """Rows of a matrix with zeros."""
        row, column = np.nonzero(A)
        return Rows(lower, upper, np.searchsorted(row, np.arange(len(A) + 1)), column, A[row, column])

    @property
    def entries(self) -> tuple[int, np.ndarray, np.ndarray, Floats]:
        """As HiGHS takes them when it adds rows."""
        return len(self.values), self.starts[:-1].astype(np.int32), self.indices.astype(np.int32), self.values


def empty(options: dict[str, Any]) -> Any:
    """A model without columns and rows."""
    import highspy

    model = highspy.Highs()
    for name, value in options.items():
        model.setOptionValue(name, value)
    return model


def built(
    options: dict[str, Any],
    cost: Floats,
    lower: Floats,
    upper: Floats,
    rows: Rows,
    integer: Masks | None = None,
    constant: float = 0.0,
) -> Any:
    """The model min cost·z + constant, lower <= z <= upper, such that the rows hold; ``integer`` columns are whole."""
    import highspy

    model, lp = empty(options), highspy.HighsLp()
    lp.num_row_, lp.num_col_, lp.offset_ = len(rows.lower), len(cost), constant
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
    lp.row_lower_, lp.row_upper_ = rows.lower, rows.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.starts, rows.indices, rows.values
    if integer is not None and integer.any():
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        lp.integrality_ = [kinds[int(whole)] for whole in integer]
    model.passModel(lp)
    return model


def add(model: Any, rows: Rows) -> None:
    """Add rows to a model."""
    model.addRows(len(rows.lower), rows.lower, rows.upper, *rows.entries)


def status(model: Any) -> str:
    """How the last run ended: "optimal", "infeasible", "cutoff", "limit", "interrupted", or "unclear"."""
    import highspy

    kinds = highspy.HighsModelStatus
    words = {
        kinds.kOptimal: "optimal",
        kinds.kInfeasible: "infeasible",
        kinds.kObjectiveBound: "cutoff",
        kinds.kTimeLimit: "limit",
        kinds.kInterrupt: "interrupted",
    }
    return words.get(model.getModelStatus(), "unclear")


def run(model: Any, time_limit: float) -> None:
    """Run HiGHS so that Ctrl-C works: in this thread while it is quick, else again in one that can be cancelled."""
    model.setOptionValue("time_limit", max(0.0, min(time_limit, PATIENCE)))
    model.run()
    if status(model) != "limit" or time_limit <= PATIENCE:
        return
    model.setOptionValue("time_limit", time_limit - PATIENCE)
    if was_cancelled(model):
        raise KeyboardInterrupt


def was_cancelled(model: Any, watch: Watch | None = None) -> bool:
    """Run HiGHS in a thread; Ctrl-C cancels it, and the answer says whether there was one, late or not.

    ``watch`` is told the dual bound of a mixed-integer programme ten times a second, and ends the run by a true answer.
    Signals wait until HiGHS has stopped. A KeyboardInterrupt raised in the middle of the locks of highspy (its
    ``startSolve`` and ``wait``) leaves them taken, and the next solve would wait for ever.
    """
    done, cancelled, bounds = threading.Event(), threading.Event(), [-math.inf]

    def look(event: Any) -> None:
        if cancelled.is_set():
            event.data_in.user_interrupt = True

    def note(event: Any) -> None:  # only the mixed-integer callback has a bound
        bounds[0] = float(event.data_out.mip_dual_bound)

    def work() -> None:
        try:
            model.run()
            model.resetGlobalScheduler(False)  # as highspy does where it starts a thread
        finally:
            done.set()

    try:
        with signals_deferred(cancelled.set):
            for place in INTERRUPTS:
                getattr(model, place).subscribe(look)
            model.cbMipInterrupt.subscribe(note)
            threading.Thread(target=work, daemon=True).start()
            while not done.wait(0.1):
                if watch is not None and watch(bounds[0]):
                    cancelled.set()
            for place in INTERRUPTS:
                getattr(model, place).unsubscribe(look)
            model.cbMipInterrupt.unsubscribe(note)
    except KeyboardInterrupt:
        return True
    return False
