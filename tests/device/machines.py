"""Machines that stand in for a card where there is none.

``Emulated`` compiles the CUDA kernels for the host, with teams of one lane, so that their sources are what is tested.
``Guarded`` keeps its nodes in arrays that refuse to meet arrays of the host, as CuPy's do, so that the search is seen
to keep the two apart; its functions are those of the host.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.device.batched import Batched, on_device
from dsprog.device.cuda import source
from dsprog.device.machine import Machine
from dsprog.exact.interval.node_kernels import HostKernels

COMPILER = shutil.which("g++")
CREATORS = ("arange", "empty", "zeros", "ones", "tile", "full")
PRIMITIVES = ("values", "marginals", "chains", "tangents")
HOST_LOOP = """
extern "C" void set_place(int block, char *room) { blockIdx.x = block; shared_memory = room; }
"""


@cache
def compiled(file: str, macros: tuple[tuple[str, int], ...]) -> ctypes.CDLL:
    """A file of kernels as a library of the host."""
    assert COMPILER is not None
    options = [f"-D{name}={value}" for name, value in macros]
    text = source(file) + HOST_LOOP
    name = hashlib.sha256((text + str(options)).encode()).hexdigest()[:16]
    folder = Path(tempfile.mkdtemp())
    (folder / "kernels.cpp").write_text(text)
    library = folder / f"{name}.so"
    command = [COMPILER, "-O2", "-w", "-shared", "-fPIC", "-DDSPROG_HOST", *options, "kernels.cpp", "-o", str(library)]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(library))


class Emulated(Machine):
    """The kernels of a card on the host, one lane a team, one team after the other."""

    name, xp, batch, unit, first_batch, lanes = "emulated", np, 64, 2000, 16, 1
    few, rounds, fill = 0.125, 2, 40

    def __init__(self, most: float = np.inf) -> None:
        self.most = most

    def send(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def fetch(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def function(self, f: SetFunction) -> Batched:
        return on_device(f, self)

    def most_open(self, n: int) -> float:
        return self.most

    def kernel(self, file: str, name: str, shared: int = 0, **macros: int) -> Any:
        library = compiled(file, tuple(sorted(macros.items())))
        function = getattr(library, name)

        def launch(teams: int, *arguments: Any, shared: int = 0, lanes: int = 1) -> None:
            room = np.empty(shared + 64, dtype=np.uint8)
            given = [as_c(argument) for argument in (teams, *arguments)]
            for block in range(teams):
                room[:] = 0xAB  # nothing may rest on what was there
                library.set_place(ctypes.c_int(block), room.ctypes.data_as(ctypes.c_void_p))
                function(*given)
                assert (room[shared:] == 0xAB).all(), "beyond the shared memory that was asked for"

        return launch


def as_c(argument: Any) -> Any:
    """An argument of a kernel as C takes it; arrays must be contiguous and of a dtype that the kernels know."""
    if isinstance(argument, (int, np.integer)):
        return ctypes.c_int(int(argument))
    if isinstance(argument, float):
        return ctypes.c_double(argument)
    assert isinstance(argument, np.ndarray), type(argument)
    assert argument.flags.c_contiguous
    assert argument.dtype in (np.float64, np.bool_, np.int32, np.int64, np.uint32, np.uint64), argument.dtype
    return argument.ctypes.data_as(ctypes.c_void_p)


class There(np.ndarray):
    """An array that is not on the host: it refuses to meet one that is."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method == "reduce" and "initial" in options:
            raise TypeError("CuPy's reductions take no initial")
        refuse_strangers((*inputs, *(out or ())))
        outputs = {} if out is None else {"out": tuple(bare(array) for array in out)}
        result = getattr(ufunc, method)(*(bare(array) for array in inputs), **outputs, **options)
        return there(result) if out is None else out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        refuse_strangers(arrays_in(args))
        return there(function(*unwrapped(args), **kwargs))

    def __getitem__(self, index: Any) -> Any:
        refuse_strangers(index if isinstance(index, tuple) else (index,))
        return there(bare(self)[unwrapped(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        refuse_strangers((*(index if isinstance(index, tuple) else (index,)), value))
        bare(self)[unwrapped(index)] = unwrapped(value)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("implicit conversion to an array of the host")


def bare(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, There) else value


def there(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(there(part) for part in value)
    return np.asarray(value).view(There) if isinstance(value, (np.ndarray, np.generic)) else value


def unwrapped(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(unwrapped(part) for part in value)
    return bare(value)


def arrays_in(value: Any) -> list[Any]:
    return [a for part in value for a in arrays_in(part)] if isinstance(value, (tuple, list)) else [value]


def refuse_strangers(arrays: Any) -> None:
    for array in arrays:
        if isinstance(array, np.ndarray) and array.ndim and not isinstance(array, There):
            raise TypeError("an array of the host among those of a device")


def makes_arrays_there(name: str) -> Any:
    function = getattr(np, name)
    return lambda *args, **kwargs: there(function(*unwrapped(args), **kwargs))


class GuardedKernels(HostKernels):
    """Those of the host on arrays that are kept apart."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("index", "rows"):
            return found
        return lambda *args: there(found(*(bare_nodes(argument) for argument in args)))


def bare_nodes(argument: Any) -> Any:
    """Nodes, minorants and arrays as the host has them; what is changed in place is changed there, too."""
    if isinstance(argument, dict):
        return {key: bare(array) for key, array in argument.items()}
    return type(argument)(*map(bare, argument)) if hasattr(argument, "_fields") else bare(argument)


class Guarded(Machine):
    """Nodes in arrays that are kept apart; functions of the host on them."""

    name, batch, unit, first_batch, fill = "guarded", 64, 2000, 16, 20
    xp = SimpleNamespace(**{name: makes_arrays_there(name) for name in CREATORS})

    def send(self, array: np.ndarray) -> Any:
        assert not isinstance(array, There)
        return there(np.array(array))

    def fetch(self, array: Any) -> np.ndarray:
        assert isinstance(array, There)
        return np.array(bare(array))

    def function(self, f: SetFunction) -> Any:
        def passing_on(name: str) -> Any:
            return lambda *args: there(getattr(f, name)(*unwrapped(args)))

        return SimpleNamespace(**{name: passing_on(name) for name in PRIMITIVES}, n=f.n)

    def most_open(self, n: int) -> float:
        return 200


class GuardedEmulated(Guarded):
    """Nodes in arrays that are kept apart, and the kernels of a card on them."""

    def kernel(self, file: str, name: str, shared: int = 0, **macros: int) -> Any:
        launch = Emulated().kernel(file, name, shared, **macros)
        return lambda teams, *arguments, **sizes: launch(teams, *map(bare, arguments), **sizes)
