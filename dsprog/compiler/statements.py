"""What the statements of a kernel mean."""

from __future__ import annotations

import ast
from typing import Any

from dsprog.compiler import arrays
from dsprog.compiler.expressions import into, truth
from dsprog.compiler.kinds import INT, NotAKernel, Tuple, inside, joined
from dsprog.compiler.numbers import calculated
from dsprog.compiler.reading import Known, Reading, holds_arrays, means, returned
from dsprog.compiler.writer import NONE, Value, literal


@means(ast.Pass)
def nothing(r: Reading, node: ast.Pass) -> None:
    """``pass``."""


@means(ast.Expr)
def done(r: Reading, node: ast.Expr) -> None:
    """A call for what it does; a docstring."""
    if not isinstance(node.value, ast.Constant):
        r.read(node.value)


@means(ast.Assign)
def assigned(r: Reading, node: ast.Assign) -> None:
    """``a = b = 0``; where tuples are on both sides, all of the right side is evaluated first."""
    first = node.targets[0]
    if len(node.targets) == 1 and isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple):
        check_lengths(first, len(node.value.elts))
        for target, value in zip(first.elts, [r.read(value) for value in node.value.elts]):
            assign(r, target, value)
        return
    value = r.read(node.value)
    for target in node.targets:
        assign(r, target, value)


def check_lengths(targets: ast.Tuple, count: int) -> None:
    """A tuple is taken apart as a whole."""
    if len(targets.elts) != count:
        raise NotAKernel(f"{ast.unparse(targets)}: there are {count} items")


def assign(r: Reading, target: ast.expr, value: Value) -> None:
    """To a name, a tuple of targets, an entry, or all entries of a slice."""
    if isinstance(target, ast.Name):
        r.bind(target.id, value)
    elif isinstance(target, ast.Tuple):
        if isinstance(kind := inside(value.kind), Tuple):
            check_lengths(target, len(kind.items))
        for k, one in enumerate(target.elts):
            assign(r, one, r.item(value, k))
    elif isinstance(target, ast.Subscript):
        array, places = written(r, target)
        if arrays.is_entry(array, places):
            arrays.store(r.w, arrays.kind_of(array).item, arrays.place(r.w, array, places), value)
        else:
            arrays.fill(r.w, arrays.view(r.w, array, places), value)
    else:
        raise NotAKernel(f"nothing can be assigned to {ast.unparse(target)}")


def written(r: Reading, node: ast.Subscript) -> tuple[Value, list[Any]]:
    """What is indexed, and by what, to be changed there."""
    array, places = into(r, node)
    r.functions.written |= arrays.kind_of(array).origin
    return array, places


@means(ast.AugAssign)
def changed(r: Reading, node: ast.AugAssign) -> None:
    """``a += 1``, of a number."""
    if isinstance(node.target, ast.Name):
        before = r.named(node.target.id)
        r.bind(node.target.id, calculated(r.w, node.op, before, r.number(node.value)))
    elif isinstance(node.target, ast.Subscript):
        array, places = written(r, node.target)
        if not arrays.is_entry(array, places):
            raise NotAKernel("whole arrays are changed in loops")
        item, address = arrays.kind_of(array).item, arrays.place(r.w, array, places)
        before = arrays.loaded(r.w, item, address)
        arrays.store(r.w, item, address, calculated(r.w, node.op, before, r.number(node.value)))
    else:
        raise NotAKernel(f"nothing can be assigned to {ast.unparse(node.target)}")


@means(ast.If)
def condition(r: Reading, node: ast.If) -> None:
    """``if``, ``elif``, ``else``; what is known not to be reached is not read."""
    test = truth(r, node.test)
    if test in ("true", "false"):
        r.suite(node.body if test == "true" else node.orelse)
        return
    yes, no, end = r.w.label("then"), r.w.label("else"), r.w.label("fi")
    r.w.fork(test, yes, no if node.orelse else end)
    r.w.begin(yes)
    r.suite(node.body)
    goes_on = r.w.is_open or not node.orelse
    if node.orelse:
        if r.w.is_open:
            r.w.go(end)
        r.w.begin(no)
        r.suite(node.orelse)
        goes_on = goes_on or r.w.is_open
    if goes_on:
        r.w.begin(end)


@means(ast.While)
def while_loop(r: Reading, node: ast.While) -> None:
    """``while``, ``else``."""
    head, inside, end = r.w.label("while"), r.w.label("do"), r.w.label("done")
    exhausted = r.w.label("exhausted") if node.orelse else end
    r.w.begin(head)
    test = truth(r, node.test)
    if test != "true":
        r.w.fork(test, inside, exhausted)
        r.w.begin(inside)
    turn(r, node.body, head, end)
    if r.w.is_open:
        r.w.go(head)
    after(r, node, exhausted, end, test != "true")


