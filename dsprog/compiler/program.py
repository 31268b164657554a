"""A kernel with all that it calls, as one module of LLVM's language.

New arrays are taken from the memory of a call: a chain of pieces. A function that returns no array gives back what it
took when it returns, and the door gives back the rest.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import itertools
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from dsprog.compiler import arrays, calls, door, expressions, numbers, statements
from dsprog.compiler.kinds import NotAKernel, ValueKind, described, marked
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
    function = program.function(kernel, kinds)
    entrance = door.Door(function, *written(kernel, kinds))
    fixed = [numbers.DECLARATIONS, arrays.DECLARATIONS, MEMORY, door.TEXT, "!0 = !{}"]
    return "\n".join([*fixed, *program.texts, entrance.text(symbol)])


def written(kernel: Any, kinds: tuple[ValueKind, ...]) -> tuple[tuple[ValueKind, ...], set[int]]:
    """The kinds with a number for each array, and which of them the kernel may write to: it is read once more."""
    numbers, program = itertools.count(), Program()
    numbered = tuple(marked(kind, numbers) for kind in kinds)
    program.function(kernel, numbered)
    return numbered, program.written


class Program:
    """The functions of a module, as they are asked for."""

    def __init__(self) -> None:
        self.functions: dict[tuple[FunctionType, tuple[ValueKind, ...]], Function] = {}
        self.reading: list[FunctionType] = []
        self.line = 0
        self.written: set[int] = set()  # numbers of arguments

    @property
    def texts(self) -> list[str]:
        """Of all functions."""
        return [function.text for function in self.functions.values()]

    def meaning(self, name: str) -> Any:
        """What a name that is not local means in the function that is being read."""
        known = self.reading[-1].__globals__
        if name not in known and not hasattr(builtins, name):
            raise NotAKernel(f"nothing is called {name}")
        return known[name] if name in known else getattr(builtins, name)

    def function(self, kernel: Any, kinds: tuple[ValueKind, ...]) -> Function:
        """The function of a kernel for arguments of some kinds."""
        key = kernel.function, kinds
        if kernel.function in self.reading:
            raise NotAKernel(f"{kernel.function.__name__} calls itself")
        if key not in self.functions:
            line = self.line
            function = self.read(kernel.function, kinds)
            self.functions[key], self.line = function, line
        return self.functions[key]

    def read(self, source: FunctionType, kinds: tuple[ValueKind, ...]) -> Function:
        """Read a kernel until nothing changes."""
        tree = tree_of(source)
        self.reading.append(source)
        try:
            check_arguments(source, tree.args, len(kinds))
            reading = None
            for _ in range(MOST_READINGS):
                reading = Reading(self, tree, kinds, reading)
                if reading.w.is_open:
                    give(reading, NONE)
                if reading.returns is None:
                    raise NotAKernel("a loop without an end")
                if reading.is_last:
                    name = tree.name if tree.name.isascii() else "kernel"
                    return finished(f"{name}.{len(self.functions)}", reading)
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
    assert kind is not None
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


def check_arguments(source: FunctionType, arguments: ast.arguments, count: int) -> None:
    """Arguments have places only, and a kernel has no variables of a function around it."""
    if arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.posonlyargs:
        raise NotAKernel("arguments of kernels are named one by one, without * and /")
    if len(arguments.args) != count:
        raise NotAKernel(f"{source.__name__} is called with {count} arguments")
    if source.__code__.co_freevars:
        raise NotAKernel(f"{', '.join(source.__code__.co_freevars)} belongs to a function around the kernel")


def tree_of(function: FunctionType) -> ast.FunctionDef:
    """What the text of a function says: that which Python has compiled, and not what has been written since."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    futures = code.co_flags & __future__.annotations.compiler_flag  # of an earlier cell of a notebook
    found = functions_of(text, futures).get((code.co_name, code.co_firstlineno))
    if found is None or found[1] != code:
        reason = "has changed" if found else f"is not to be found in {code.co_filename}"
        raise NotAKernel(f"the text of {code.co_name} {reason}: write it into a file, and import that")
    return found[0]


@functools.lru_cache(maxsize=8)
def functions_of(text: str, futures: int) -> dict[tuple[str, int], tuple[ast.FunctionDef, CodeType]]:
    """All functions of a text, by their name and first line: what they say, and what Python makes of it."""
    tree = ast.parse(text)
    whole = compile(tree, "", "exec", futures, dont_inherit=True)
    codes = {(code.co_name, code.co_firstlineno): code for code in codes_of(whole)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    places = {(node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])): node for node in nodes}
    return {place: (node, codes[place]) for place, node in places.items() if place in codes}


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Code, and all code within."""
    yield code
    for thing in code.co_consts:
        if isinstance(thing, CodeType):
            yield from codes_of(thing)
