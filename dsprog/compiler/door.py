"""The door by which Python calls a kernel: arguments are looked at and taken apart, results become Python's objects.

It is a function of Python's own C interface, written in LLVM's language, that answers ``NotImplemented`` to arguments
of other kinds. NumPy's arrays are read where their C structure has the address, sizes, strides and flags, as every
extension module does. Python goes on with other threads while a kernel runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.compiler.kinds import BOOL, FLOAT, INT, NOTHING, Address, Array, NotAKernel, Tuple, ValueKind, described
from dsprog.compiler.reading import Function
from dsprog.compiler.writer import Writer

HEAD = object.__basicsize__  # of every object; its type is named at the end of it
ALIGNED, DENSE, WRITEABLE = 0x100, 0x1, 0x400
# places in the table of what a door compares with: types, two things, and then the classes of NamedTuples
COMPARED = (np.ndarray, float, np.float64, int, np.int64, bool, np.bool_, NotImplemented, None)
ARRAY, OTHER, NONE = 0, 7, 8
ACCEPTED = {FLOAT: (1, 2), INT: (3, 4), BOOL: (5, 6)}

TEXT = f"""\
define internal i1 @is_of(ptr %object, ptr %type) alwaysinline nounwind {{
  %place = getelementptr i8, ptr %object, i64 {HEAD - 8}
  %found = load ptr, ptr %place
  %same = icmp eq ptr %found, %type
  ret i1 %same
}}
define internal i1 @take_array(ptr %object, ptr %types, i32 %code, i32 %ndim, i32 %flags, ptr %slots) noinline {{
  %array = load ptr, ptr %types
  %is_array = call i1 @is_of(ptr %object, ptr %array)
  br i1 %is_array, label %look, label %other
look:
  %ndim_place = getelementptr i8, ptr %object, i64 {HEAD + 8}
  %found_ndim = load i32, ptr %ndim_place
  %flags_place = getelementptr i8, ptr %object, i64 {HEAD + 48}
  %found_flags = load i32, ptr %flags_place
  %type_place = getelementptr i8, ptr %object, i64 {HEAD + 40}
  %type = load ptr, ptr %type_place
  %code_place = getelementptr i8, ptr %type, i64 {HEAD + 12}
  %found_code = load i32, ptr %code_place
  %order_place = getelementptr i8, ptr %type, i64 {HEAD + 10}
  %order = load i8, ptr %order_place
  %same_ndim = icmp eq i32 %found_ndim, %ndim
  %same_code = icmp eq i32 %found_code, %code
  %masked = and i32 %found_flags, %flags
  %same_flags = icmp eq i32 %masked, %flags
  %native = icmp ne i8 %order, {ord(">")}
  %one = and i1 %same_ndim, %same_code
  %two = and i1 %same_flags, %native
  %fits = and i1 %one, %two
  br i1 %fits, label %take, label %other
take:
  %data_place = getelementptr i8, ptr %object, i64 {HEAD}
  %data = load ptr, ptr %data_place
  store ptr %data, ptr %slots
  %bytes32 = mul i32 %ndim, 8
  %bytes = zext i32 %bytes32 to i64
  %sizes_place = getelementptr i8, ptr %object, i64 {HEAD + 16}
  %sizes = load ptr, ptr %sizes_place
  %sizes_slot = getelementptr i8, ptr %slots, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr %sizes_slot, ptr %sizes, i64 %bytes, i1 false)
  %dense = and i32 %flags, {DENSE}
  %is_dense = icmp ne i32 %dense, 0
  br i1 %is_dense, label %done, label %more
more:
  %strides_place = getelementptr i8, ptr %object, i64 {HEAD + 24}
  %strides = load ptr, ptr %strides_place
  %strides_slot = getelementptr i8, ptr %sizes_slot, i64 %bytes
  call void @llvm.memcpy.p0.p0.i64(ptr %strides_slot, ptr %strides, i64 %bytes, i1 false)
  br label %done
done:
  ret i1 true
other:
  ret i1 false
}}
declare ptr @PyBytes_AsString(ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyErr_Occurred()
declare ptr @PyErr_NoMemory()
declare void @PyErr_Clear()
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)"""
SYMBOLS = [line.split("@")[1].split("(")[0] for line in TEXT.splitlines() if line.startswith("declare")]
SYMBOLS += ["PyMem_RawMalloc", "PyMem_RawFree"]


def classes_of(values: tuple[Any, ...]) -> list[type]:
    """Classes of the tuples among the values and in them, in the order in which a door meets them."""
    found: list[type] = []
    for value in values:
        if isinstance(value, tuple):
            found += [type(value), *classes_of(value)]
    return found


class Door:
    """The text of a door."""

    def __init__(self, function: Function, kinds: tuple[ValueKind, ...], written: set[int]) -> None:
        self.w, self.classes, self.written = Writer(), len(COMPARED), written
        w = self.w
        self.types = w.get("call ptr @PyBytes_AsString(ptr %self)")
        self.check(w.get(f"icmp eq i64 %count, {len(kinds)}"))
        arguments = [part for k, kind in enumerate(kinds) for part in self.argument(kind, k)]
        fault = w.get("call ptr @PyErr_Occurred()")  # of an integer that is too large
        call, failed = w.label("call"), w.label("failed")
        w.fork(w.get(f"icmp eq ptr {fault}, null"), call, failed)
        w.begin(failed)
        w.end("ret ptr null")
        w.begin(call)
        self.run(function, arguments)
        w.begin("other")
        w.do("call void @PyErr_Clear()")
        w.end(f"ret ptr {self.known(OTHER)}")

    def text(self, symbol: str) -> str:
        """The function."""
        head = f"define ptr @{symbol}(ptr %self, ptr %arguments, i64 %count) {{\nentry:"
        return "\n".join([head, *self.w.entry, *self.w.lines, "}"])

    def compared(self, place: int) -> str:
        """A thing of the table."""
        return self.w.get(f"load ptr, ptr {self.w.get(f'getelementptr ptr, ptr {self.types}, i64 {place}')}")

    def known(self, place: int) -> str:
        """A thing of the table, to be returned."""
        thing = self.compared(place)
        self.w.do(f"call void @Py_IncRef(ptr {thing})")
        return thing

    def check(self, test: str) -> None:
        """Go on if this is true."""
        fits = self.w.label("fits")
        self.w.fork(test, fits, "other")
        self.w.begin(fits)

    # -- arguments --------------------------------------------------------------------------------------------------

    def argument(self, kind: ValueKind, place: int) -> list[str]:
        """The machine values of an argument, as they are handed on."""
        thing = self.w.get(f"load ptr, ptr {self.w.get(f'getelementptr ptr, ptr %arguments, i64 {place}')}")
        if isinstance(kind, Address):
            room = self.w.room("i64", max(1, len(kind.of.parts)))
            self.take(kind.of, thing, room, 0)
            return [f"ptr {room}"]
        if not kind.parts:
            self.take(kind, thing, "", 0)
            return []
        room = self.w.room("i64", len(kind.parts))
        self.take(kind, thing, room, 0)
        slots = [self.slot(room, k) for k in range(len(kind.parts))]
        return [f"{r} {self.w.get(f'load {r}, ptr {slot}')}" for r, slot in zip(kind.parts, slots)]

    def slot(self, room: str, place: int) -> str:
        """Where a machine value lies."""
        return self.w.get(f"getelementptr i64, ptr {room}, i64 {place}") if place else room

    def take(self, kind: ValueKind, thing: str, room: str, place: int) -> None:
        """Take an object apart, into its slots."""
        w = self.w
        if isinstance(kind, Array):
            wanted = ALIGNED | (DENSE if kind.dense else 0) | (WRITEABLE if kind.origin & self.written else 0)
            what = f"i32 {kind.item.code}, i32 {kind.ndim}, i32 {wanted}, ptr {self.slot(room, place)}"
            self.check(w.get(f"call i1 @take_array(ptr {thing}, ptr {self.types}, {what})"))
        elif isinstance(kind, Tuple):
            self.check(w.get(f"call i1 @is_of(ptr {thing}, ptr {self.compared(self.classes)})"))
            self.classes += 1
            self.check(w.get(f"icmp eq i64 {w.get(f'call i64 @PyTuple_Size(ptr {thing})')}, {len(kind.items)}"))
            for k, item in enumerate(kind.items):
                one = w.get(f"call ptr @PyTuple_GetItem(ptr {thing}, i64 {k})")
                self.take(item, one, room, place + kind.place(k).start)
        elif kind == NOTHING:
            self.check(w.get(f"icmp eq ptr {thing}, {self.compared(NONE)}"))
        else:
            self.take_number(kind, thing, self.slot(room, place))

    def take_number(self, kind: ValueKind, thing: str, slot: str) -> None:
        """A number into its slot."""
        if kind not in ACCEPTED:
            raise NotAKernel(f"Python cannot give a {described(kind)} to a kernel")
        w = self.w
        tests = [w.get(f"call i1 @is_of(ptr {thing}, ptr {self.compared(place)})") for place in ACCEPTED[kind]]
        self.check(w.get(f"or i1 {tests[0]}, {tests[1]}"))
        if kind is FLOAT:
            w.do(f"store double {w.get(f'call double @PyFloat_AsDouble(ptr {thing})')}, ptr {slot}")
        elif kind is INT:
            w.do(f"store i64 {w.get(f'call i64 @PyLong_AsLongLong(ptr {thing})')}, ptr {slot}")
        else:
            true = w.get(f"icmp ne i32 {w.get(f'call i32 @PyObject_IsTrue(ptr {thing})')}, 0")
            w.do(f"store i1 {true}, ptr {slot}")

    # -- the call and its result ------------------------------------------------------------------------------------

    def run(self, function: Function, arguments: list[str]) -> None:
        """Call the kernel, without Python's lock, and return what it returns."""
        w = self.w
        w.entry += ["  %memory = alloca {ptr, i64}, align 8", "  store {ptr, i64} zeroinitializer, ptr %memory"]
        thread = w.get("call ptr @PyEval_SaveThread()")
        result = function.called(w, arguments)
        w.do(f"call void @PyEval_RestoreThread(ptr {thread})")
        if function.takes:
            full, fine = w.label("full"), w.label("fine")
            w.fork(w.get("call i1 @is_full(ptr %memory)"), full, fine)
            w.begin(full)
            w.end(f"ret ptr {w.get('call ptr @PyErr_NoMemory()')}")
            w.begin(fine)
        w.end(f"ret ptr {self.given(result.kind, result.parts)}")

    def given(self, kind: ValueKind, parts: tuple[str, ...]) -> str:
        """An object of Python that is the same."""
        w = self.w
        if kind == NOTHING:
            return self.known(NONE)
        if isinstance(kind, Tuple):
            whole = w.get(f"call ptr @PyTuple_New(i64 {len(kind.items)})")
            for k, item in enumerate(kind.items):
                w.get(f"call i32 @PyTuple_SetItem(ptr {whole}, i64 {k}, ptr {self.given(item, parts[kind.place(k)])})")
            return whole
        if kind is FLOAT:
            return w.get(f"call ptr @PyFloat_FromDouble(double {parts[0]})")
        if kind is INT:
            return w.get(f"call ptr @PyLong_FromLongLong(i64 {parts[0]})")
        if kind is BOOL:
            return w.get(f"call ptr @PyBool_FromLong(i64 {w.get(f'zext i1 {parts[0]} to i64')})")
        raise NotAKernel(f"Python cannot take a {described(kind)} from a kernel")
