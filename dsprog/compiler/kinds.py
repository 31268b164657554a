"""Kinds of values that a kernel knows, and how many machine values each is made of.

A number is one machine value. An array is its address, its sizes, and its strides in bytes unless its entries follow
each other. A tuple is its items one after the other. A NamedTuple that comes from Python lies in memory and is handed
on by its address, eight bytes for each machine value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


class NotAKernel(TypeError):
    """Something that kernels cannot contain, or a value that they do not take."""


@dataclass(frozen=True)
class ValueKind:
    """What a value is."""

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types of the machine values."""
        return ()


@dataclass(frozen=True)
class Nothing(ValueKind):
    """None."""


@dataclass(frozen=True)
class Number(ValueKind):
    """A number in a register."""

    name: str
    register: str

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types."""
        return (self.register,)


NOTHING = Nothing()
BOOL, INT, WORD, FLOAT = Number("bool", "i1"), Number("int", "i64"), Number("word", "i64"), Number("float", "double")


@dataclass(frozen=True)
class Item:
    """How numbers lie in an array: NumPy's name, LLVM's type, the kind that is read from it."""

    name: str
    memory: str
    number: Number

    @property
    def size(self) -> int:
        """In bytes."""
        return np.dtype(self.name).itemsize

    @property
    def code(self) -> int:
        """NumPy's number of the type."""
        return np.dtype(self.name).num


ITEMS = {
    item.name: item
    for item in [
        Item("bool", "i8", BOOL), Item("int8", "i8", INT), Item("uint8", "i8", INT), Item("int16", "i16", INT),
        Item("uint16", "i16", INT), Item("int32", "i32", INT), Item("uint32", "i32", INT), Item("int64", "i64", INT),
        Item("uint64", "i64", WORD), Item("float32", "float", FLOAT), Item("float64", "double", FLOAT),
    ]
}  # fmt: skip


@dataclass(frozen=True)
class Array(ValueKind):
    """An array; ``dense`` if its entries follow each other, the last index the fastest.

    ``origin`` numbers the arguments whose entries these may be, while that is of interest.
    """

    item: Item
    ndim: int
    dense: bool = True
    origin: frozenset[int] = frozenset()

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types."""
        return ("ptr",) + ("i64",) * (self.ndim if self.dense else 2 * self.ndim)


@dataclass(frozen=True)
class Tuple(ValueKind):
    """A tuple; a NamedTuple has a title, and names of its items."""

    items: tuple[ValueKind, ...]
    title: str = ""
    names: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types."""
        return tuple(part for item in self.items for part in item.parts)

    def place(self, index: int) -> slice:
        """Which parts are those of an item."""
        first = sum(len(item.parts) for item in self.items[:index])
        return slice(first, first + len(self.items[index].parts))

    def is_like(self, other: Tuple) -> bool:
        """Whether they are of one class, and of one length."""
        return (self.title, self.names, len(self.items)) == (other.title, other.names, len(other.items))


@dataclass(frozen=True)
class Address(ValueKind):
    """A tuple in memory that does not change."""

    of: Tuple

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types."""
        return ("ptr",)


def kind_of(value: Any) -> ValueKind:
    """The kind of a value that Python hands to a kernel."""
    if value is None:
        return NOTHING
    if isinstance(value, np.ndarray):
        item = ITEMS.get(value.dtype.name)
        if item is None or not value.dtype.isnative or value.ndim == 0:
            raise NotAKernel(f"kernels take no arrays of {value.dtype} of {value.ndim} dimensions")
        if not value.flags.aligned:
            raise NotAKernel("kernels take no arrays whose numbers lie between two places of memory: copy them")
        return Array(item, value.ndim, value.flags.c_contiguous)
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        title = type(value).__name__ if names else ""
        return Address(Tuple(tuple(inside(kind_of(item)) for item in value), title, names))
    for types, kind in (
        ((bool, np.bool_), BOOL), (np.uint64, WORD), ((int, np.integer), INT), ((float, np.floating), FLOAT),
    ):  # fmt: skip
        if isinstance(value, types):
            return kind
    raise NotAKernel(f"kernels take numbers, arrays and tuples of them, not {type(value).__name__}")


def inside(kind: ValueKind) -> ValueKind:
    """A tuple within a tuple lies in it."""
    return kind.of if isinstance(kind, Address) else kind


def joined(one: ValueKind, other: ValueKind) -> ValueKind:
    """The kind of a variable that is sometimes of one kind and sometimes of another."""
    if one == other:
        return one
    if isinstance(one, Number) and isinstance(other, Number) and WORD not in (one, other):
        return FLOAT if FLOAT in (one, other) else INT
    if isinstance(one, Array) and isinstance(other, Array) and (one.item, one.ndim) == (other.item, other.ndim):
        return Array(one.item, one.ndim, one.dense and other.dense, one.origin | other.origin)
    if isinstance(one, Address) or isinstance(other, Address):
        return joined(inside(one), inside(other))
    if isinstance(one, Tuple) and isinstance(other, Tuple) and one.is_like(other):
        return replace(one, items=tuple(map(joined, one.items, other.items)))
    raise NotAKernel(f"a variable is {described(one)} here and {described(other)} there")


def marked(kind: ValueKind, numbers: Iterator[int]) -> ValueKind:
    """The kind of an argument, with a number for each array."""
    match kind:
        case Array():
            return replace(kind, origin=frozenset([next(numbers)]))
        case Tuple():
            return replace(kind, items=tuple(marked(item, numbers) for item in kind.items))
        case Address():
            return Address(replace(kind.of, items=tuple(marked(item, numbers) for item in kind.of.items)))
    return kind


def described(kind: ValueKind) -> str:
    """The kind in a few letters, for messages and names of files."""
    match kind:
        case Number():
            return kind.name
        case Array():
            return f"{kind.item.name}[{','.join(':' * kind.ndim)}{'' if kind.dense else '*'}]"
        case Tuple():
            return f"{kind.title}({', '.join(map(described, kind.items))})"
        case Address():
            return f"@{described(kind.of)}"
    return "None"
