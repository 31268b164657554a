"""What the expressions of a kernel mean, but for calls."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from dsprog.compiler import arrays
from dsprog.compiler.kinds import BOOL, INT, Address, Array, NotAKernel, Tuple, described, joined
from dsprog.compiler.numbers import calculated, compared, converted, negated
from dsprog.compiler.reading import Reading, means
from dsprog.compiler.writer import NONE, Value, literal


@means(ast.Constant)
def constant(r: Reading, node: ast.Constant) -> Value:
    """A number, or None."""
    return known(node.value, node)


def known(thing: Any, node: ast.expr) -> Value:
    """Something that is known, as a value."""
    if thing is None:
        return NONE
    if not isinstance(thing, (bool, int, float, np.bool_, np.integer, np.floating)):
        raise NotAKernel(f"{ast.unparse(node)} is no value in a kernel")
    return literal(thing)


@means(ast.Name)
def name(r: Reading, node: ast.Name) -> Value:
    """A variable, or a constant of the module."""
    thing = r.thing(node)
    return r.named(node.id) if thing is None else known(thing.thing, node)


@means(ast.Attribute)
def attribute(r: Reading, node: ast.Attribute) -> Value:
    """A field of a NamedTuple, the shape of an array, np.inf."""
    thing = r.thing(node)
    if thing is not None:
        return known(thing.thing, node)
    value: Value = r.read(node.value)
    if isinstance(value.kind, Array):
        if node.attr == "shape":
            return Value(Tuple((INT,) * value.kind.ndim), arrays.sizes(value))
        if node.attr == "size":
            return Value(INT, (arrays.counted(r.w, arrays.sizes(value)),))
    kind = value.kind.of if isinstance(value.kind, Address) else value.kind
    if isinstance(kind, Tuple) and node.attr in kind.names:
        return r.item(value, kind.names.index(node.attr))
    raise NotAKernel(f"{described(value.kind)} has no {node.attr}")


@means(ast.Tuple)
def several(r: Reading, node: ast.Tuple) -> Value:
    """``a, b``."""
    return packed([r.read(one) for one in node.elts])


def packed(values: list[Value], title: str = "", names: tuple[str, ...] = ()) -> Value:
    """A tuple of values."""
    kind = Tuple(tuple(value.kind for value in values), title, names)
    return Value(kind, tuple(part for value in values for part in value.parts))


@means(ast.Subscript)
def subscript(r: Reading, node: ast.Subscript) -> Value:
    """An entry or a view of an array, an item of a tuple."""
    value, places = into(r, node)
    if isinstance(value.kind, Array):
        if all(isinstance(place, Value) for place in places):
            return arrays.entry(r.w, value, places)
        return arrays.view(r.w, value, places)
    index = places[0]
    if len(places) > 1 or not isinstance(index, Value) or index.kind is not INT or index.known is None:
        raise NotAKernel("items of tuples are named by constants")
    return r.item(value, index.known)


def into(r: Reading, node: ast.Subscript) -> tuple[Value, list[Any]]:
    """What is indexed, and by what."""
    return r.read(node.value), indices(r, node.slice)


def indices(r: Reading, node: ast.expr) -> list[Any]:
    """Each of them a value, or the ends of a slice."""
    return [index(r, one) for one in (node.elts if isinstance(node, ast.Tuple) else [node])]


def index(r: Reading, node: ast.expr) -> Any:
    """One of them."""
    if not isinstance(node, ast.Slice):
        if (value := r.number(node)).kind is BOOL:
            raise NotAKernel(f"{ast.unparse(node)} is a truth value, and no index")
        return r.integer_of(value, node)
    if node.step is not None:
        raise NotAKernel("slices have no steps")
    return tuple(None if end is None else r.integer(end) for end in (node.lower, node.upper))


@means(ast.BinOp)
def binary(r: Reading, node: ast.BinOp) -> Value:
    """``a + b``."""
    return calculated(r.w, node.op, r.number(node.left), r.number(node.right))


@means(ast.UnaryOp)
def unary(r: Reading, node: ast.UnaryOp) -> Value:
    """``-a``, ``not a``."""
    if isinstance(node.op, ast.Not):
        return Value(BOOL, (truth(r, node),))
    return negated(r.w, node.op, r.number(node.operand))


@means(ast.Compare)
def comparison(r: Reading, node: ast.Compare) -> Value:
    """``a < b <= c``: what follows something false is not evaluated."""
    one, (*before, last) = r.number(node.left), zip(node.ops, node.comparators)
    ways, end = [], r.w.label("compared")
    for operator, right in before:
        other, further = r.number(right), r.w.label("further")
        ways.append(("false", r.w.block))
        r.w.fork(compared(r.w, operator, one, other).part, further, end)
        r.w.begin(further)
        one = other
    test = compared(r.w, last[0], one, r.number(last[1]))
    if not before:
        return test
    ways.append((test.part, r.w.block))
    r.w.begin(end)
    return Value(BOOL, (r.w.joined("i1", ways),))


@means(ast.BoolOp)
def connection(r: Reading, node: ast.BoolOp) -> Value:
    """``a and b``, ``a or b`` as a value, which is one of the operands: these must be truth values."""
    return Value(BOOL, (connected(r, node, is_value=True),))


def truth(r: Reading, node: ast.expr, is_value: bool = False) -> str:
    """Whether an expression is true; what is not needed for that is not evaluated."""
    if isinstance(node, ast.BoolOp):
        return connected(r, node, is_value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(r, node.operand)
        return {"true": "false", "false": "true"}.get(inner) or r.w.get(f"xor i1 {inner}, true")
    value = r.number(node)
    if is_value and value.kind is not BOOL:
        raise NotAKernel(f"{ast.unparse(node)} is no truth value: compare it with something")
    return converted(r.w, value, BOOL).part


def connected(r: Reading, node: ast.BoolOp, is_value: bool) -> str:
    """``and``, ``or``: each operand in a block of its own."""
    is_and, ways = isinstance(node.op, ast.And), []
    end = r.w.label("known")
    for one in node.values[:-1]:
        test, further = truth(r, one, is_value), r.w.label("and" if is_and else "or")
        ways.append(("false" if is_and else "true", r.w.block))
        r.w.fork(test, *((further, end) if is_and else (end, further)))
        r.w.begin(further)
    last = truth(r, node.values[-1], is_value)
    ways.append((last, r.w.block))
    r.w.begin(end)
    return r.w.joined("i1", ways)


@means(ast.IfExp)
def choice(r: Reading, node: ast.IfExp) -> Value:
    """``a if test else b``: both are written aside, until the kind of the whole is known."""
    w, end = r.w, r.w.label("chosen")
    labels, ways = (w.label("then"), w.label("else")), []
    w.fork(truth(r, node.test), *labels)
    for label, branch in zip(labels, (node.body, node.orelse)):
        lines: list[str] = []
        with w.aside(lines):
            w.begin(label)
            ways.append((lines, r.read(branch), w.block))
        w.is_open = False
    kind, made = joined(ways[0][1].kind, ways[1][1].kind), []
    for lines, value, block in ways:
        with w.aside(lines):
            made.append((r.made(value, kind), block))
            w.go(end)
        w.lines += lines
    w.begin(end)
    parts = [w.joined(r_, [(value.parts[k], block) for value, block in made]) for k, r_ in enumerate(kind.parts)]
    return Value(kind, tuple(parts))
