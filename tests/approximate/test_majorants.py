"""Modular bounds of both sides hold, and touch where they must."""

import numpy as np
import pytest

from dsprog.approximate.majorants import UpperBounds, lower_weights, orders_through
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES

STRUCTURED = [name for name in FAMILIES if name != "table"]


@pytest.mark.parametrize("family", STRUCTURED)
def test_modular_bounds_hold_and_touch(family):
    """h <= g with equality at S and its best neighbours; both m >= f with equality at S, S + j and S - i."""
    objective, masks = FAMILIES[family](6, 1), all_masks(6)
    f, g, rows = objective.f, objective.g, np.arange(6)
    scale = 1e-9 * max(1.0, np.abs(f.values(masks)).max(), np.abs(g.values(masks)).max())
    sets = masks[[0, 63, 13, 38]]
    marginals = objective.marginals(sets)
    changes = np.where(sets, -marginals, marginals)
    lower = g([]) + lower_weights(g, orders_through(sets, changes)) @ masks.T
    assert (lower <= g.values(masks) + scale).all()
    for b, S in enumerate(sets):
        index = {mask.tobytes(): k for k, mask in enumerate(masks)}
        assert lower[b, index[S.tobytes()]] == pytest.approx(g(S), abs=scale)
        for inside in set(S):
            least = changes[b][inside == S].min()
            best = [S ^ (rows == j) for j in rows[(inside == S) & (changes[b] <= least + scale)]]
            assert any(lower[b, index[T.tobytes()]] == pytest.approx(g(T), abs=scale) for T in best)
        for kind in ("grow", "shrink"):
            weights = UpperBounds(f, kind).weights(sets)[0][b]
            upper = f(S) + weights @ masks.T - weights[S].sum()
            assert (upper >= f.values(masks) - scale).all()
            for j in rows[(kind == "shrink") == S]:
                T = S ^ (rows == j)
                assert upper[index[T.tobytes()]] == pytest.approx(f(T), abs=scale)
