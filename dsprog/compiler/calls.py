"""What calls in a kernel mean: other kernels, NamedTuples, new arrays, and some functions of Python and NumPy."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import numpy as np

from dsprog.compiler import arrays
from dsprog.compiler.expressions import packed
from dsprog.compiler.kinds import FLOAT, INT, ITEMS, Array, NotAKernel, Number, described
from dsprog.compiler.numbers import CASTS, FUNCTIONS, absolute, called, converted, extreme, tested
from dsprog.compiler.reading import Reading, means
from dsprog.compiler.writer import Value, literal

NEW = (np.empty, np.zeros)
TESTS = (np.isnan, np.isinf, np.isfinite)


@means(ast.Call)
def call(r: Reading, node: ast.Call) -> Value:
    """A call of something that is known, or a method of an array."""
    known = r.thing(node.func)
    if known is None:
        return copied(r, node)
    thing = known.thing
    if not callable(thing):
        raise NotAKernel(f"kernels do not know {ast.unparse(node.func)}")
    if thing in NEW:
        return fresh(r, node, thing is np.zeros)
    if node.keywords:
        raise NotAKernel(f"{ast.unparse(node)}: arguments have no names in kernels")
    values = [r.read(one) for one in node.args]
    if is_kernel(thing):
        return of_kernel(r, thing, values)
    if isinstance(thing, type) and issubclass(thing, tuple) and hasattr(thing, "_fields"):
        if len(values) != len(thing._fields):
            raise NotAKernel(f"{thing.__name__} has {len(thing._fields)} fields")
        return packed(values, thing.__name__, thing._fields)
    if thing is len and len(values) == 1:
        return Value(INT, arrays.sizes(*values)[:1])
    return of_numbers(r, thing, values, ast.unparse(node.func))


def is_kernel(thing: Any) -> bool:
    """Whether a thing is a kernel: an object that holds a function."""
    return isinstance(getattr(thing, "function", None), FunctionType)


def of_kernel(r: Reading, kernel: Any, values: list[Value]) -> Value:
    """Another kernel."""
    function = r.functions.function(kernel, tuple(value.kind for value in values))
    arguments = [f"{register} {part}" for value in values for register, part in zip(value.kind.parts, value.parts)]
    result = function.called(r.w, arguments)
    if function.takes:
        r.fail_if(r.w.get("call i1 @is_full(ptr %memory)"))
    return result


def of_numbers(r: Reading, thing: Any, values: list[Value], name: str) -> Value:
    """A function of numbers."""
    for value in values:
        if not isinstance(value.kind, Number):
            raise NotAKernel(f"{name} of {described(value.kind)}")
    if thing in (max, min) and len(values) > 1:
        return extreme(r.w, ast.Gt() if thing is max else ast.Lt(), values)
    if len(values) == 1:
        (value,) = values
        if thing in (abs, np.abs):
            return absolute(r.w, value)
        if thing in TESTS:
            return tested(r.w, thing, value)
        if thing in CASTS:
            return converted(r.w, value, CASTS[thing])
        if thing in FUNCTIONS:
            return called(r.w, FUNCTIONS[thing], value)
    raise NotAKernel(f"kernels do not know {name} of {len(values)} arguments")


def copied(r: Reading, node: ast.Call) -> Value:
    """``array.copy()``."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "copy" or node.args or node.keywords:
        raise NotAKernel(f"kernels do not know {ast.unparse(node.func)}")
    value: Value = r.read(node.func.value)
    lengths = [Value(INT, (size,)) for size in arrays.sizes(value)]
    result = r.take(arrays.kind_of(value).item.name, lengths)
    arrays.copy(r.w, value, result)
    return result


def fresh(r: Reading, node: ast.Call, is_zero: bool) -> Value:
    """``np.empty(n)``, ``np.zeros((m, n), dtype=np.int64)``."""
    types = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
    if len(node.args) + len(node.keywords) != 1 + len(types) or len(types) > 1 or not node.args:
        raise NotAKernel(f"{ast.unparse(node)}: a shape and a type are all that kernels know")
    shape = node.args[0]
    value: Value = r.read(shape)
    parts = value.parts if not isinstance(value.kind, Number) else (r.integer(shape).part,)
    name = "float64"
    if types:
        known = r.thing(types[0])
        if known is None:
            raise NotAKernel(f"{ast.unparse(types[0])} is not known when the kernel is compiled")
        name = np.dtype(known.thing).name
    if name not in ITEMS or isinstance(value.kind, Array) or set(value.kind.parts) != {"i64"}:
        raise NotAKernel(f"{ast.unparse(node)} is no array that kernels know")
    result = r.take(name, [Value(INT, (part,)) for part in parts])
    if is_zero:
        arrays.fill(r.w, result, literal(0.0 if ITEMS[name].number is FLOAT else 0))
    return result
