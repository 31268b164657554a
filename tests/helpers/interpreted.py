"""Kernels as Python runs them."""

import functools
import types

from dsprog.core.kernel import Kernel


@functools.cache
def interpreted(kernel):
    """The function of a kernel, and those of the kernels that it calls."""
    source = kernel.function
    known = source.__globals__
    called = {name: known[name] for name in source.__code__.co_names if isinstance(known.get(name), Kernel)}
    names = {**known, **{name: interpreted(other) for name, other in called.items()}}
    return types.FunctionType(source.__code__, names, source.__name__, source.__defaults__)
