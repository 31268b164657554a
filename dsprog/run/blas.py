"""One BLAS thread during a run.

The matrices of a search are small. With as many threads as cores each product waits for all of them, and beside another
process on the same cores a search takes five to twenty times as long as with one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block in which BLAS uses one thread; afterwards it is as before."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@contextmanager
def one_scipy_blas_thread() -> Iterator[None]:
    """The same for the BLAS of scipy, which is loaded with ``scipy.linalg``, mostly after a run has begun."""
    with blas_of_scipy().limit(limits=1, user_api="blas"):
        yield


@cache
def blas_of_scipy() -> ThreadpoolController:
    """The libraries that are there once scipy's is; looking for them takes milliseconds, so it is done once."""
    import scipy.linalg.lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
