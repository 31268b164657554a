"""Set functions of batches that live on a device.

A family says what it can do there by :meth:`dsprog.SetFunction.on_device`; sums, modular functions and views are
composed here. The contracts are those of :class:`dsprog.SetFunction`, the numbers are float64, and nothing is checked
again: the search is the only caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from dsprog.core.algebra import LinearCombination
from dsprog.core.modular import Modular
from dsprog.core.oracle import count
from dsprog.core.set_function import SetFunction
from dsprog.core.views import Complement, Declared, Relabelled, Restriction

Array = Any  # of the device's library


class Batched(ABC):
    """What :class:`dsprog.SetFunction` computes on batches, of arrays on a device.

    ``chains`` takes orders without repetitions and without elements of the start; -1 is skipped.
    """

    n: int

    @abstractmethod
    def values(self, masks: Array) -> Array:
        """f(S) for every row."""

    @abstractmethod
    def marginals(self, masks: Array, among: Array) -> Array:
        """f(S ∪ j) - f(S ∖ j) for the elements in ``among``; anything for the others."""

    @abstractmethod
    def chains(self, orders: Array, start: Array) -> Array:
        """Increments along each order from its start."""

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """Affine functions above f, tangents of its concave extension at the rows of x."""
        raise NotImplementedError(f"{type(self).__name__} has no tangents")


def on_device(f: SetFunction, machine: Any) -> Batched:
    """A set function on a machine, or a sentence that names the family which has no code for it."""
    for kind, make in COMPOSED.items():
        if isinstance(f, kind):
            return make(f, machine)
    found = f.on_device(machine)
    if found is None:
        raise ValueError(f"{type(f).__name__} has no code for device={machine.name!r}: leave device out")
    return found


class SumOnDevice(Batched):
    """Σ a_k f_k; the outermost one counts oracle calls."""

    counts = True

    def __init__(self, f: LinearCombination, machine: Any) -> None:
        self.n, self.xp = f.n, machine.xp
        self.terms = [(a, on_device(h, machine)) for a, h in f.terms]
        for _, h in self.terms:
            if isinstance(h, SumOnDevice):
                h.counts = False

    def values(self, masks: Array) -> Array:
        """The sum of those of the terms."""
        self._count(len(masks))
        return self._total([(a, h.values(masks)) for a, h in self.terms], (len(masks),))

    def marginals(self, masks: Array, among: Array) -> Array:
        """The sum of those of the terms."""
        self._count(int(among.sum()))
        return self._total([(a, h.marginals(masks, among)) for a, h in self.terms], masks.shape)

    def chains(self, orders: Array, start: Array) -> Array:
        """The sum of those of the terms."""
        self._count(orders.size)
        return self._total([(a, h.chains(orders, start)) for a, h in self.terms], orders.shape)

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """The sums of those of the terms."""
        lines = [(a, h.tangents(x)) for a, h in self.terms]
        constants = self._total([(a, constant) for a, (constant, _) in lines], (len(x),))
        return constants, self._total([(a, slopes) for a, (_, slopes) in lines], x.shape)

    def _count(self, calls: int) -> None:
        if self.counts:
            count(calls)

    def _total(self, parts: list[tuple[float, Array]], shape: tuple[int, ...]) -> Array:
        """Σ a · part, with as few passes as there are terms."""
        total = None
        for a, part in parts:
            scaled = part if a == 1.0 else a * part
            total = scaled if total is None else total + scaled
        return self.xp.zeros(shape) if total is None else total


class ModularOnDevice(Batched):
    """constant + Σ_{j∈S} w_j."""

    def __init__(self, f: Modular, machine: Any) -> None:
        self.n, self.xp, self.constant, self.weights = f.n, machine.xp, f.constant, machine.send(f.weights)

    def values(self, masks: Array) -> Array:
        """One product."""
        return masks.astype(float) @ self.weights + self.constant

    def marginals(self, masks: Array, among: Array) -> Array:
        """The weights."""
        return np.broadcast_to(self.weights, masks.shape)

    def chains(self, orders: Array, start: Array) -> Array:
        """The weight of each element."""
        return np.where(orders >= 0, self.weights[np.maximum(orders, 0)], 0.0)

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """Itself."""
        return self.xp.full(len(x), self.constant), np.broadcast_to(self.weights, x.shape)


class RestrictionOnDevice(Batched):
    """T -> f(I ∪ T), T among the free elements."""

    def __init__(self, f: Restriction, machine: Any) -> None:
        self.n, self.xp, self.whole = f.n, machine.xp, on_device(f.function, machine)
        self.include, self.free = machine.send(f.include), machine.send(f.free)

    def _embed(self, rows: Array) -> Array:
        full = self.xp.zeros((len(rows), self.whole.n), dtype=rows.dtype)
        full[:, self.include] = 1
        full[:, self.free] = rows
        return full

    def values(self, masks: Array) -> Array:
        """Of the embedded sets."""
        return self.whole.values(self._embed(masks))

    def marginals(self, masks: Array, among: Array) -> Array:
        """Of the embedded sets, for the free elements."""
        wanted = self.xp.zeros((len(masks), self.whole.n), dtype=bool)
        wanted[:, self.free] = among
        return self.whole.marginals(self._embed(masks), wanted)[:, self.free]

    def chains(self, orders: Array, start: Array) -> Array:
        """Along the same elements by their own numbers."""
        named = np.where(orders >= 0, self.free[np.maximum(orders, 0)], -1).astype(orders.dtype)
        return self.whole.chains(named, self._embed(start))

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """Those of f, the slopes of included elements taken into the constant."""
        constants, slopes = self.whole.tangents(self._embed(x))
        return constants + slopes[:, self.include].sum(axis=1), slopes[:, self.free]


class RelabelledOnDevice(Batched):
    """Element k stands for element permutation[k] of f."""

    def __init__(self, f: Relabelled, machine: Any) -> None:
        self.n, self.xp, self.whole = f.n, machine.xp, on_device(f.function, machine)
        self.order, self.inverse = machine.send(f.permutation), machine.send(np.argsort(f.permutation))

    def _old(self, rows: Array) -> Array:
        return self.xp.ascontiguousarray(rows[:, self.inverse])

    def values(self, masks: Array) -> Array:
        """Of the sets by their old numbers."""
        return self.whole.values(self._old(masks))

    def marginals(self, masks: Array, among: Array) -> Array:
        """Of the sets by their old numbers."""
        return self.whole.marginals(self._old(masks), self._old(among))[:, self.order]

    def chains(self, orders: Array, start: Array) -> Array:
        """Along the same elements by their old numbers."""
        named = np.where(orders >= 0, self.order[np.maximum(orders, 0)], -1).astype(orders.dtype)
        return self.whole.chains(named, self._old(start))

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """Those of f."""
        constants, slopes = self.whole.tangents(self._old(x))
        return constants, slopes[:, self.order]


class ComplementOnDevice(Batched):
    """S -> f(V∖S)."""

    def __init__(self, f: Complement, machine: Any) -> None:
        self.n, self.xp, self.other = f.n, machine.xp, on_device(f.function, machine)

    def values(self, masks: Array) -> Array:
        """Of the complements."""
        return self.other.values(~masks)

    def marginals(self, masks: Array, among: Array) -> Array:
        """f(V∖S∖j) - f(V∖S∪j)."""
        return -self.other.marginals(~masks, among)

    def chains(self, orders: Array, start: Array) -> Array:
        """A chain of f walked backwards, from what is left at the end."""
        left = ~start
        rows = np.broadcast_to(self.xp.arange(len(orders))[:, None], orders.shape)
        there = orders >= 0
        left[rows[there], orders[there]] = False
        backwards = self.xp.ascontiguousarray(orders[:, ::-1])
        return -self.other.chains(backwards, left)[:, ::-1]

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """κ + c(V∖S) = κ + c(V) - c(S)."""
        constants, slopes = self.other.tangents(1.0 - x)
        return constants + slopes.sum(axis=1), -slopes


COMPOSED: dict[type, Callable[[Any, Any], Batched]] = {
    LinearCombination: SumOnDevice,
    Modular: ModularOnDevice,
    Restriction: RestrictionOnDevice,
    Complement: ComplementOnDevice,
    Relabelled: RelabelledOnDevice,
    Declared: lambda f, machine: on_device(f.function, machine),
}
