"""What enumeration of all sets says."""

import numpy as np
import pytest

from dsprog.functions.table import all_masks


def check_best(best, objective, k, feasible=None, within=np.inf):
    """The list is that of the k best feasible sets, certified."""
    masks = all_masks(objective.n)
    masks = masks if feasible is None else masks[feasible]
    values = np.sort(objective.values(masks))
    slack = 1e-8 * max(1.0, np.abs(values).max(initial=0.0))
    wanted = values[values <= values.min(initial=np.inf) + within + 1e-9][:k]
    assert best.certified
    assert len(set(best.sets)) == len(best) == len(wanted)
    np.testing.assert_allclose(best.values, wanted, atol=slack)
    assert [objective(S) for S in best.sets] == pytest.approx(list(best.values), abs=slack)
    allowed = {tuple(np.flatnonzero(mask)) for mask in masks}
    assert set(best.sets) <= allowed
