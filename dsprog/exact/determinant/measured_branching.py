"""Which element a node is branched on: the one whose absence is likely to lower the bound most.

With an element that is nearly certain, the branch without it closes soon, and the one with it has become smaller at no
cost; of such elements, some are missed more than others. How much the bound falls without i is measured, by one tangent
of the node without i, the first few times that i is a candidate; later its mean for each unit of x_i stands for it
(reliability branching of mixed-integer programming). Only the order of the search rests on this, no bound does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.exact.determinant.gamma_bound import DeterminantNode, tangent
from dsprog.exact.determinant.size_polytope import best_set, projected

CANDIDATES = 8  # of the largest x
CERTAIN, UNLIKELY = 0.99, 0.2  # an x_i from the one on counts as chosen; up to the other, i is no candidate
RELIABLE = 4  # measurements of an element, beyond which their mean counts


@dataclass(frozen=True)
class Losses:
    """What bounds lost as elements were left out, for each unit of x: sums, and how many they are of."""

    total: Floats
    count: Ints

    @classmethod
    def none(cls, n: int) -> Losses:
        """Nothing is known yet."""
        return cls(np.zeros(n), np.zeros(n, dtype=np.int64))

    def note(self, j: int, loss: float) -> None:
        """One more measurement."""
        self.total[j] += loss
        self.count[j] += 1

    def mean(self, j: int) -> float:
        """Of what was measured."""
        return float(self.total[j]) / int(self.count[j])


def upper_without(local: DeterminantNode, i: int, x: Floats) -> float:
    """A bound for the sets without i, by the tangent at x without it."""
    rest = local.without(i)
    y = projected(np.delete(x, i), rest.least, rest.most)
    value, g = tangent(rest, y)
    return value - float(g @ y) + best_set(g, rest.least, rest.most).value


def branching_place(local: DeterminantNode, F: Ints, x: Floats, upper: float, losses: Losses) -> int:
    """The place among the free elements F of the one to branch on, given x there and the node's bound."""
    order = np.argsort(-np.where(x < CERTAIN, x, x - 2.0), kind="stable")
    candidates = [int(i) for i in order[:CANDIDATES] if UNLIKELY < x[i] < CERTAIN]
    if len(candidates) < 2:
        return int(order[0])
    for i in candidates:
        if losses.count[F[i]] < RELIABLE:
            losses.note(int(F[i]), max(0.0, upper - upper_without(local, i, x)) / x[i])
    return max(candidates, key=lambda i: losses.mean(int(F[i])) * x[i])
