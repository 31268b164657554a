"""A set is left where no time is."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import concave_difference, facility_rewards


@pytest.mark.parametrize(
    "rows", [ds.Cardinality(exactly=5), ds.Cardinality(min=3, max=5), ds.Partition(np.arange(30) % 3, [1, 2, 1])]
)
@pytest.mark.parametrize("objective", [-1.0 * facility_rewards(30, 0), concave_difference(30, 0)])
def test_a_budget_leaves_a_set_and_a_bound_at_once(objective, rows):
    result = ds.minimize(objective, constraints=[rows], time_limit=0)
    assert np.isfinite(result.value)
    assert rows.rows(30).satisfied(result.mask[None])[0]
    assert result.lower_bound <= result.value
