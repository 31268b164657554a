"""The compiled steps of a search at each node of a batch, for the machine that the nodes are on.

Both have the same contracts; those of the host are the referee of the others. Arrays are changed in place where a
docstring of :mod:`dsprog.exact.interval.descent` says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.constraints import ROUNDING, LinearRows
from dsprog.core.rows import propagate, relax_rows
from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import HOST, Machine
from dsprog.device.sizes import aligned
from dsprog.exact.interval.descent import Means, Minorants, average, sort_free, step
from dsprog.run.driver import Bundle


class HostKernels:
    """By compiled kernels."""

    index = np.int64  # of elements in orders

    def __init__(self, rows: LinearRows) -> None:
        self.rows = rows

    def sort_free(self, nodes: Bundle) -> None:
        """Bring ``orders`` into falling order of x."""
        sort_free(nodes["x"], nodes["I"], nodes["U"], nodes["orders"])

    def average(self, new: Minorants, nodes: Bundle, d: Floats, value: Floats) -> None:
        """Add each node's new minorant to its average."""
        means = Means(nodes["count"], nodes["mean_constant"], nodes["mean_d"])
        average(new, nodes["I"], nodes["x"], means, d, value)

    def step(self, d: Floats, value: Floats, nodes: Bundle) -> None:
        """Move x along -d."""
        step(d, value, nodes["lower"], nodes["x"])

    def relax(self, nodes: Bundle, constants: Floats, d: Floats) -> tuple[Floats, Floats]:
        """The least value of each minorant under the rows, and the reduced costs it rests on."""
        return relax_rows(self.rows, nodes, constants, d)

    def propagate(self, nodes: Bundle) -> tuple[Masks, Masks, Masks]:
        """Elements that the rows fix, and whether an interval can hold a feasible set at all."""
        return propagate(self.rows, nodes)

    def feasible(self, masks: Masks) -> Masks:
        """Whether each set satisfies the rows."""
        return self.rows.satisfied(masks)


class DeviceKernels:
    """By the kernels of ``device/kernels/search.cu``."""

    index = np.int32

    def __init__(self, rows: LinearRows, machine: Any) -> None:
        self.rows, self.xp = rows, machine.xp
        names = ("sort_free", "average", "step", "relax", "propagate")
        self._sort, self._average, self._step, self._relax, self._propagate = (
            machine.kernel("search", name) for name in names
        )
        low, high = rows.relaxed
        self._A, self._low, self._high = (machine.send(np.ascontiguousarray(a)) for a in (rows.A, low, high))
        self._limits = (len(rows), ROUNDING, self._A, self._low, self._high)
        self._disjoint = int(rows.disjoint)

    def sort_free(self, nodes: Bundle) -> None:
        """Bring ``orders`` into falling order of x."""
        count, n = nodes["x"].shape
        ends = (nodes["x"], nodes["I"], nodes["U"])
        self._sort(count, n, *ends, nodes["orders"], shared=aligned(12 * n))

    def average(self, new: Minorants, nodes: Bundle, d: Floats, value: Floats) -> None:
        """Add each node's new minorant to its average."""
        count, n = nodes["x"].shape
        new = new._replace(slopes=self.xp.ascontiguousarray(new.slopes))
        means = (nodes["count"], nodes["mean_constant"], nodes["mean_d"])
        self._average(count, n, *new, nodes["I"], nodes["x"], *means, d, value)

    def step(self, d: Floats, value: Floats, nodes: Bundle) -> None:
        """Move x along -d."""
        count, n = nodes["x"].shape
        self._step(count, n, d, value, nodes["lower"], nodes["x"])

    def relax(self, nodes: Bundle, constants: Floats, d: Floats) -> tuple[Floats, Floats]:
        """The least value of each minorant under the rows, and the reduced costs it rests on."""
        if len(self.rows) == 0:
            return constants + np.minimum(d, 0.0).sum(axis=1), d
        (count, n), bound, reduced = d.shape, self.xp.empty(len(d)), self.xp.empty(d.shape)
        ends = (nodes["I"], nodes["U"], constants, self.xp.ascontiguousarray(d))
        self._relax(count, n, *self._limits, self._disjoint, *ends, bound, reduced, shared=8 * n)
        return bound, reduced

    def propagate(self, nodes: Bundle) -> tuple[Masks, Masks, Masks]:
        """Elements that the rows fix, and whether an interval can hold a feasible set at all."""
        count, n = nodes["I"].shape
        include, exclude = np.zeros_like(nodes["I"]), np.zeros_like(nodes["I"])
        feasible = self.xp.ones(count, dtype=bool)
        self._propagate(count, n, *self._limits, nodes["I"], nodes["U"], include, exclude, feasible)
        return include, exclude, feasible

    def feasible(self, masks: Masks) -> Masks:
        """Whether each set satisfies the rows, up to rounding."""
        inside = masks.astype(float)
        activity, slack = inside @ self._A.T, ROUNDING * (inside @ np.abs(self._A).T)
        return ((activity >= self._low - slack) & (activity <= self._high + slack)).all(axis=1)


NodeKernels = HostKernels | DeviceKernels


def kernels_on(machine: Machine, rows: LinearRows) -> NodeKernels:
    """The kernels for a machine."""
    return HostKernels(rows) if machine is HOST else DeviceKernels(rows, machine)
