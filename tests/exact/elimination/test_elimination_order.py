"""Orders of elimination: what a minor says about their width is true of the best one."""

from itertools import combinations, permutations

import numpy as np
import pytest

from dsprog.exact.elimination.elimination_order import elimination_order, is_too_wide


def graph(n, density, seed):
    """Neighbours of a random graph."""
    rng = np.random.default_rng(seed)
    near = [set() for _ in range(n)]
    for i, j in combinations(range(n), 2):
        if rng.random() < density:
            near[i].add(j)
            near[j].add(i)
    return near


def width_of(near, order):
    """The most neighbours met on the way of an order, by its definition."""
    near, width = [set(these) for these in near], 0
    for i in order:
        width = max(width, len(near[i]))
        for j in near[i]:
            near[j] = (near[j] | near[i]) - {i, j}
    return width


@pytest.mark.parametrize("density", [0.0, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("n", range(7))
def test_a_minor_never_claims_more_than_the_best_order(n, density):
    near = graph(n, density, n)
    best = min(width_of(near, order) for order in permutations(range(n)))
    assert not any(is_too_wide(near, most) for most in range(best, n + 1))
    groups = [np.array(pair) for pair in combinations(range(n), 2) if pair[1] in near[pair[0]]]
    found = elimination_order(n, groups, n)
    assert found.width == width_of(near, found.order) >= best


def test_a_minor_sees_that_cliques_cycles_and_grids_are_wide():
    assert is_too_wide(graph(9, 1.0, 0), 7)
    assert is_too_wide([{(i - 1) % 9, (i + 1) % 9} for i in range(9)], 1)
    side = 6
    grid = [
        {side * a + b for a, b in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)) if 0 <= a < side and 0 <= b < side}
        for r in range(side)
        for c in range(side)
    ]
    assert is_too_wide(grid, 2)
    assert not is_too_wide(grid, side)


def test_neighbours_are_left_as_they_were():
    near = graph(8, 0.5, 1)
    before = [set(these) for these in near]
    is_too_wide(near, 3)
    assert near == before
