"""Kernels: loops over arrays of numbers, compiled when they are first called.

``@kernel`` remembers a function. Its first call with arguments of some kinds (integers, floats, arrays of a type and a
number of dimensions, NamedTuples of these) hands it to :mod:`dsprog.compiler`; the machine code is kept on disk, so
that only the first run on a machine pays for it. A kernel may call other kernels by name, and ``@part`` marks those
that only kernels call: their code is within that of their callers.

Kernels are written in loops, with numbers, arrays and tuples; what they cannot contain, the compiler refuses. Integers
have 64 bits, indices do not count from the end unless they are written as negative numbers, and sums may be made in
another order than they are written in. :func:`compilations` says what was spent on compiling, and :func:`watch` tells
when it begins.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.validation import Floats


@dataclass(frozen=True)
class Compilations:
    """What this process has spent on kernels that were not on disk: how many, and seconds of clock and CPU."""

    count: int = 0
    seconds: float = 0.0
    cpu: float = 0.0


class Ledger:
    """Counts compilations, and tells the watchers."""

    def __init__(self) -> None:
        self.spent = Compilations()
        self.watchers: list[Callable[[str], None]] = []

    @contextlib.contextmanager
    def compiling(self, name: str) -> Iterator[None]:
        """A block in which a kernel is compiled."""
        for watcher in self.watchers:
            watcher(name)
        began = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            seconds, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
            spent = self.spent
            self.spent = Compilations(spent.count + 1, spent.seconds + seconds, spent.cpu + cpu)


LEDGER = Ledger()
LOCK = threading.RLock()  # one kernel is compiled or loaded at a time


def compilations() -> Compilations:
    """What this process has spent on compiling kernels so far; a kernel loaded from disk costs nothing."""
    return LEDGER.spent


@contextlib.contextmanager
def watch(watcher: Callable[[str], None]) -> Iterator[None]:
    """Call ``watcher`` with the name of each kernel that is about to be compiled and was not on disk."""
    LEDGER.watchers.append(watcher)
    try:
        yield
    finally:
        LEDGER.watchers.remove(watcher)


class Kernel:
    """A function that is compiled when first called: a door for each combination of kinds of arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.doors: list[Callable[..., Any]] = []
        self.kinds: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        """Run it, compiled."""
        for door in self.doors:
            result = door(*args)
            if result is not NotImplemented:
                return result
        return self.enter(tuple(map(plain, args)))

    def enter(self, args: tuple[Any, ...]) -> Any:
        """Call by a door that takes these arguments, which may have to be made."""
        for door in self.doors:
            result = door(*args)
            if result is not NotImplemented:
                return result
        result = self.opened(args)(*args)
        if result is NotImplemented:
            raise ValueError(f"{self.function.__name__} writes to an array that is read-only")
        return result

    def opened(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """The door for arguments like these."""
        from dsprog.compiler.door import classes_of
        from dsprog.compiler.kinds import kind_of

        kinds, classes = tuple(map(kind_of, args)), classes_of(args)
        key = kinds, tuple(classes)
        with LOCK:
            if key not in self.kinds:
                self.kinds[key] = self.made(kinds, classes)
                self.doors.append(self.kinds[key])
        return self.kinds[key]

    def made(self, kinds: tuple[Any, ...], classes: list[type]) -> Callable[..., Any]:
        """A door whose code is on disk, or compiled now."""
        from dsprog.compiler import disk
        from dsprog.compiler.machine_code import circumstances, machine_code, opened

        key = disk.name_of(self.digest.encode(), repr(kinds).encode(), circumstances().encode())
        module, name, symbol = Path(self.function.__code__.co_filename), self.function.__name__, f"door_{key}"
        file = f"{module.stem}.{name}-{key}.kernel"
        code = disk.read(file, module)
        if code is None:
            from dsprog.compiler.program import module_of

            with LEDGER.compiling(name):
                code = machine_code(module_of(self, kinds, symbol))
            disk.write(file, code, module)
        return opened(code, symbol, name, classes)

    @functools.cached_property
    def digest(self) -> str:
        """A fingerprint of the code, with those of the kernels called, and of the constants and structures named."""
        self.__dict__["digest"] = ""  # is met where kernels call each other in a circle, which the compiler refuses
        code, names = self.function.__code__, self.function.__globals__
        parts = [code.co_code, repr((code.co_consts, code.co_names, code.co_varnames)).encode()]
        parts += [f"{name} {meaning_of(names[name])}".encode() for name in code.co_names if name in names]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def meaning_of(thing: Any) -> str:
    """All that a kernel can know of something that its module has a name for."""
    if isinstance(thing, Kernel):
        return thing.digest
    if isinstance(thing, (int, float, str, np.generic, np.dtype)):
        return f"{type(thing).__name__} {thing!r}"
    return f"{getattr(thing, '__name__', type(thing).__name__)} {getattr(thing, '_fields', '')}"


def plain(value: Any) -> Any:
    """An argument as doors take it: numbers of Python's own types, arrays of NumPy's own class and first types."""
    if isinstance(value, np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind in "iu" and array.dtype.isnative:  # of types of one size, C has two
            array = array.view(array.dtype.name)
        return array
    if isinstance(value, np.uint64):
        return value
    for kinds, number in (((bool, np.bool_), bool), ((int, np.integer), int), ((float, np.floating), float)):
        if isinstance(value, kinds):
            return number(value)
    if isinstance(value, tuple):
        items = map(plain, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation on its first call."""
    return Kernel(function)


def part(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation within the kernels that call it."""
    return Kernel(function)


def filled(kernel: Kernel, shape: int | tuple[int, ...], *arguments: Any) -> Floats:
    """An array of numbers that a kernel fills: its last argument."""
    out = np.empty(shape)
    kernel(*arguments, out)
    return out
