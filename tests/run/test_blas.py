"""BLAS has one thread during a run, also the one that comes with scipy after the run has begun."""

import re
import subprocess
import sys
from pathlib import Path

import dsprog

LOADED_LATE = """
from threadpoolctl import threadpool_info
import numpy
from dsprog.run.blas import blas, lapack, one_blas_thread

def threads():
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

before = threads()
with one_blas_thread():
    with one_blas_thread():
        assert lapack().dpotrf and blas().dger
        assert set(threads().values()) == {1}, threads()
    assert set(threads().values()) == {1}, threads()
after = threads()
assert len(after) > len(before), "scipy brought no library of its own"
assert set(after.values()) == set(before.values()), (before, after)
"""


def test_a_library_that_is_loaded_during_a_run_has_one_thread_and_its_own_number_afterwards():
    done = subprocess.run([sys.executable, "-c", LOADED_LATE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nobody_takes_it_from_elsewhere():
    """A search whose BLAS has more threads is ten times as slow beside other work, and nothing else would tell."""
    package = Path(dsprog.__file__).parent
    taken = re.compile(r"^\s*(from scipy\.linalg|from scipy import .*linalg|import scipy\.linalg)", re.MULTILINE)
    found = [path.relative_to(package) for path in package.rglob("*.py") if taken.search(path.read_text())]
    assert found == [Path("run/blas.py")]
