"""How Python calls kernels: kinds of arguments, numbers of NumPy, references, threads, and memory."""

import enum
import sys
import threading
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest

from dsprog.compiler.kinds import NotAKernel
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


@part
def last_of(pair):
    return pair.inner[0]


@part
def one_of(a, b, first):
    return a if first else b


@kernel
def writes(data, a, b, c, flag, out):
    total = 0.0
    row = a
    for _ in range(3):
        column = last_of(data)
        view = one_of(row, b, flag)
        row = b  # what `view` may be is known when the loop is read again
        total += c[0] + column[0]
    view[0] = 1.0
    data.a[0] += 1.0
    out[:] = total


@pytest.mark.parametrize("writing", [("data", "a"), ("a",), ("b",), ("out",)])
@pytest.mark.parametrize("first", [False, True])
def test_what_is_read_only_is_not_written_to(writing, first):
    """It is refused if it may be written to, also as a view, as one of two, by a part, or in a record."""
    arrays = {name: np.ones(3) for name in ("data", "inner", "a", "b", "c", "out")}
    for name in ("inner", "c"):
        arrays[name].setflags(write=False)

    def call():
        data = Data(arrays["data"], (arrays["inner"],), None)
        writes(data, *(arrays[name] for name in "abc"), first, arrays["out"])

    call()
    for name in writing:
        arrays[name].setflags(write=False)
    before = {name: array.copy() for name, array in arrays.items()}
    with pytest.raises(ValueError, match="writes writes to an array that is read-only"):
        call()
    assert all(np.array_equal(before[name], array) for name, array in arrays.items())


def record():
    class Record(NamedTuple):
        a: np.ndarray
        x: float

    return Record


@kernel
def product_of(pair):
    return pair.a[0] * pair.x


def test_classes_of_one_name():
    """As where a module is loaded again, or a class comes with a pickled function."""
    before, a = compilations().count, np.ones(2)
    assert [product_of(record()(a, x)) for x in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]
    assert compilations().count <= before + 1


class Level(enum.IntEnum):
    LOW = 3


class Weight(float):
    """A number of one's own."""


def test_numbers_of_other_classes():
    for number in (Level.LOW, Weight(3.0), np.longdouble(3.0), np.int16(3), np.float16(3.0)):
        assert summed(np.ones(2), number) == 6.0


@pytest.mark.parametrize("name", ["int8", "byte", "short", "intc", "int32", "long", "longlong", "uint", "ulonglong"])
def test_integers_of_all_names(name):
    a = np.arange(3).astype(np.dtype({"byte": "b", "long": "l", "ulonglong": "Q", "longlong": "q"}.get(name, name)))
    if a.dtype.name != "uint64":
        assert summed(a, 2) == 6
    assert summed(a, 0.5) == 1.5


def test_what_lies_between_words_is_refused():
    a = np.zeros(17, dtype=np.uint8)[1:].view(np.float64)
    assert not a.flags.aligned
    with pytest.raises(NotAKernel, match="copy them"):
        summed(a, 1.0)


@kernel
def two_numbers(a, b):
    return a + b


def test_a_number_that_is_too_large_beside_one_of_another_kind():
    two_numbers(1, 2)
    with pytest.raises(OverflowError):
        two_numbers(2**64, 0.5)
    with pytest.raises(NotAKernel):
        two_numbers(2**64, "a")


@kernel
def first_and_length(t):
    return t[0], len(t[1])


def test_tuples_of_another_length_have_a_door_of_their_own():
    a = np.zeros(4)
    assert first_and_length((1.0, a, 3)) == (1.0, 4)
    doors = len(first_and_length.doors)
    assert first_and_length((2.0, a)) == (2.0, 4)
    assert len(first_and_length.doors) == doors + 1
    for short in ((3.0,), ()):
        with pytest.raises(NotAKernel, match="has no item"):
            first_and_length(short)
