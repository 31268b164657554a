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


def between(masks, I, U):
    """Which sets lie in the interval [I, U]."""
    return (masks >= I).all(axis=1) & (masks <= U).all(axis=1)


def mask_of(S, n):
    """A set as a mask."""
    return np.isin(np.arange(n), S)


def flips(objective, S, feasible=None):
    """Values of all (feasible) sets that differ from S in one element, by whether it is added."""
    mask = mask_of(S, objective.n)
    neighbours = mask ^ np.eye(objective.n, dtype=bool)
    keep = np.ones(objective.n, dtype=bool) if feasible is None else feasible(neighbours)
    values = np.where(keep, objective.values(neighbours), np.inf)
    return values[~mask], values[mask]
