"""Arrays in kernels: entries, views, new ones, and slices that are filled with a number.

Indices do not count from the end, unless one is written as a negative number, and nobody looks whether they are within:
with ``DSPROG_CHECK_INDICES`` set, kernels look, and end the process where one is not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from dsprog.compiler.kinds import INT, ITEMS, Array, Item, NotAKernel, described
from dsprog.compiler.numbers import converted
from dsprog.compiler.writer import Value, Writer

CHECKS = bool(os.environ.get("DSPROG_CHECK_INDICES"))
Slice = tuple[Value | None, Value | None]  # from, to


def kind_of(value: Value) -> Array:
    """The kind of an array; everything else is refused."""
    if isinstance(value.kind, Array):
        return value.kind
    raise NotAKernel(f"an array is needed, and not {described(value.kind)}")


def sizes(value: Value) -> tuple[str, ...]:
    """Of each dimension."""
    return value.parts[1 : 1 + kind_of(value).ndim]


def strides(w: Writer, value: Value) -> tuple[str, ...]:
    """Steps of each dimension, in bytes."""
    kind = kind_of(value)
    if not kind.dense:
        return value.parts[1 + kind.ndim :]
    steps = [str(kind.item.size)]
    for size in reversed(sizes(value)[1:]):
        steps.insert(0, w.get(f"mul nsw i64 {steps[0]}, {size}"))
    return tuple(steps)


def spread(w: Writer, value: Value) -> Value:
    """The same array, with its strides."""
    kind = kind_of(value)
    if not kind.dense:
        return value
    return Value(replace(kind, dense=False), (value.part, *sizes(value), *strides(w, value)))


def within(w: Writer, index: Value, size: str) -> str:
    """The index as a machine value, a negative constant from the end."""
    part = index.part
    if index.known is not None and index.known < 0:
        part = w.get(f"add i64 {size}, {index.known}")
    if CHECKS:
        insist(w, w.get(f"icmp ult i64 {part}, {size}"))
    return part


def insist(w: Writer, test: str) -> None:
    """The process ends unless this is true."""
    fine, bad = w.label("fine"), w.label("bad")
    w.fork(test, fine, bad)
    w.begin(bad)
    w.do("call void @abort()")
    w.end("unreachable")
    w.begin(fine)


def place(w: Writer, value: Value, indices: Sequence[Value]) -> str:
    """The address of an entry, or of the first of what fewer indices leave."""
    kind = kind_of(value)
    parts = [within(w, index, size) for index, size in zip(indices, sizes(value))]
    if not kind.dense:
        return moved(w, value.part, parts, strides(w, value))
    offset = parts[0]
    for dimension, part in enumerate(parts[1:], 1):
        offset = w.get(f"add nsw i64 {w.get(f'mul nsw i64 {offset}, {sizes(value)[dimension]}')}, {part}")
    for size in sizes(value)[len(parts) :]:
        offset = w.get(f"mul nsw i64 {offset}, {size}")
    return w.get(f"getelementptr inbounds {kind.item.memory}, ptr {value.part}, i64 {offset}")


def moved(w: Writer, address: str, steps: Sequence[str], strides: Sequence[str]) -> str:
    """So many steps from an address."""
    for step, stride in zip(steps, strides):
        offset = w.get(f"mul nsw i64 {step}, {stride}")
        address = w.get(f"getelementptr inbounds i8, ptr {address}, i64 {offset}")
    return address


def entry(w: Writer, value: Value, indices: Sequence[Value]) -> Value:
    """An entry of an array, or the view of its last dimensions."""
    kind = kind_of(value)
    if len(indices) > kind.ndim:
        raise NotAKernel(f"{len(indices)} indices for {kind.ndim} dimensions")
    address = place(w, value, indices)
    if len(indices) == kind.ndim:
        return loaded(w, kind.item, address)
    left = len(indices)
    rest = sizes(value)[left:] + (() if kind.dense else strides(w, value)[left:])
    return Value(replace(kind, ndim=kind.ndim - left), (address, *rest))


def loaded(w: Writer, item: Item, address: str) -> Value:
    """The number at an address."""
    part = w.get(f"load {item.memory}, ptr {address}, align {item.size}")
    if item.name == "bool":
        part = w.get(f"icmp ne i8 {part}, 0")
    elif item.memory == "float":
        part = w.get(f"fpext float {part} to double")
    elif item.memory not in ("i64", "double"):
        part = w.get(f"{'zext' if item.name.startswith('u') else 'sext'} {item.memory} {part} to i64")
    return Value(item.number, (part,))


def store(w: Writer, item: Item, address: str, value: Value) -> None:
    """Put a number there."""
    part = converted(w, value, item.number).part
    if item.name == "bool":
        part = w.get(f"zext i1 {part} to i8")
    elif item.memory == "float":
        part = w.get(f"fptrunc double {part} to float")
    elif item.memory not in ("i64", "double"):
        part = w.get(f"trunc i64 {part} to {item.memory}")
    w.do(f"store {item.memory} {part}, ptr {address}, align {item.size}")


def view(w: Writer, value: Value, indices: Sequence[Value | Slice]) -> Value:
    """The view that some indices and slices leave: those that are missing are whole."""
    kind = kind_of(value)
    if len(indices) > kind.ndim:
        raise NotAKernel(f"{len(indices)} indices for {kind.ndim} dimensions")
    every: list[Value | Slice] = [*indices, *[(None, None)] * (kind.ndim - len(indices))]
    address, rest, steps = value.part, [], []
    stays = kind.dense and all(isinstance(index, tuple) for index in every[1:])
    stays = stays and all(index == (None, None) for index in every[1:])
    for index, size, stride in zip(every, sizes(value), strides(w, value)):
        if isinstance(index, Value):
            address = moved(w, address, [within(w, index, size)], [stride])
            continue
        start, stop = (clipped(w, end, size) for end in index)
        if start is not None:
            address = moved(w, address, [start], [stride])
        length = stop or size
        if start is not None:
            length = w.get(f"sub nsw i64 {length}, {start}")
            length = w.get(f"call i64 @llvm.smax.i64(i64 {length}, i64 0)")
        rest.append(length)
        steps.append(stride)
    parts = (address, *rest) if stays else (address, *rest, *steps)
    return Value(replace(kind, ndim=len(rest), dense=stays), parts)


def clipped(w: Writer, end: Value | None, size: str) -> str | None:
    """An end of a slice, not beyond the array."""
    if end is None:
        return None
    if end.known is not None and end.known < 0:
        raise NotAKernel("ends of slices do not count from the end")
    if CHECKS:
        insist(w, w.get(f"icmp sge i64 {end.part}, 0"))
    part = w.get(f"call i64 @llvm.smin.i64(i64 {end.part}, i64 {size})")
    return w.get(f"call i64 @llvm.smax.i64(i64 {part}, i64 0)")


def counted(w: Writer, parts: Sequence[str]) -> str:
    """The product of sizes."""
    total = parts[0]
    for part in parts[1:]:
        total = w.get(f"mul i64 {total}, {part}")
    return total


def is_entry(value: Value, indices: Sequence[Value | Slice]) -> bool:
    """Whether indices name one entry."""
    return len(indices) == kind_of(value).ndim and all(isinstance(index, Value) for index in indices)


def new(w: Writer, name: str, lengths: Sequence[Value]) -> Value:
    """A new array, at null if there is no memory."""
    item, parts = ITEMS[name], [length.part for length in lengths]
    count = w.get(f"mul i64 {counted(w, parts)}, {item.size}")
    return Value(Array(item, len(parts)), (w.get(f"call ptr @take(ptr %memory, i64 {count})"), *parts))


def fill(w: Writer, value: Value, number: Value) -> None:
    """Put a number into every entry."""
    kind = kind_of(value)
    part = converted(w, number, kind.item.number)
    if kind.dense and kind.ndim > 1:
        value = Value(Array(kind.item, 1), (value.part, counted(w, sizes(value))))
    fill_each(w, value, part)


def fill_each(w: Writer, value: Value, number: Value) -> None:
    """A loop over the first dimension, and others within."""
    head, inside, end, before = w.label("fill"), w.label("each"), w.label("filled"), w.block
    index, following = w.label("%i"), w.label("%j")
    w.begin(head)
    spot = len(w.lines)
    w.fork(w.get(f"icmp slt i64 {index}, {sizes(value)[0]}"), inside, end)
    w.begin(inside)
    at = [Value(INT, (index,))]
    if kind_of(value).ndim == 1:
        store(w, kind_of(value).item, place(w, value, at), number)
    else:
        fill_each(w, entry(w, value, at), number)
    w.do(f"{following} = add nsw i64 {index}, 1")
    w.lines.insert(spot, f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{w.block} ]")
    w.go(head)
    w.begin(end)


def copy(w: Writer, value: Value, fresh: Value) -> None:
    """Put the entries of an array into a new one of its size."""
    kind = kind_of(value)
    if not kind.dense:
        raise NotAKernel("a copy of an array whose entries do not follow each other")
    count = w.get(f"mul i64 {counted(w, sizes(value))}, {kind.item.size}")
    w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {fresh.part}, ptr {value.part}, i64 {count}, i1 false)")


DECLARATIONS = """\
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @abort()"""
