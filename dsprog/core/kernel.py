"""Numba kernels that compile on their first call.

Importing numba takes longer than importing all of dsprog, and a user who only looks at a result should not wait for
it. ``@kernel`` therefore remembers the function and hands it to ``numba.njit`` when it is first called; compiled code
is kept on disk, so that only the first run on a machine pays for compilation. A kernel may call other kernels by
name, and ``@part`` marks those that only kernels call.

Compilation is most of what a first run waits for. A kernel takes at most ten arguments, more of them as a NamedTuple
of arrays, and it is written in loops: an array assigned to a slice, ``np.argsort``, ``@``, ``np.full`` or
``np.flatnonzero`` inside a kernel each cost up to two seconds of a first run. :func:`compilations` says what was
spent, and :func:`watch` tells when it begins.

Numba counts references to arrays by atomic instructions, wherever one is taken out of a named tuple or a row of one is
named; in the kernels of a search these were most of the time. Where a module says ``LEAN = True``, its kernels give no
array back, and those that make none are compiled without counting.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import gc
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dsprog.core.kernel_parts import PIPELINE, part_pipeline

# what a kernel may take from NumPy without making an array
OF_NUMBERS = {
    "inf", "nan", "pi", "sqrt", "log", "exp", "log1p", "expm1", "ceil", "floor", "isinf", "isfinite", "isnan",
    "bool_", "int8", "int32", "int64", "uint8", "uint64", "float64",
}  # fmt: skip
MAKING = {"BUILD_LIST", "BUILD_SET", "BUILD_MAP", "LIST_APPEND"}  # instructions


@dataclass(frozen=True)
class Compilations:
    """What this process has spent on compiling kernels that were not on disk: how many, and seconds of clock and CPU.

    Kernels called by kernels are counted, and their seconds belong to the one that was called first.
    """

    count: int = 0
    seconds: float = 0.0
    cpu: float = 0.0


class Ledger:
    """Counts compilations, and tells the watchers; numba calls it around each one, under its compiler lock."""

    def __init__(self) -> None:
        self.spent = Compilations()
        self.watchers: list[Callable[[str], None]] = []
        self.depth = 0
        self.began = (0.0, 0.0)
        self.collects = False

    def start(self, dispatcher: Any) -> None:
        """A compilation begins."""
        if self.depth == 0 and not is_ours(dispatcher):
            return
        if self.depth == 0:
            self.began = time.perf_counter(), time.process_time()
            for watcher in self.watchers:
                watcher(dispatcher.py_func.__name__)
            self.collects = gc.isenabled()
            gc.disable()  # a tenth of the time would go into looking for garbage among what numba builds
        self.depth += 1

    def end(self, dispatcher: Any) -> None:
        """A compilation ends."""
        if self.depth == 0:
            return
        self.depth -= 1
        if is_ours(dispatcher):
            self.spent = replace(self.spent, count=self.spent.count + 1)
        if self.depth == 0:
            if self.collects:
                gc.enable()
            seconds, cpu = time.perf_counter() - self.began[0], time.process_time() - self.began[1]
            self.spent = replace(self.spent, seconds=self.spent.seconds + seconds, cpu=self.spent.cpu + cpu)


LEDGER = Ledger()


def is_ours(dispatcher: Any) -> bool:
    """Whether a dispatcher of numba belongs to a kernel."""
    return str(dispatcher.py_func.__module__).startswith("dsprog.")


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


@functools.cache
def numba_with_ledger() -> Any:
    """The package numba, which tells the ledger what it compiles; loading it counts as compilation."""
    began = time.perf_counter(), time.process_time()
    import numba
    from numba.core import event

    spent = LEDGER.spent
    clock, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    LEDGER.spent = replace(spent, seconds=spent.seconds + clock, cpu=spent.cpu + cpu)

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            LEDGER.start(event.data["dispatcher"])

        def on_end(self, event: Any) -> None:
            LEDGER.end(event.data["dispatcher"])

    event.register("numba:compile", Listener())
    return numba


class Kernel:
    """A function for numba, compiled when first called.

    ``is_part``: only kernels call it, as a rule. Then it is compiled without the code that a call from Python needs,
    and once more with it should there be such a call.
    """

    def __init__(self, function: Callable[..., Any], is_part: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.is_part = function, is_part

    def __call__(self, *args: Any) -> Any:
        """Run it, compiled."""
        return self.compiled(*args)

    @property
    def called(self) -> dict[str, Kernel]:
        """The kernels that this one calls, by name."""
        names = self.function.__globals__
        return {name: names[name] for name in self.function.__code__.co_names if isinstance(names.get(name), Kernel)}

    @property
    def constants(self) -> list[tuple[str, float]]:
        """Numbers of the module that the code names: they are compiled into it."""
        names = self.function.__globals__
        numbers = ((name, names.get(name)) for name in self.function.__code__.co_names)
        return [(name, value) for name, value in numbers if isinstance(value, (int, float))]

    @functools.cached_property
    def is_lean(self) -> bool:
        """Whether references need not be counted: all arrays are the caller's, which keeps them until the call ends."""
        return bool(self.function.__globals__.get("LEAN", False)) and not self.allocates

    @functools.cached_property
    def allocates(self) -> bool:
        """Whether it may make an array, or calls what may."""
        code = list(dis.get_instructions(self.function))
        taken = {after.argval for one, after in pairwise(code) if one.opname == "LOAD_GLOBAL" and one.argval == "np"}
        made = taken - OF_NUMBERS or "copy" in self.function.__code__.co_names
        return bool(made) or any(one.opname in MAKING for one in code) or any(k.allocates for k in self.called.values())

    @property
    def structures(self) -> list[tuple[str, tuple[str, ...]]]:
        """Named tuples that the module knows, with their fields.

        Compiled code is kept with the names of the types of its arguments, and one that is gone cannot be read back.
        """
        known = self.function.__globals__.values()
        tuples = (value for value in known if isinstance(value, type) and issubclass(value, tuple))
        return sorted((t.__name__, t._fields) for t in tuples if hasattr(t, "_fields"))

    @property
    def digest(self) -> str:
        """A fingerprint of the code, with that of the kernels called, the structures known and the constants named."""
        code = self.function.__code__
        parts = [
            code.co_code,
            repr(code.co_consts).encode(),
            *(other.digest.encode() for other in self.called.values()),
            repr(self.structures).encode(),
            repr((self.constants, self.is_lean)).encode(),
            PIPELINE.encode(),
        ]
        import hashlib

        return hashlib.sha256(b"".join(parts)).hexdigest()[:12]

    @functools.cached_property
    def compiled(self) -> Any:
        """The numba dispatcher that Python calls."""
        return self._dispatcher(self.digest)

    @functools.cached_property
    def linked(self) -> Any:
        """The numba dispatcher that other kernels call."""
        dispatcher = self._dispatcher("part", is_part=True) if self.is_part else self.compiled
        return one_type_of_numbers(dispatcher)

    def _dispatcher(self, mark: str, is_part: bool = False) -> Any:
        numba, source = numba_with_ledger(), self.function
        called = {name: other.linked for name, other in self.called.items()}
        linked = types.FunctionType(
            source.__code__, {**source.__globals__, **called}, source.__name__, source.__defaults__
        )
        # numba keeps compiled code by its name and the time of its file: the name carries the code of all kernels
        # called
        linked.__module__, linked.__qualname__ = source.__module__, f"{source.__qualname__}.{mark}"
        # Sums may be reordered so that they vectorise; nothing assumes away nan or infinity. No C callback is made of a
        # kernel, and its wrapper would only cost time.
        options: dict[str, Any] = {
            "nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy", "no_cfunc_wrapper": True,
        }  # fmt: skip
        if self.is_lean:
            options["_nrt"] = False
        if is_part:
            return numba.njit(no_cpython_wrapper=True, pipeline_class=part_pipeline(), **options)(linked)
        try:
            return numba.njit(cache=True, **options)(linked)
        except RuntimeError:  # no folder that can be written: compile for this process only
            return numba.njit(**options)(linked)


def one_type_of_numbers(dispatcher: Any) -> Any:
    """Make a dispatcher take constants as numbers: numba would compile a kernel again for every 0 or True given."""
    from numba.core.types import unliteral

    original = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: original(tuple(unliteral(a) for a in args), kws)
    return dispatcher


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation by numba on its first call."""
    return Kernel(function)


def part(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation by numba as a part of the kernels that call it."""
    return Kernel(function, is_part=True)
