"""Climb to the maximum of the concave bound B, and keep the best tangent met on the way.

Projected gradient steps of Barzilai and Borwein on {0 <= x <= 1, least <= Σx <= most}. The bound of a node is the best
value of a tangent over the sets, upper = B(x) - g·x + max g(T), which is valid at every x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats
from dsprog.exact.determinant.gamma_bound import DeterminantNode, tangent
from dsprog.exact.determinant.size_polytope import BestSet, best_set, projected


@dataclass
class Climb:
    """The last point and step, the largest B, and the best tangent: its bound, and its best set."""

    x: Floats
    step: float
    reached: float
    upper: float
    best: BestSet


def climb(node: DeterminantNode, x: Floats, step: float, steps: int, target: float, accuracy: float = 0.0) -> Climb:
    """Up to ``steps`` tangents from x on; ends early where a bound is at most ``target`` or B exceeds it.

    Once B(x) exceeds the target no other point can bring the bound below it, since upper >= max B; one more tangent or
    two still help to fix elements. With ``accuracy`` the climb goes on until upper - B is as small as that instead.
    """
    x = projected(x, node.least, node.most)
    found: Climb | None = None
    before: tuple[Floats, Floats] | None = None
    beyond = 0
    for _ in range(steps):
        value, g = tangent(node, x)
        top = best_set(g, node.least, node.most)
        upper = value - float(g @ x) + top.value
        if found is None:
            found = Climb(x, step, value, upper, top)
        found.x, found.reached = x, max(found.reached, value)
        if upper < found.upper:
            found.upper, found.best = upper, top
        beyond += value > target
        if found.upper <= target or found.upper - found.reached <= accuracy or (accuracy == 0.0 and beyond > PATIENCE):
            break
        if before is not None:
            dx, dg = x - before[0], before[1] - g
            curved = float(dx @ dg)
            found.step = float(dx @ dx) / curved if curved > 1e-300 else 2.0 * found.step
        before = (x, g)
        step = found.step if found.step > 0.0 else 0.3 / max(float(np.abs(g - g.mean()).max()), 1e-12)
        new = projected(x + step * g, node.least, node.most)
        if np.array_equal(new, x):
            break
        x = new
    assert found is not None
    return found


PATIENCE = 0  # tangents beyond the one whose value exceeds the target
