"""Writes the LLVM code of one function: instructions, blocks, memory of its own."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dsprog.compiler.kinds import BOOL, FLOAT, INT, NOTHING, WORD, NotAKernel, Number, ValueKind, described


@dataclass(frozen=True)
class Value:
    """A value at some place of the code: its kind, its machine values, and what it is if that is known by now."""

    kind: ValueKind
    parts: tuple[str, ...]
    known: Any = None

    @property
    def part(self) -> str:
        """Of a number."""
        return self.parts[0]


NONE = Value(NOTHING, ())


def literal(number: Any) -> Value:
    """A number that is known."""
    import numpy as np

    if isinstance(number, (bool, np.bool_)):
        return Value(BOOL, ("true" if number else "false",), bool(number))
    if isinstance(number, np.uint64):
        return Value(WORD, (str(int(number)),), int(number))
    if isinstance(number, (int, np.integer)):
        if not -(2**63) <= number < 2**63:
            raise NotAKernel(f"{number} is no integer of 64 bits")
        return Value(INT, (str(int(number)),), int(number))
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    return Value(FLOAT, (f"0x{bits:016X}",), float(number))


class Writer:
    """Lines of code, in order."""

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.numbers = itertools.count()
        self.block, self.is_open = "entry", True

    def do(self, instruction: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + instruction)

    def get(self, instruction: str) -> str:
        """The result of an instruction."""
        name = f"%t{next(self.numbers)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def label(self, word: str) -> str:
        """A name for a block."""
        return f"{word}{next(self.numbers)}"

    def begin(self, label: str) -> None:
        """A block begins; the one before goes on there unless it has ended."""
        if self.is_open:
            self.do(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.block, self.is_open = label, True

    def end(self, instruction: str) -> None:
        """The block ends."""
        self.do(instruction)
        self.is_open = False

    def go(self, label: str) -> None:
        """The block ends, and another follows."""
        self.end(f"br label %{label}")

    def fork(self, test: str, yes: str, no: str) -> None:
        """The block ends, and one of two follows."""
        self.end(f"br i1 {test}, label %{yes}, label %{no}")

    def room(self, register: str, count: int = 1) -> str:
        """Memory for a machine value, as long as the function runs."""
        name = f"%m{next(self.numbers)}"
        many = f", i64 {count}" if count > 1 else ""
        self.entry.append(f"  {name} = alloca {register}{many}, align 8")
        return name

    @contextmanager
    def aside(self, lines: list[str]) -> Iterator[None]:
        """Write somewhere else for a while."""
        before, self.lines = self.lines, lines
        try:
            yield
        finally:
            self.lines = before

    def joined(self, register: str, ways: list[tuple[str, str]]) -> str:
        """The machine value by the block that one comes from."""
        if len({value for value, _ in ways}) == 1:
            return ways[0][0]
        return self.get(f"phi {register} " + ", ".join(f"[ {value}, %{block} ]" for value, block in ways))


def number(value: Value) -> Number:
    """The kind of a number; everything else is refused."""
    if isinstance(value.kind, Number):
        return value.kind
    raise NotAKernel(f"a number is needed, and not {described(value.kind)}")
