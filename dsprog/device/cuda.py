"""A CUDA card, by CuPy: arrays in its memory, and kernels that are compiled for it when they are first used.

The sources of the kernels are the ``.cu`` files beside this one. A *team* of lanes, one warp, works on one set or one
node; teams know nothing of each other. Sizes that a kernel needs to know when it is compiled are given as macros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.device.batched import Batched, on_device
from dsprog.device.machine import Machine

KERNELS = Path(__file__).parent / "kernels"
WARP = 32  # lanes of a team
TEAMS = 4  # in a block, where shared memory allows
PLAIN = 48 * 1024  # bytes of shared memory that a block has without asking
SHARE = 0.4  # of the card's memory that is left to open nodes


def source(name: str) -> str:
    """The source of a file of kernels, with what all have in common."""
    return (KERNELS / "common.cuh").read_text() + (KERNELS / f"{name}.cu").read_text()


class Cuda(Machine):
    """One card of this machine."""

    batch, unit, first_batch, starts, lanes = 65_536, 1 << 26, 16_384, 5, WARP
    few, rounds, fill, few_nodes = 0.25, 2, 16_384, 4

    def __init__(self, number: int | None, place: int = 0) -> None:
        self.name = "cuda" if number is None else f"cuda:{number}"
        self.xp = library()
        self.number = which_card(number, place, card_count(self.xp, self.name))

    def send(self, array: np.ndarray) -> Any:
        """To the card's memory."""
        return self.xp.asarray(array)

    def fetch(self, array: Any) -> np.ndarray:
        """From the card's memory."""
        return np.asarray(self.xp.asnumpy(array))

    def function(self, f: SetFunction) -> Batched:
        """f on the card; a family without code for it is refused by name."""
        return on_device(f, self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """On this card, with CuPy's own reductions in place of CUB's, which take seconds to compile and are slower for
        short rows.
        """
        before = self.xp._core.get_routine_accelerators(), self.xp._core.get_reduction_accelerators()
        with self.xp.cuda.Device(self.number):
            try:
                self._accelerate([], [])
                yield
            finally:
                self._accelerate(*before)

    def _accelerate(self, routines: list[Any], reductions: list[Any]) -> None:
        self.xp._core.set_routine_accelerators(routines)
        self.xp._core.set_reduction_accelerators(reductions)

    @cached_property
    def blocks(self) -> int:  # type: ignore[override]
        """One for each multiprocessor."""
        return int(self.xp.cuda.Device(self.number).attributes["MultiProcessorCount"])

    @cached_property
    def _shared(self) -> int:
        """Bytes of shared memory that a block may ask for."""
        return int(self.xp.cuda.Device(self.number).attributes["MaxSharedMemoryPerBlockOptin"])

    def most_open(self, n: int) -> float:
        """By the memory that others leave; a node keeps some seven doubles for each element
        (:mod:`dsprog.exact.interval.ends`, ``dual_bound``).
        """
        pool = self.xp.get_default_memory_pool()
        return SHARE * (self.xp.cuda.runtime.memGetInfo()[0] + pool.total_bytes()) / (64 * n + 128)

    def kernel(self, file: str, name: str, shared: int = 0, **macros: int) -> Callable[..., None]:
        """``launch(teams, *arguments, shared=bytes a team)`` of a kernel; ``shared`` is what it will ask for."""
        if shared > self._shared:
            words = f"{name} needs {shared:,} bytes of shared memory for this problem, and device={self.name!r} has"
            raise ValueError(f"{words} {self._shared:,}: leave device out")
        function, most = self._module(file, tuple(sorted(macros.items()))).get_function(name), self._shared

        def launch(teams: int, *arguments: Any, shared: int = 0, lanes: int = WARP) -> None:
            if shared > most:
                raise MemoryError(f"{name} needs {shared} bytes of a card's shared memory, more than {most}")
            together = 1 if lanes > WARP else max(1, min(TEAMS, most // max(1, shared)))
            if teams:
                size = shared * together
                if size > PLAIN:
                    function.max_dynamic_shared_size_bytes = size
                given = tuple(np.int32(a) if isinstance(a, int) else a for a in (teams, *arguments))
                function((-(-teams // together),), (lanes * together,), given, shared_mem=size)

        return launch

    @cache  # noqa: B019  # one object a card
    def _module(self, file: str, macros: tuple[tuple[str, int], ...]) -> Any:
        options = ("-std=c++17", *(f"-D{name}={value}" for name, value in macros))
        return self.xp.RawModule(code=source(file), options=options)


def library() -> Any:
    """CuPy, or one sentence."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError("device='cuda' needs CuPy: pip install 'dsprog[cuda]'") from error
    return cupy


def card_count(xp: Any, name: str) -> int:
    """How many cards there are, or one sentence."""
    try:
        return int(xp.cuda.runtime.getDeviceCount())
    except xp.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"device={name!r} needs a CUDA card, but none was found ({error})") from error


def which_card(number: int | None, place: int, count: int) -> int:
    """The card of a number, or the one for a worker's place, in turn.

    >>> which_card(1, 0, 2), which_card(None, 5, 4)
    (1, 1)
    """
    if (number or 0) >= count:
        raise RuntimeError(f"device='cuda:{number or 0}' needs {(number or 0) + 1} CUDA cards, but there are {count}")
    return place % count if number is None else number


@cache
def cuda(number: int | None, place: int = 0) -> Cuda:
    """A card by its number, or the one of a worker."""
    return Cuda(number, place)
