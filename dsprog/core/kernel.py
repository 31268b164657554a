"""Numba kernels that compile on their first call.

Importing numba takes longer than importing all of dsprog, and a user who only looks at a result should not wait for
it. ``@kernel`` therefore remembers the function and hands it to ``numba.njit`` when it is first called; compiled code
is kept on disk, so that only the first run on a machine pays for compilation. A kernel may call other kernels by
name.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable
from typing import Any


class Kernel:
    """A function for numba, compiled when first called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any) -> Any:
        """Run it, compiled."""
        return self.compiled(*args)

    @property
    def called(self) -> dict[str, Kernel]:
        """The kernels that this one calls, by name."""
        names = self.function.__globals__
        return {name: names[name] for name in self.function.__code__.co_names if isinstance(names.get(name), Kernel)}

    @property
    def digest(self) -> str:
        """A fingerprint of the code, that of the kernels called included."""
        code = self.function.__code__
        parts = [
            code.co_code,
            repr(code.co_consts).encode(),
            *(other.digest.encode() for other in self.called.values()),
        ]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:12]

    @functools.cached_property
    def compiled(self) -> Any:
        """The numba dispatcher, with every kernel that this one calls compiled before it."""
        import numba

        source = self.function
        called = {name: other.compiled for name, other in self.called.items()}
        linked = types.FunctionType(
            source.__code__, {**source.__globals__, **called}, source.__name__, source.__defaults__
        )
        # numba keeps compiled code by its name and the time of its file: the name carries the code of all kernels
        # called
        linked.__module__, linked.__qualname__ = source.__module__, f"{source.__qualname__}.{self.digest}"
        # Sums may be reordered so that they vectorise; nothing assumes away nan or infinity.
        options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
        try:
            return numba.njit(cache=True, **options)(linked)
        except RuntimeError:  # no folder that can be written: compile for this process only
            return numba.njit(**options)(linked)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation by numba on its first call."""
    return Kernel(function)
