"""One BLAS thread during a run.

The matrices of a search are small. With as many threads as cores each product waits for all of them, and beside another
process on the same cores a search takes five to twenty times as long as with one thread.

NumPy's BLAS is there from the start; scipy's comes with ``scipy.linalg``, mostly after a run has begun, with as many
threads as there are cores. So that none is forgotten, all that is in ``dsprog`` takes it from here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import ModuleType

_runs: list[ExitStack] = []  # blocks that one is inside of, the outermost first: what to undo when they end


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block in which BLAS uses one thread; afterwards it is as before."""
    with ExitStack() as block:
        _limit(block)
        _runs.append(block)
        try:
            yield
        finally:
            _runs.remove(block)


def _limit(block: ExitStack) -> None:
    """All BLAS libraries that are loaded, until the end of a block."""
    from threadpoolctl import threadpool_limits

    block.enter_context(threadpool_limits(limits=1, user_api="blas"))


@cache
def lapack() -> ModuleType:
    """LAPACK as scipy has it, with one thread until the run ends."""
    return _loaded("scipy.linalg.lapack")


@cache
def blas() -> ModuleType:
    """BLAS as scipy has it, with one thread until the run ends."""
    return _loaded("scipy.linalg.blas")


def _loaded(name: str) -> ModuleType:
    import scipy.linalg.blas
    import scipy.linalg.lapack  # noqa: F401

    if _runs:
        _limit(_runs[0])
    return sys.modules[name]
