"""One BLAS thread during a run.

The matrices of a search are small. With as many threads as cores each product waits for all of them, and beside another
process on the same cores a search takes five to twenty times as long as with one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block in which BLAS uses one thread; afterwards it is as before."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@contextmanager
def one_scipy_blas_thread() -> Iterator[None]:
    """The same for the BLAS of scipy, which is loaded with ``scipy.linalg``, mostly after a run has begun."""
    import scipy.linalg.lapack  # noqa: F401

    with one_blas_thread():
        yield
