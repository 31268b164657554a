"""Numba kernels that compile on their first call.

Importing numba takes longer than importing all of dsprog, and a user who only looks at a result should not wait for
it. ``@kernel`` therefore remembers the function and hands it to ``numba.njit`` when it is first called; compiled code
is kept on disk, so that only the first run on a machine pays for compilation. A kernel may call other kernels by
name.
"""

from __future__ import annotations

import functools
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

    @functools.cached_property
    def compiled(self) -> Any:
        """The numba dispatcher, with every kernel that this one calls compiled before it."""
        import numba

        source = self.function
        names = source.__globals__
        called = {
            name: names[name].compiled for name in source.__code__.co_names if isinstance(names.get(name), Kernel)
        }
        linked = types.FunctionType(source.__code__, {**names, **called}, source.__name__, source.__defaults__)
        linked.__module__, linked.__qualname__ = source.__module__, source.__qualname__
        # Sums may be reordered so that they vectorise; nothing assumes away nan or infinity.
        options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
        try:
            return numba.njit(cache=True, **options)(linked)
        except RuntimeError:  # no folder that can be written: compile for this process only
            return numba.njit(**options)(linked)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark ``function`` for compilation by numba on its first call."""
    return Kernel(function)