@means(ast.For)
def for_loop(r: Reading, node: ast.For) -> None:
    """``for``, over a range or the entries of an array, ``else``."""
    if isinstance(node.iter, ast.Call) and r.thing(node.iter.func) == Known(range):
        if not 1 <= len(node.iter.args) <= 3 or node.iter.keywords:
            raise NotAKernel(f"{ast.unparse(node.iter)}: a range has one, two or three ends")
        ends = [r.integer(value) for value in node.iter.args]
        start, stop, step = {1: [literal(0), *ends, literal(1)], 2: [*ends, literal(1)]}.get(len(ends), ends)
        count(r, node, (start, stop, step), None)
    else:
        over = r.read(node.iter)
        count(r, node, (literal(0), Value(INT, arrays.sizes(over)[:1]), literal(1)), over)


def count(r: Reading, node: ast.For, ends: tuple[Value, Value, Value], over: Value | None) -> None:
    """A loop over a range; the index of the loop is not the variable, which may be changed."""
    start, stop, step = ends
    w, head, inside, following, end = r.w, *map(r.w.label, ("for", "do", "next", "done"))
    exhausted = w.label("exhausted") if node.orelse else end
    before, index, later = w.block, w.label("%i"), w.label("%j")
    w.begin(head)
    w.do(f"{index} = phi i64 [ {start.part}, %{before} ], [ {later}, %{following} ]")
    w.fork(is_within(r, index, stop, step), inside, exhausted)
    w.begin(inside)
    value = Value(INT, (index,))
    assign(r, node.target, value if over is None else arrays.entry(w, over, [value]))
    turn(r, node.body, following, end)
    w.begin(following)
    w.do(f"{later} = add nsw i64 {index}, {step.part}")
    w.go(head)
    after(r, node, exhausted, end, True)


def is_within(r: Reading, index: str, stop: Value, step: Value) -> str:
    """Whether an index is within a range."""
    if step.known == 0:
        raise NotAKernel("a range of steps of 0")
    up = r.w.get(f"icmp slt i64 {index}, {stop.part}") if step.known is None or step.known > 0 else ""
    down = r.w.get(f"icmp sgt i64 {index}, {stop.part}") if step.known is None or step.known < 0 else ""
    if up and down:
        ways = [r.w.get(f"icmp {sign} i64 {step.part}, 0") for sign in ("sgt", "slt")]
        return r.w.get(f"select i1 {ways[0]}, i1 {up}, i1 {r.w.get(f'and i1 {ways[1]}, {down}')}")
    return up or down


def turn(r: Reading, statements: list[ast.stmt], head: str, end: str) -> None:
    """The suite of a loop."""
    r.loops.append((head, end))
    r.suite(statements)
    r.loops.pop()


def after(r: Reading, node: ast.For | ast.While, exhausted: str, end: str, ends: bool) -> None:
    """Where a loop ends by itself, and where it is left: only if it is."""
    if node.orelse and ends:
        r.w.begin(exhausted)
        r.suite(node.orelse)
        ends = r.w.is_open
    if ends or end in r.left:
        r.w.begin(end)


@means(ast.Continue)
def next_turn(r: Reading, node: ast.Continue) -> None:
    """``continue``."""
    r.w.go(r.loops[-1][0])


@means(ast.Break)
def leave_loop(r: Reading, node: ast.Break) -> None:
    """``break``."""
    r.left.add(r.loops[-1][1])
    r.w.go(r.loops[-1][1])


@means(ast.Return)
def leave(r: Reading, node: ast.Return) -> None:
    """``return``."""
    give(r, NONE if node.value is None else r.read(node.value))


def give(r: Reading, value: Value) -> None:
    """Return a value; the arrays that were made here go, unless they may be in it."""
    kind = joined(r.returns or value.kind, value.kind)
    r.is_last = r.is_last and r.returns in (None, kind)
    r.returns = kind
    parts = r.made(value, kind).parts
    if r.takes and not holds_arrays(kind):
        r.w.do("call void @give_back(ptr %memory, ptr %mark)")
    if len(parts) < 2:
        r.w.end(f"ret {kind.parts[0]} {parts[0]}" if parts else "ret void")
        return
    whole = "zeroinitializer"
    for k, (register, part) in enumerate(zip(kind.parts, parts)):
        whole = r.w.get(f"insertvalue {returned(kind)} {whole}, {register} {part}, {k}")
    r.w.end(f"ret {returned(kind)} {whole}")
