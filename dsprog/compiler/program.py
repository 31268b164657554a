"""A kernel with all that it calls, as one module of LLVM's language.

New arrays are taken from the memory of a call: a chain of pieces. A function that returns no array gives back what it
took when it returns, and the door gives back the rest.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
from types import FunctionType
from typing import Any

from dsprog.compiler import arrays, calls, door, expressions, numbers, statements
from dsprog.compiler.kinds import NotAKernel, ValueKind, described
from dsprog.compiler.reading import Function, Reading, holds_arrays, returned
from dsprog.compiler.statements import give
from dsprog.compiler.writer import NONE

MOST_READINGS = 10
LANGUAGE = expressions, calls, statements  # they register what they know

MEMORY = """\
define internal ptr @take(ptr %memory, i64 %bytes) noinline nounwind {
  %all = add i64 %bytes, 16
  %piece = call ptr @PyMem_RawMalloc(i64 %all)
  %none = icmp eq ptr %piece, null
  br i1 %none, label %full, label %fine
full:
  %flag = getelementptr i64, ptr %memory, i64 1
  store i64 1, ptr %flag
  ret ptr null
fine:
  %last = load ptr, ptr %memory
  store ptr %last, ptr %piece
  store ptr %piece, ptr %memory
  %array = getelementptr i8, ptr %piece, i64 16
  ret ptr %array
}
define internal void @give_back(ptr %memory, ptr %mark) noinline nounwind {
  br label %each
each:
  %last = load ptr, ptr %memory
  %done = icmp eq ptr %last, %mark
  br i1 %done, label %end, label %one
one:
  %before = load ptr, ptr %last
  store ptr %before, ptr %memory
  call void @PyMem_RawFree(ptr %last)
  br label %each
end:
  ret void
}
define internal i1 @is_full(ptr %memory) alwaysinline nounwind {
  %flag = getelementptr i64, ptr %memory, i64 1
  %value = load i64, ptr %flag
  %full = icmp ne i64 %value, 0
  ret i1 %full
}
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)"""


def module_of(kernel: Any, kinds: tuple[ValueKind, ...], symbol: str) -> str:
    """The text of a module: a kernel for arguments of some kinds, and its door by the name of ``symbol``."""
    program = Program()
    entrance = door.Door(program.function(kernel, kinds), kinds)
    fixed = [numbers.DECLARATIONS, arrays.DECLARATIONS, MEMORY, door.TEXT, "!0 = !{}"]
    return "\n".join([*fixed, *program.texts, entrance.text(symbol)])


class Program:
    """The functions of a module, as they are asked for."""

    def __init__(self) -> None:
        self.functions: dict[tuple[FunctionType, tuple[ValueKind, ...]], Function | None] = {}
        self.reading: list[FunctionType] = []
        self.line = 0

    @property
    def texts(self) -> list[str]:
        """Of all functions."""
        return [function.text for function in self.functions.values() if function is not None]

    def meaning(self, name: str) -> Any:
        """What a name that is not local means in the function that is being read."""
        known = self.reading[-1].__globals__
        if name not in known and not hasattr(builtins, name):
            raise NotAKernel(f"nothing is called {name}")
        return known[name] if name in known else getattr(builtins, name)

    def function(self, kernel: Any, kinds: tuple[ValueKind, ...]) -> Function:
        """The function of a kernel for arguments of some kinds."""
        key = kernel.function, kinds
        if key not in self.functions:
            self.functions[key] = None
            line = self.line
            self.functions[key] = self.read(kernel.function, kinds)
            self.line = line
        function = self.functions[key]
        if function is None:
            raise NotAKernel(f"{kernel.function.__name__} calls itself")
        return function

    def read(self, source: FunctionType, kinds: tuple[ValueKind, ...]) -> Function:
        """Read a kernel until nothing changes."""
        tree = tree_of(source)
        self.reading.append(source)
        try:
            arguments = tree.args
            if len(arguments.args) != len(kinds) or arguments.vararg or arguments.kwonlyargs or arguments.kwarg:
                raise NotAKernel(f"{tree.name} is called with {len(kinds)} arguments")
            reading = None
            for _ in range(MOST_READINGS):
                reading = Reading(self, tree, kinds, reading)
                if reading.w.is_open:
                    give(reading, NONE)
                if reading.is_last:
                    return finished(f"{tree.name}.{len(self.functions)}", reading)
            raise NotAKernel("kinds of variables that do not settle")
        except NotAKernel as fault:
            if not hasattr(fault, "__notes__"):
                where = f"line {self.line} of {source.__code__.co_filename}"
                fault.add_note(f"in {tree.name}({', '.join(map(described, kinds))}), {where}")
            raise
        finally:
            self.reading.pop()


def finished(name: str, reading: Reading) -> Function:
    """The text of a function that has been read."""
    kind = reading.returns
    assert kind is not None  # every way ends with a return
    keeps = holds_arrays(kind)
    parameters = ["ptr %memory"] * reading.takes + reading.parameters
    lines = [f"define internal {returned(kind)} @{name}({', '.join(parameters)}) nounwind {{", "entry:"]
    lines += reading.w.entry
    if reading.takes and not keeps:
        lines.append("  %mark = load ptr, ptr %memory")
    lines += reading.w.lines
    if reading.takes:
        lines.append("failed:")
        if not keeps:
            lines.append("  call void @give_back(ptr %memory, ptr %mark)")
        lines.append(f"  ret {returned(kind)} zeroinitializer" if kind.parts else "  ret void")
    return Function(name, kind, reading.takes, "\n".join([*lines, "}"]))


def tree_of(function: FunctionType) -> ast.FunctionDef:
    """What the text of a function says."""
    code = function.__code__
    for node in functions_of(code.co_filename):
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        if node.name == code.co_name and code.co_firstlineno in (first, node.lineno):
            return node
    raise NotAKernel(f"the text of {code.co_name} is not to be found in {code.co_filename}: write it into a file")


@functools.cache
def functions_of(file: str) -> list[ast.FunctionDef]:
    """All functions of a file."""
    return [
        node for node in ast.walk(ast.parse("".join(linecache.getlines(file)))) if isinstance(node, ast.FunctionDef)
    ]
