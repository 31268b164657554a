"""Rows are grouped by whole keys: a hash that sends all rows to one place changes nothing."""

import numpy as np
import pytest

from dsprog.functions import _grouping as grouping


@pytest.mark.parametrize("multiplier", [grouping.MULTIPLIER, np.uint64(0)])
@pytest.mark.parametrize("values", [2, 2000, 2**40])  # one word, two, one for each column
def test_groups_are_those_of_equal_rows(monkeypatch, multiplier, values):
    monkeypatch.setattr(grouping, "MULTIPLIER", multiplier)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (40, 8)) * (values // 2)
    codes[:, 3] = 0
    rows = grouping.pack(codes)
    assert rows.counts.sum() == len(codes)
    for chosen in (rng.random((5, 8)) < 0.4).tolist():
        mask = np.bitwise_or.reduce(rows.fields[chosen], axis=0)
        room = grouping.room_for(len(rows.words))
        with np.errstate(over="ignore"):
            groups = grouping.group.function(rows.words, mask, len(rows.words), room)
        numbers = room.groups_of[rows.row_of]
        _, expected = np.unique(codes[:, chosen], axis=0, return_inverse=True)
        assert groups == expected.max() + 1
        assert len(set(zip(numbers.tolist(), expected.tolist()))) == groups
