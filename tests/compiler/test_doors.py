"""How Python calls kernels: kinds of arguments, numbers of NumPy, references, threads, and memory."""

import sys
import threading
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest

from dsprog.core.kernel import compilations, kernel, part


class Data(NamedTuple):
    a: np.ndarray
    inner: tuple
    none: None


@kernel
def summed(a, scale):
    total = 0
    for i in range(len(a)):
        total += a[i] * scale
    return total


@kernel
def kinds(data, flag):
    return data.inner[0] + len(data.a), data.inner[1], flag, None, data.none


def test_each_combination_of_kinds_has_a_door():
    a = np.array([1, 2, 3])
    for args, expected in [
        ((a, 2), 12), ((a, 0.5), 3.0), ((a.astype(float), 2), 12.0), ((a[::2], 2), 8), ((a.astype("int8"), True), 6),
        ((np.asfortranarray(np.ones((3, 3)))[0], 1), 3.0), ((np.zeros(0), 1), 0.0), ((a, 2), 12), ((a[:0], 7), 0),
    ]:  # fmt: skip
        found = summed(*args)
        assert (found, type(found)) == (expected, type(expected))


class Mine(np.ndarray):
    """A class of its own."""


def test_numbers_and_arrays_of_numpy_are_taken_as_they_are():
    a, doors = np.arange(3.0), len(summed.doors)
    assert summed(a, np.float64(2.0)) == summed(a, np.float32(2.0)) == summed(a, 2.0) == 6.0
    assert summed(a, np.int64(2)) == summed(a, np.int8(2)) == summed(a, np.uint32(2)) == summed(a, 2) == 6.0
    assert summed(a, np.True_) == summed(a, True) == 3.0
    assert summed(a.view(Mine), 2.0) == 6.0
    a.setflags(write=False)
    assert summed(a, 2.0) == 6.0
    assert len(summed.doors) <= doors + 3
    with pytest.raises(OverflowError):
        summed(a, 2**64)


def test_nothing_is_held_or_let_go():
    data = Data(np.zeros(3), (1, 2.5), None)
    held = (data, data.a, data.inner, None, NotImplemented, np.ndarray, Data)
    kinds(data, True)
    before = [sys.getrefcount(thing) for thing in held]
    for _ in range(1000):
        assert kinds(data, True) == (4, 2.5, True, None, None)
        with pytest.raises(TypeError):
            kinds(data, "a")
    after = [sys.getrefcount(thing) for thing in held]
    assert all(abs(one - other) < 50 for one, other in zip(before, after))


@part
def piece(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i
    return out


@part
def within(n):
    a = piece(n)
    b = a.copy()
    return b[n - 1]


@kernel
def pieces(times, n):
    total = 0.0
    for _ in range(times):
        total += within(n)
    mine = piece(3)
    return total + mine[2]


def test_memory_is_given_back():
    pieces(1, 10)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        assert pieces(1000, 10_000) == 1000 * 9999.0 + 2.0
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now - before < 10_000
    assert peak - before < 1_000_000  # two arrays of 80 kB at a time


@pytest.mark.parametrize("n", [1 << 58, 1 << 45])
def test_where_memory_is_at_an_end(n):
    with pytest.raises(MemoryError):
        pieces(2, n)
    assert pieces(1, 10) == 11.0


@kernel
def spin(steps):
    x = 1
    for _ in range(steps):
        x = (x * 1103515245 + 12345) % 2147483648
    return x


def test_other_threads_go_on():
    spin(1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    beside = threading.Thread(target=tick)
    beside.start()
    began = time.perf_counter()
    spin(30_000_000)
    ended = time.perf_counter()
    done.set()
    beside.join()
    assert sum(began < t < ended for t in ticks) > 5


@kernel
def first_of_many(x):
    return x + 1.0


def test_threads_that_call_at_once_compile_once():
    before, found = compilations().count, []
    together = threading.Barrier(4)

    def call():
        together.wait()
        found.append(first_of_many(1.0))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2.0] * 4
    assert len(first_of_many.doors) == 1
    assert compilations().count <= before + 1
