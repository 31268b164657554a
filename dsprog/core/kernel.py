"""Numba kernels that compile on their first call.

Importing numba takes longer than importing all of dsprog, and a user who only looks at a result should not wait for
it. ``@kernel`` therefore remembers the function and hands it to ``numba.njit`` when it is first called; compiled code
is kept on disk, so that only the first run on a machine pays for compilation. A kernel may call other kernels by
name, and ``@part`` marks those that only kernels call.

Compilation is most of what a first run waits for. A kernel takes at most ten arguments, more of them as a NamedTuple
of arrays, and it is written in loops: an array assigned to a slice, ``np.argsort``, ``@``, ``np.full`` or
``np.flatnonzero`` inside a kernel each cost up to two seconds of a first run. :func:`compilations` says what was
spent, and :func:`watch` tells when it begins.

A kernel that does little at the root of most problems need not be compiled for that: ``@short_kernel`` marks one that
says how much a call has to do, and such a kernel is interpreted until that has become much, or at all times compiled if
an earlier process did it. Both add numbers up in another order, so values may differ in their last digits.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.kernel_parts import PIPELINE, part_pipeline
from dsprog.core.kernel_pipeline import kernel_pipeline
from dsprog.core.packages import load
from dsprog.core.validation import Floats

MOST_STEPS = 200_000  # of loops, interpreted: about a tenth of a second, less than most kernels take to compile


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


@contextlib.contextmanager
def nothing_interpreted() -> Iterator[None]:
    """Compile short kernels, too, at their first call."""
    global MOST_STEPS
    before, MOST_STEPS = MOST_STEPS, -1
    try:
        yield
    finally:
        MOST_STEPS = before


@functools.cache
def numba_with_ledger() -> Any:
    """The package numba, which tells the ledger what it compiles; loading it counts as compilation."""
    began = time.perf_counter(), time.process_time()
    numba = load("numba")
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
    and once more with it should there be such a call. ``steps``: a function of the arguments, about how many steps of
    loops the call takes. A kernel that says so is interpreted for its first :data:`MOST_STEPS`, unless it is on disk;
    or ``stand_in`` does its work. ``serves``: what the kernel is needed for; where that is omitted, ``otherwise`` is in
    its place, and does what it would do without any of that.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        is_part: bool = False,
        steps: Callable[..., int] | None = None,
        stand_in: Callable[..., Any] | None = None,
        serves: str = "",
        otherwise: Callable[..., Any] | None = None,
        omitted: frozenset[str] = frozenset(),
    ) -> None:
        functools.update_wrapper(self, function)
        self.stand_in = stand_in
        self.serves, self.otherwise, self.omitted = serves, otherwise, omitted
        self.without = functools.cache(self._without)
        self.function, self.is_part, self.steps = function, is_part, steps
        self.is_ready, self.interpreted_steps = False, 0

    def __call__(self, *args: Any) -> Any:
        """Run it: compiled, but for a few short calls."""
        if self.is_ready:
            return self.compiled(*args)
        if self.steps is not None:
            self.interpreted_steps += self.steps(*args)
            if self.interpreted_steps <= MOST_STEPS and not self.is_on_disk:
                with np.errstate(all="ignore"):
                    return self.interpreted(*args)
        if any(isinstance(arg, tuple) for arg in args):
            numba_with_ledger()
            from dsprog.core.kernel_records import hand_on_by_address

            hand_on_by_address(args)
        self.is_ready = True
        return self.compiled(*args)

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as Python runs it, and the kernels that it calls likewise; or what stands in for it."""
        if self.stand_in is not None:
            return self.stand_in
        called = {name: other.interpreted for name, other in self.called.items()}
        source = self.function
        return types.FunctionType(
            source.__code__, {**source.__globals__, **called}, source.__name__, source.__defaults__
        )

    @functools.cached_property
    def is_on_disk(self) -> bool:
        """Whether an earlier process compiled it."""
        folder = self.compiled.stats.cache_path
        return folder is not None and any(Path(folder).glob(f"*.{self.function.__name__}.{self.digest}-*.nbi"))

    @functools.cached_property
    def called(self) -> dict[str, Kernel]:
        """The kernels that this one calls, by name."""
        names, mentioned = self.function.__globals__, self.function.__code__.co_names
        kernels = {name: names[name] for name in mentioned if isinstance(names.get(name), Kernel)}
        return {name: other.without(self.omitted) for name, other in kernels.items()}

    def _without(self, omitted: frozenset[str]) -> Kernel:
        """The same kernel for calls that need none of these: their parts are left out, and are never compiled."""
        if self.serves in omitted and self.otherwise is not None:
            return Kernel(self.otherwise, is_part=True)
        if all(other.without(omitted) is other for other in self.called.values()):
            return self
        return Kernel(
            self.function, self.is_part, self.steps, self.stand_in, self.serves, self.otherwise, self.omitted | omitted
        )

    @property
    def constants(self) -> list[tuple[str, float]]:
        """Numbers of the module that the code names: they are compiled into it."""
        names = self.function.__globals__
        numbers = ((name, names.get(name)) for name in self.function.__code__.co_names)
        return [(name, value) for name, value in numbers if isinstance(value, (int, float))]

    @property
    def structures(self) -> list[tuple[str, tuple[str, ...]]]:
        """Named tuples that the module knows, with their fields.

        Compiled code is kept with the names of the types of its arguments, and one that is gone cannot be read back.
        """
        known = self.function.__globals__.values()
        tuples = (value for value in known if isinstance(value, type) and issubclass(value, tuple))
        return sorted((t.__name__, t._fields) for t in tuples if hasattr(t, "_fields"))

    @functools.cached_property
    def digest(self) -> str:
        """A fingerprint of the code, with that of the kernels called, the structures known and the constants named."""
        code = self.function.__code__
        parts = [
            code.co_code,
            repr(code.co_consts).encode(),
            *(other.digest.encode() for other in self.called.values()),
            repr(self.structures).encode(),
            repr(self.constants).encode(),
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
        """The numba dispatcher that other kernels call.

        A part is named by its code. The linker takes the first of several parts with one name, whichever kernel on disk
        brings it; parts that call others (:meth:`without`) must not have the same name, or a kernel calls those of
        another.
        """
        is_part = self.is_part or self.steps is not None  # it may well be that Python never calls it compiled
        dispatcher = self._dispatcher(f"part_{self.digest}", is_part=True) if is_part else self.compiled
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
            "pipeline_class": part_pipeline() if is_part else kernel_pipeline(),
        }  # fmt: skip
        if is_part:
            return numba.njit(no_cpython_wrapper=True, **options)(linked)
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


def filled(kernel: Kernel, shape: int | tuple[int, ...], *arguments: Any) -> Floats:
    """An array of numbers that a kernel fills: its last argument."""
    out = np.empty(shape)
    kernel(*arguments, out)
    return out


def short_kernel(
    steps: Callable[..., int], stand_in: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Kernel]:
    """Mark a function for compilation by numba once it has much to do; ``steps`` says how much from its arguments.

    Interpreted, it must do the same: integers that do not overflow, no division of Python's own numbers by 0. Where
    loops in Python would be slow, ``stand_in`` does the same in NumPy.
    """
    return lambda function: Kernel(function, steps=steps, stand_in=stand_in)


def part(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation by numba as a part of the kernels that call it."""
    return Kernel(function, is_part=True)


def part_for(serves: str, otherwise: Callable[..., Any]) -> Callable[[Callable[..., Any]], Kernel]:
    """Mark a part that only some calls need: :meth:`Kernel.without` leaves it out, and ``otherwise`` answers for it."""
    return lambda function: Kernel(function, is_part=True, serves=serves, otherwise=otherwise)
