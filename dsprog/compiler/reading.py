"""One reading of a kernel for arguments of some kinds: what its names stand for, and the code that has been written.

A kernel is read again until the kinds of its variables are known: a variable that is an integer here and a float there
is a float everywhere. What statements and expressions mean is registered by the modules that know it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from dsprog.compiler import arrays
from dsprog.compiler.kinds import (
    FLOAT,
    INT,
    Address,
    Array,
    NotAKernel,
    Number,
    Tuple,
    ValueKind,
    described,
    joined,
)  # fmt: skip
from dsprog.compiler.numbers import converted
from dsprog.compiler.scopes import Scopes
from dsprog.compiler.writer import NONE, Value, Writer

MEANINGS: dict[type[ast.AST], Callable[[Reading, Any], Any]] = {}


def means(*nodes: type[ast.AST]) -> Callable[[Callable[[Reading, Any], Any]], Callable[[Reading, Any], Any]]:
    """Register what nodes of a kind mean."""

    def register(meaning: Callable[[Reading, Any], Any]) -> Callable[[Reading, Any], Any]:
        MEANINGS.update(dict.fromkeys(nodes, meaning))
        return meaning

    return register


class Function(NamedTuple):
    """A function of a module: what it returns, and whether it takes memory."""

    name: str
    returns: ValueKind
    takes: bool
    text: str

    def called(self, w: Writer, arguments: list[str]) -> Value:
        """The instructions of a call."""
        call = f"call {returned(self.returns)} @{self.name}({', '.join(['ptr %memory'] * self.takes + arguments)})"
        count = len(self.returns.parts)
        if count == 0:
            w.do(call)
            return NONE
        if count == 1:
            return Value(self.returns, (w.get(call),))
        whole = w.get(call)
        parts = [w.get(f"extractvalue {returned(self.returns)} {whole}, {k}") for k in range(count)]
        return Value(self.returns, tuple(parts))


class Functions(Protocol):
    """What a reading asks about other kernels."""

    line: int
    written: set[int]

    def function(self, kernel: Any, kinds: tuple[ValueKind, ...]) -> Function:
        """The function of a kernel."""

    def meaning(self, name: str) -> Any:
        """What a name that is not local means."""


class Known(NamedTuple):
    """Something that is known when a kernel is compiled: a module, a function, a class, a number."""

    thing: Any


class Reading:
    """The text of a function so far, and what the names in it stand for."""

    def __init__(
        self, functions: Functions, tree: ast.FunctionDef, kinds: tuple[ValueKind, ...], before: Reading | None
    ) -> None:
        self.functions, self.w = functions, Writer()
        self.scopes: Scopes = Scopes(tree) if before is None else before.scopes
        # of variables, of what is returned, and whether memory is taken: from the reading before
        self.kinds: dict[str, ValueKind] = {} if before is None else before.kinds
        self.returns: ValueKind | None = None if before is None else before.returns
        self.takes: bool = before is not None and before.takes
        self.is_last = True
        self.lets: dict[str, Value] = {}
        self.slots: dict[tuple[str, ValueKind], list[str]] = {}
        self.loops: list[tuple[str, str]] = []  # where the next turn begins, and where a break leads
        self.left: set[str] = set()  # ends of loops that are left by a break
        self.parameters: list[str] = []
        for argument, kind in zip(tree.args.args, kinds, strict=True):
            parts = tuple(f"%a{len(self.parameters) + k}" for k in range(len(kind.parts)))
            mark = " noalias readonly" if isinstance(kind, Address) else ""
            self.parameters += [f"{register}{mark} {part}" for register, part in zip(kind.parts, parts)]
            self.bind(argument.arg, Value(kind, parts))
        self.suite(tree.body)

    def suite(self, statements: list[ast.stmt]) -> None:
        """One statement after the other."""
        for statement in statements:
            if self.w.is_open:
                self.functions.line = statement.lineno
                self.read(statement)

    def read(self, node: ast.AST) -> Any:
        """What a node means."""
        if type(node) not in MEANINGS:
            raise NotAKernel(f"kernels know no {type(node).__name__}")
        return MEANINGS[type(node)](self, node)

    # -- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        """A name stands for a value from now on."""
        if name in self.scopes.lets:
            self.lets[name] = value
            return
        if name in self.kinds:
            kind = joined(self.kinds[name], value.kind)
            self.is_last = self.is_last and kind == self.kinds[name]
            self.kinds[name] = kind
        kind = self.kinds.setdefault(name, value.kind)
        for slot, register, part in zip(self.slots_of(name, kind), kind.parts, self.made(value, kind).parts):
            self.w.do(f"store {register} {part}, ptr {slot}")

    def slots_of(self, name: str, kind: ValueKind) -> list[str]:
        """Memory of a variable."""
        if (name, kind) not in self.slots:
            rooms = [self.w.room(register) for register in kind.parts]
            self.w.entry += [f"  store {r} zeroinitializer, ptr {m}" for r, m in zip(kind.parts, rooms)]
            self.slots[name, kind] = rooms
        return self.slots[name, kind]

    def named(self, name: str) -> Value:
        """What a local name stands for."""
        if name in self.lets:
            return self.lets[name]
        if name not in self.kinds:
            raise NotAKernel(f"{name} is used before it is anything")
        kind = self.kinds[name]
        parts = [self.w.get(f"load {r}, ptr {m}") for r, m in zip(kind.parts, self.slots_of(name, kind))]
        return Value(kind, tuple(parts))

    def thing(self, node: ast.expr) -> Known | None:
        """What an expression is, where that is known without running the kernel."""
        if isinstance(node, ast.Constant):
            return Known(node.value)
        if isinstance(node, ast.Name) and node.id not in self.scopes.locals:
            return Known(self.functions.meaning(node.id))
        if isinstance(node, ast.Attribute):
            owner = self.thing(node.value)
            if owner is not None and owner.thing is not np:  # what a kernel names is part of its digest
                raise NotAKernel(f"{ast.unparse(node)} needs a name in the module of the kernel")
            if owner is None:
                return None
            if not hasattr(np, node.attr):
                raise NotAKernel(f"NumPy has no {node.attr}")
            return Known(getattr(np, node.attr))
        return None

    # -- values -----------------------------------------------------------------------------------------------------

    def number(self, node: ast.expr) -> Value:
        """The value of an expression that is a number."""
        value: Value = self.read(node)
        if not isinstance(value.kind, Number):
            raise NotAKernel(f"{ast.unparse(node)} is no number")
        return value

    def integer(self, node: ast.expr) -> Value:
        """The value of an expression that is an integer."""
        return self.integer_of(self.number(node), node)

    def integer_of(self, value: Value, node: ast.expr) -> Value:
        """The value that an expression has, if it is an integer."""
        if value.kind is FLOAT:
            raise NotAKernel(f"{ast.unparse(node)} is no integer")
        return converted(self.w, value, INT)

    def made(self, value: Value, kind: ValueKind) -> Value:
        """The value as one of a kind that it was joined to."""
        if value.kind == kind:
            return value
        if isinstance(kind, Array):
            return arrays.spread(self.w, value)
        if isinstance(kind, Tuple):
            items = [self.made(self.item(value, k), wanted) for k, wanted in enumerate(kind.items)]
            return Value(kind, tuple(part for item in items for part in item.parts))
        return converted(self.w, value, kind)

    def item(self, value: Value, index: int) -> Value:
        """An item of a tuple, also of one in memory, where nothing changes."""
        kind = value.kind.of if isinstance(value.kind, Address) else value.kind
        if not isinstance(kind, Tuple):
            raise NotAKernel(f"a tuple is needed, and not {described(kind)}")
        if not -len(kind.items) <= index < len(kind.items):
            raise NotAKernel(f"{described(kind)} has no item {index}")
        item, place = kind.items[index], kind.place(index)
        if isinstance(value.kind, Tuple):
            return Value(item, value.parts[place])
        if isinstance(item, Tuple):
            return Value(Address(item), (self.slot(value, place.start),))
        slots = [self.slot(value, k) for k in range(place.start, place.stop)]
        loads = [f"load {r}, ptr {slot}, align 8" for r, slot in zip(item.parts, slots)]
        return Value(item, tuple(map(self.w.get, loads)))

    def slot(self, value: Value, place: int) -> str:
        """Where a machine value of a tuple in memory lies."""
        return self.w.get(f"getelementptr inbounds i64, ptr {value.part}, i64 {place}") if place else value.part

    # -- memory -----------------------------------------------------------------------------------------------------

    def take(self, name: str, lengths: list[Value]) -> Value:
        """A new array, if there is memory."""
        fresh = arrays.new(self.w, name, lengths)
        self.fail_if(self.w.get(f"icmp eq ptr {fresh.part}, null"))
        return fresh

    def fail_if(self, test: str) -> None:
        """Where memory is at an end, the function ends."""
        self.is_last = self.is_last and self.takes
        self.takes = True
        fine = self.w.label("fine")
        self.w.fork(test, "failed", fine)
        self.w.begin(fine)


def returned(kind: ValueKind) -> str:
    """LLVM's type of what a function returns."""
    if len(kind.parts) < 2:
        return kind.parts[0] if kind.parts else "void"
    return "{" + ", ".join(kind.parts) + "}"


def holds_arrays(kind: ValueKind) -> bool:
    """Whether there may be arrays in a value."""
    if isinstance(kind, Tuple):
        return any(map(holds_arrays, kind.items))
    return isinstance(kind, Array)
