"""Sets near a fractional point that keep the rows: elements in a given order, as the limits allow and demand."""

from __future__ import annotations

import numpy as np

from dsprog.core.constraints import LinearRows
from dsprog.core.validation import Ints, Masks


def filled(rows: LinearRows, order: Ints, wanted: Masks) -> Masks:
    """The wanted elements in order while upper limits allow, then others in order while lower limits demand.

    Rows with entries of both signs are taken as they stand at each addition, so the set may be infeasible there.
    """
    mask = np.zeros(rows.A.shape[1], dtype=bool)
    if len(rows) == 0:
        mask[order[wanted[order]]] = True
        return mask
    lo, hi = rows.relaxed
    activity = np.zeros(len(rows))
    for j in order[wanted[order]]:
        if (activity + rows.A[:, j] <= np.maximum(hi, activity)).all():
            mask[j] = True
            activity += rows.A[:, j]
    for j in order[~mask[order]]:
        short = activity < lo
        if not short.any():
            break
        column = rows.A[:, j]
        if (column[short] > 0).any() and (activity + column <= np.maximum(hi, activity)).all():
            mask[j] = True
            activity += column
    return mask
