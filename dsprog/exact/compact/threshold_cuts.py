"""Facility location from above without a column for each pair: threshold cuts, of which only violated ones are added.

With a column θ_k for a group of clients and any thresholds τ_i >= floor_i, :mod:`dsprog.exact.compact.maxima` gives

    θ_k  <=  Σ_{i in group k} (τ_i + Σ_j max(0, s_ij - τ_i) x_j),

both sides divided by the size of the data, so that the tolerances of HiGHS are relative to it.

At a point x the right side is least where τ_i is the benefit at which client i, taking fractions x_j from the best
on, has one unit (its concave extension): sorting the benefits of the elements with x_j > 0 finds all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.column_model import ColumnModel
from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Ints
from dsprog.exact.compact.cuts import SHALLOW, Separator

MOST_GROUPS = 400  # of clients: beyond, several share a column


@dataclass
class ThresholdCuts(Separator):
    """Rows for θ, the clients of group k being those from ``starts[k]`` to ``starts[k + 1]``."""

    benefits: Floats  # a row for each element that is not fixed
    floor: Floats
    elements: Ints
    starts: Ints
    theta: Ints
    weight: float = 1.0

    def separate(self, z: Floats, model: ColumnModel) -> float:
        """The least right side of every group, where θ exceeds it."""
        x = np.clip(z[self.elements], 0.0, 1.0)
        constants, slopes = self.tangents(x)
        excess = self.weight * (model.unit * z[self.theta] - constants - slopes @ x)
        for k in np.flatnonzero(excess > SHALLOW * model.unit):
            there = np.flatnonzero(slopes[k])
            columns = np.append(self.elements[there], self.theta[k])
            model.row(columns, np.append(slopes[k, there] / model.unit, -1.0), lower=-constants[k] / model.unit)
        return float(np.maximum(excess, 0.0).sum())

    def tangents(self, x: Floats) -> tuple[Floats, Floats]:
        """Constant and slopes of the least right side at x, for each group."""
        support = np.flatnonzero(x > 0)
        ranking = np.argsort(-self.benefits[support], axis=0, kind="stable")
        tau = self.floor.copy()
        levels_kernel(self.benefits, support, ranking, x, tau)
        slopes = np.zeros((len(self.theta), len(x)))
        group_slopes_kernel(self.benefits, self.starts, tau, slopes)
        return np.add.reduceat(tau, self.starts[:-1]), slopes


@kernel
def levels_kernel(benefits, support, ranking, x, tau):
    """τ_i: where fractions of the elements of a support, the best first, make up one unit; the floor if never."""
    for i in range(len(tau)):
        left = 1.0
        for r in range(len(support)):
            j = support[ranking[r, i]]
            if benefits[j, i] <= tau[i]:
                break
            left -= x[j]
            if left <= 1e-9:
                tau[i] = benefits[j, i]
                break


@kernel
def group_slopes_kernel(benefits, starts, tau, slopes):
    """Σ_i max(0, s_ij - τ_i) over the clients of each group."""
    for k in range(len(starts) - 1):
        for j in range(len(benefits)):
            total = 0.0
            for i in range(starts[k], starts[k + 1]):
                total += max(0.0, benefits[j, i] - tau[i])
            slopes[k, j] = total


def grouped(similarity: Floats) -> tuple[Ints, Ints]:
    """An order of the clients, those with the same best element together, and where groups of it start and end."""
    order = np.argsort(similarity.argmax(axis=1), kind="stable") if similarity.shape[1] else np.arange(len(similarity))
    groups = min(len(order), MOST_GROUPS)
    return order, np.linspace(0, len(order), groups + 1).astype(np.int64)
