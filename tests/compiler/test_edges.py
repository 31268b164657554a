"""Where machine arithmetic has edges: every operator on every pair of kinds, at the ends of the ranges."""

import __future__

import importlib.util
import linecache
import math
import os
import time
from itertools import product

import numpy as np
import pytest

from dsprog.compiler.kinds import NotAKernel
from dsprog.core.kernel import kernel
from tests.helpers.interpreted import interpreted

LEAST, LARGEST = -(2**63), 2**63 - 1
WHOLE = [LEAST, LEAST + 1, -64, -3, -1, 0, 1, 3, 63, 64, 65, LARGEST]
REAL = [-math.inf, -1e300, -2.5, -1e-200, -0.0, 0.0, 1e-200, 1.0, 2.5, 1e300, math.inf, math.nan]


@kernel
def integers(a, b):
    return a + b, a - b, a * b, a & b, a | b, a ^ b, -a, ~a, abs(a), a // b, a % b


@kernel
def compared(a, b):
    return a < b, a <= b, a == b, a != b, a >= b, a > b, not a, 1 if a and b else 0, 2 if a or b else 3


@kernel
def shifted(a, places):
    return a << places, a >> places


@kernel
def words(a, b, out):
    for i in range(len(a)):
        out[0, i], out[1, i], out[2, i] = a[i] + b[i], a[i] - b[i], a[i] * b[i]
        out[3, i], out[4, i], out[5, i] = a[i] & b[i], a[i] | b[i], a[i] ^ b[i]
        out[6, i], out[7, i] = a[i] // b[i], a[i] % b[i]
        out[8, i], out[9, i] = a[i] >> (b[i] & np.uint64(63)), a[i] << (b[i] & np.uint64(63))
        out[10, i], out[11, i] = abs(a[i]), ~a[i]
        out[12, i] = np.uint64(a[i] < b[i])


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize(("a", "b"), product(WHOLE, WHOLE))
def test_integers_wrap_and_round_down(a, b):
    expected = [a + b, a - b, a * b, a & b, a | b, a ^ b, -a, ~a, abs(a), a // b if b else 0, a % b if b else 0]
    assert list(integers(a, b)) == [wrapped(value) for value in expected]
    assert compared(a, b) == interpreted(compared)(a, b)


@pytest.mark.parametrize(("a", "places"), product(WHOLE, [0, 1, 5, 62, 63, 64, 65, 1000]))
def test_shifts_by_many_places(a, places):
    assert shifted(a, places) == (wrapped(a << places), a >> places)


def test_words():
    values = np.array([0, 1, 3, 63, 64, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    a, b = (np.array(column) for column in zip(*product(values, values[1:])))
    ours, theirs = np.zeros((13, len(a)), dtype=np.uint64), np.zeros((13, len(a)), dtype=np.uint64)
    words(a, b, ours)
    with np.errstate(over="ignore"):
        interpreted(words)(a, b, theirs)
    assert ours.tolist() == theirs.tolist()


@kernel
def floats(a, b):
    return a + b, a - b, a * b, a / b, -a, abs(a)


@kernel
def rests(a, b):
    return a % b


@pytest.mark.parametrize(("a", "b"), product(REAL, REAL))
def test_floats(a, b):
    with np.errstate(all="ignore"):
        expected = interpreted(floats)(np.float64(a), np.float64(b))
    assert np.array_equal(floats(a, b), expected, equal_nan=True)
    assert compared(a, b) == interpreted(compared)(a, b)
    if math.isfinite(a) and b and b == b:
        assert rests(a, b) == a % b


@pytest.mark.parametrize(("a", "b"), product(REAL, [-3, 0, 2]))
def test_floats_and_integers(a, b):
    assert compared(a, b) == interpreted(compared)(a, b)
    assert compared(b, a) == interpreted(compared)(b, a)


@kernel
def whole(x, out):
    out[0] = x
    return int(x)


@pytest.mark.parametrize("x", [*REAL, 2.0**63, -(2.0**63), 2.0**62, 0.9999, -0.9999])
def test_a_float_that_is_no_integer_becomes_the_next(x):
    out, expected = np.zeros(1, dtype=np.int64), 0 if x != x else max(LEAST, min(LARGEST, int(np.clip(x, -1e19, 1e19))))
    assert whole(x, out) == out[0] == expected


@kernel
def of_constants():
    return int(1e30), int(-np.inf), int(np.nan), int(2.5), -7 // -1, 7 % -1, 5 // 0, +True


def test_constants():
    assert of_constants() == (LARGEST, LEAST, 0, 2, 7, 0, 0, 1)


@kernel
def guarded(a, i, counts):
    n = len(a)
    first = 0 <= i < n > a[i] > 0
    return first, -1 < i < counted(counts, 5) < counted(counts, 9)


@kernel
def counted(counts, value):
    counts[0] += 1
    return value


@pytest.mark.parametrize("i", [-1, 0, 1, 2, 6, 10**15])
def test_a_chain_ends_with_the_first_that_is_false(i):
    a, ours, theirs = np.array([1, 5]), np.zeros(1), np.zeros(1)
    assert guarded(a, i, ours) == interpreted(guarded)(a, i, theirs)
    assert ours == theirs


@kernel
def ranges(start, stop, step):
    total = 0
    for i in range(start, stop, step):
        total = total * 3 + i
        if total > 1000000:
            break
    return total


@pytest.mark.parametrize(("start", "stop", "step"), product([-3, 0, 4], [-3, 0, 4], [-2, -1, 1, 2, 9]))
def test_ranges(start, stop, step):
    assert ranges(start, stop, step) == interpreted(ranges)(start, stop, step)


def test_a_range_of_no_steps_is_empty():
    assert ranges(5, 0, 0) == ranges(0, 5, 0) == 0


@kernel
def both_ways(a, b):
    for i in range(len(a)):
        b[i] = a[i] + 1.0


@pytest.mark.parametrize(("here", "there"), [((0, 7), (1, 8)), ((1, 8), (0, 7)), ((0, 8), (0, 8))])
def test_arrays_that_overlap(here, there):
    """What is written is read again, as the loop says."""
    ours, theirs = np.arange(8.0), np.arange(8.0)
    both_ways(ours[slice(*here)], ours[slice(*there)])
    interpreted(both_ways)(theirs[slice(*here)], theirs[slice(*there)])
    assert ours.tolist() == theirs.tolist()


def imported(file, text):
    file.write_text("import numpy as np\nfrom dsprog.core.kernel import kernel\n" + text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ANSWER = "\n\n@kernel\ndef answer(x):\n    return x + {}\n"


def test_text_that_has_changed_since_it_was_imported(tmp_path):
    """Neither compiled nor kept: its file would be found by what was there before, with the same time or not."""
    file = tmp_path / "answers.py"
    before = imported(file, ANSWER.format(1))
    times = os.stat(file).st_atime_ns, os.stat(file).st_mtime_ns
    now = imported(file, ANSWER.format(200))
    with pytest.raises(NotAKernel, match="the text of answer has changed"):
        before.answer(1)
    assert now.answer(1) == 201
    again = imported(file, ANSWER.format(3))
    os.utime(file, ns=times)
    assert again.answer(1) == 4
    assert imported(file, ANSWER.format(1)).answer(1) == 2


@pytest.mark.parametrize("flags", [0, __future__.annotations.compiler_flag])
def test_a_cell_of_a_notebook(flags, monkeypatch):
    """Its text is nowhere but in Python's memory of lines, and what an earlier cell imported from the future holds."""
    text, name = f"@kernel\ndef cell(x):\n    return x + {flags}\n", f"<cell {flags}>"
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    names = {"kernel": kernel}
    exec(compile(text, name, "exec", flags, dont_inherit=True), names)
    assert names["cell"](2) == 2 + flags


def test_names_of_any_alphabet(tmp_path):
    assert imported(tmp_path / "letters.py", "\n\n@kernel\ndef größe(ä):\n    ß = ä + 1\n    return ß\n").größe(1) == 2


def test_variables_of_a_function_around_are_none(tmp_path):
    text = "\nscale = 5\n\n\ndef made(scale):\n    @kernel\n    def scaled(x):\n        return scale * x\n\n"
    text += "    return scaled\n"
    with pytest.raises(NotAKernel, match="scale belongs to a function around"):
        imported(tmp_path / "closure.py", text).made(2)(3.0)


def test_kernels_that_call_each_other(tmp_path):
    text = "\n\n@kernel\ndef ping(x):\n    return pong(x)\n\n\n@kernel\ndef pong(x):\n    return ping((x, 1))\n"
    with pytest.raises(NotAKernel, match="ping calls itself"):
        imported(tmp_path / "mutual.py", text).ping(2)


def test_many_kernels_of_one_text_are_found_at_once(tmp_path):
    text = "".join(f"\n\n@kernel\ndef f{k}(x):\n    return x + {k}\n" for k in range(200))
    module, began = imported(tmp_path / "many.py", text), time.process_time()
    assert module.f199(1) == 200
    assert time.process_time() - began < 2.0
