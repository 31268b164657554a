"""Kernels do what Python does: each construct of their language, on numbers of both signs, ties, zeros and edges."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from dsprog.core.kernel import kernel, part
from tests.helpers.interpreted import interpreted

THREE, HALF, MASK = 3, 0.5, np.uint64(0xFF51AFD7ED558CCD)


class Pair(NamedTuple):
    a: np.ndarray
    scale: float


class Nested(NamedTuple):
    flag: bool
    pair: Pair
    count: int
    b: np.ndarray


@kernel
def integers(a, b):
    return a + b, a - b, a * b, a < b, a <= b, a == b, a != b, a >= b, a > b, max(a, b), min(a, b), abs(a), -a


@kernel
def quotients(a, b):
    return a // b, a % b, a / b


@kernel
def floats(a, b):
    return a + b, a - b, a * b, a / b, a < b, a >= b, a == b, a != b, max(a, b), min(a, b), abs(a), -a, a % b


@kernel
def mixed(a, b):
    return a + b, b - a, a * b, a < b, max(a, b), a if a < b else b, int(b), float(a), bool(b), a == b


@kernel
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << 3, a >> 1


@kernel
def truths(a, b):
    return a and b, a or b, not a, a and not b, (a | b) & (not a), a ^ b, a + b, a < b


@kernel
def chains(a, b, c):
    return a < b <= c, a <= b < c, a < b > c


@kernel
def functions(x):
    return np.sqrt(x), np.log(x), np.exp(-x), np.log1p(x), np.ceil(x), np.floor(x), np.isinf(x), np.isfinite(x)


@kernel
def powers(x, y):
    return x**2, x**3, x**0.5, x**y, HALF**y


@kernel
def constants():
    return THREE, HALF, np.inf, -np.inf, True, None, 1 << 40


SMALL = [-7, -3, -1, 0, 1, 2, 5]
REAL = [-2.5, -1.0, -0.0, 0.0, 0.5, 3.0, np.inf]


def same(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        assert type(ours) is type(theirs) if not isinstance(theirs, np.generic) else True
        assert ours == theirs or (ours != ours and theirs != theirs)


@pytest.mark.parametrize(("a", "b"), product(SMALL, SMALL))
def test_integers(a, b):
    same(integers(a, b), interpreted(integers)(a, b))
    if b:
        same(quotients(a, b), interpreted(quotients)(a, b))
    same(bits(a, b), interpreted(bits)(a, b))


@pytest.mark.parametrize("a", SMALL)
def test_a_quotient_by_zero_is_zero_and_a_fraction_is_none(a):
    quotient, rest, fraction = quotients(a, 0)
    assert (quotient, rest) == (0, 0)
    assert not np.isfinite(fraction)


def test_integers_wrap():
    assert integers(2**62, 2**62)[0] == -(2**63)
    with pytest.raises(OverflowError):
        integers(2**63, 1)


@pytest.mark.parametrize(("a", "b"), product(REAL, REAL))
def test_floats(a, b):
    with np.errstate(all="ignore"):
        expected = interpreted(floats)(np.float64(a), np.float64(b))
    found = floats(a, b)
    same(found[:-1], [x.item() if hasattr(x, "item") else x for x in expected[:-1]])
    if b and np.isfinite(a) and np.isfinite(b):
        assert found[-1] == expected[-1]


@pytest.mark.parametrize(("a", "b"), product(SMALL, [x for x in REAL if np.isfinite(x)]))
def test_an_integer_and_a_float(a, b):
    """What is sometimes an integer and sometimes a float is a float."""
    assert mixed(a, b) == interpreted(mixed)(a, b)


@pytest.mark.parametrize(("a", "b"), product([False, True], repeat=2))
def test_truths(a, b):
    same(truths(a, b), interpreted(truths)(a, b))


@pytest.mark.parametrize("values", product([0, 1, 2], repeat=3))
def test_chains_of_comparisons(values):
    assert chains(*values) == interpreted(chains)(*values)


@pytest.mark.parametrize("x", [0.0, 1e-300, 0.5, 1.0, 2.5, 1e300, np.inf])
def test_functions(x):
    with np.errstate(all="ignore"):
        expected = interpreted(functions)(x)
    assert functions(x) == pytest.approx(tuple(map(float, expected)), rel=1e-15)
    if x < 1e10:
        assert powers(x, 1.5) == pytest.approx(tuple(interpreted(powers)(x, 1.5)), rel=1e-15)


def test_constants_and_no_number():
    assert constants() == interpreted(constants)()
    assert np.isnan(floats(np.nan, 1.0)[0])
    assert floats(np.nan, 1.0)[4:8] == (False, False, False, True)


@pytest.mark.parametrize(("order", "expected"), [((1.0, np.nan), np.nan), ((np.nan, 1.0), 1.0)])
def test_of_a_number_and_none_the_second_is_the_extreme(order, expected):
    """As a comparison with no number is false: a bound that is none comes out where it is named last."""
    assert np.array_equal(floats(*order)[8:10], (expected, expected), equal_nan=True)


@kernel
def loops(n, start, step):
    total, seen = 0, 0
    for i in range(n):
        if i % 3 == 1:
            continue
        if i > 20:
            break
        total += i
    else:
        seen += 100
    for i in range(start, n, 2):
        total += 7 * i
    for i in range(n, -1, -1):
        total -= i * i
    for i in range(0, n, step):
        seen += i
    for i in range(n, 0, -step):
        seen += 3 * i
    i = n
    while i > 0:
        i //= 2
        seen += 1
        if i == 5:
            break
    else:
        seen += 1000
    return total, seen, i


@kernel
def searches(values, wanted):
    """Loops that are left by a return, and loops without an end of their own."""
    for i in range(len(values)):
        if values[i] == wanted:
            return i
    k = 0
    while True:
        k += 1
        if k * k > len(values):
            break
    while True:
        k -= 1
        if k < -2:
            return k


@kernel
def changed_in_the_loop(n):
    out = 0
    for i in range(n):
        i += 2 * out
        out += i
    last = i
    return out, last


@pytest.mark.parametrize(("n", "start", "step"), product([0, 1, 2, 7, 30], [-3, 0, 5], [1, 2, 5]))
def test_loops(n, start, step):
    assert loops(n, start, step) == interpreted(loops)(n, start, step)
    if n:
        assert changed_in_the_loop(n) == interpreted(changed_in_the_loop)(n)


def test_searches():
    values = np.array([4.0, 5.0, 6.0])
    for wanted in (4.0, 6.0, 7.0):
        assert searches(values, wanted) == interpreted(searches)(values, wanted)


@kernel
def branches(x, n):
    if x > 2.0:
        y = 1
    elif x > 1.0:
        y = 2.5
    elif x > 0.0:
        return -1.0
    else:
        y = n
    y = y + (1 if n > 0 else 0.25)
    if n > 5 and x < 3.0 and (n != 7 or x > 2.5):
        y += 10
    return y


@pytest.mark.parametrize(("x", "n"), product([-1.0, 0.5, 1.5, 2.7, 4.0], [-1, 0, 6, 7]))
def test_branches(x, n):
    assert branches(x, n) == interpreted(branches)(x, n)


@kernel
def exchanges(a, i, j):
    a[i], a[j] = a[j], a[i]
    i, j = j, i
    first = second = a[i]
    second += 1.0
    i, a[i] = 0, 9.0  # the index is the new one
    return first, second, i, j


def test_all_of_the_right_side_comes_first():
    ours, theirs = np.arange(5.0), np.arange(5.0)
    assert exchanges(ours, 1, 3) == interpreted(exchanges)(theirs, 1, 3)
    assert ours.tolist() == theirs.tolist()


@kernel
def views(A, out):
    row, column = A[1], A[:, 2]
    row[0] = 5
    column[1:] = 7
    A[0, :2] = 3
    out[:] = 2
    total = 0
    for x in column:
        total += x
    for one in A:
        total += 100 * one[0]
    for i in range(len(row)):
        total += 1000 * row[i]
    piece = row[1:3]
    m, n = A.shape
    return total, len(column), len(piece), piece[-1], m * n, A.size, A[-1, 0], len(row[2:1]), len(row[:99])


def laid_out(A, layout):
    """The same array, with its entries elsewhere."""
    if layout == "strided":
        return np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3]
    return np.array(A, order=layout)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64"]
)
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_views(dtype, layout):
    A = np.arange(15).reshape(3, 5)
    ours, theirs = laid_out(A.astype(dtype), layout), A.copy()
    out = [np.zeros((2, 3, 1))[:, ::2] for _ in range(2)]
    assert views(ours, out[0]) == interpreted(views)(theirs, out[1])
    assert ours.tolist() == theirs.tolist()
    assert out[0].tolist() == out[1].tolist() == [[[2.0], [2.0]]] * 2


@kernel
def stored(values, out):
    for i in range(len(values)):
        out[i] = values[i]
        out[i] += 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_what_does_not_fit_an_item_wraps(dtype):
    values = np.array([-1, 0, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1])
    out = np.zeros(len(values), dtype=dtype)
    stored(values, out)
    with np.errstate(over="ignore"):
        assert out.tolist() == (values.astype(dtype) + np.array(1, dtype=dtype)).tolist()


@kernel
def masked(masks, out):
    for i in range(len(masks)):
        out[i] = not masks[i]
        if masks[i] and i > 0:
            out[i] = masks[i - 1] | out[i]


def test_masks():
    masks = np.array([True, False, True, True])
    out = np.zeros((2, 4), dtype=bool)
    masked(masks, out[0])
    interpreted(masked)(masks, out[1])
    assert out[0].tolist() == out[1].tolist()
    odd = np.array([2, 0, 255, 1], dtype=np.uint8).view(bool)  # whatever is not 0 is true
    masked(odd, out[0])
    assert out[0].tolist() == out[1].tolist()


@kernel
def hashes(words):
    h, a = np.uint64(0), MASK
    for i in range(len(words)):
        h += (words[i] ^ (h >> np.uint64(3))) * a
        a *= MASK
    return (
        np.int64(h >> np.uint64(20)),
        h > np.uint64(5),
        np.int64(words[0] & np.uint64(255)),
        np.int64(~words[0] >> np.uint64(40)),
    )


def test_words():
    words = np.array([2**63 + 11, 3, 2**64 - 1], dtype=np.uint64)
    with np.errstate(over="ignore"):
        assert hashes(words) == interpreted(hashes)(words)


@part
def half(pair, i):
    return HALF * pair.scale * pair.a[i]


@part
def longer(pair, n):
    """An array that outlives the function that made it."""
    b = np.zeros(n)
    for i in range(min(n, len(pair.a))):
        b[i] = pair.a[i]
    return Pair(b, pair.scale + 1.0)


@part
def total_of(pair):
    total = 0.0
    for i in range(len(pair.a)):
        total += half(pair, i)
    return total, pair.scale


@kernel
def records(nested, k):
    pair = nested.pair
    total, scale = total_of(pair)
    best = pair
    for i in range(k):
        other = longer(best, 2 + i)
        if total_of(other)[0] > total or i == 0:
            best = other  # a record in memory, or one that was made here
    for i in range(len(nested.b)):
        nested.b[i] += best.a[0]
    copy = nested.b.copy()
    copy[0] = -1.0
    counts = np.empty((2, k + 1), dtype=np.int64)
    for i in range(k + 1):
        counts[0, i], counts[1, i] = i, nested.count
    return total, scale, best.scale, len(best.a), nested.b[0], copy[0], counts[1, k] if nested.flag else counts[0, k]


@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("flag", [False, True])
def test_records(k, flag):
    a, b = np.array([1.0, -2.0, 3.5]), [np.array([4.0, 5.0]), np.array([4.0, 5.0])]
    ours = records(Nested(flag, Pair(a, 2.0), 7, b[0]), k)
    assert ours == interpreted(records)(Nested(flag, Pair(a, 2.0), 7, b[1]), k)
    assert b[0].tolist() == b[1].tolist()


@kernel
def by_name(pair):
    return pair.scale - len(pair.a)


class Reversed(NamedTuple):
    scale: np.ndarray
    a: np.ndarray


class Other(NamedTuple):
    scale: float
    a: np.ndarray


class Same(NamedTuple):
    length: np.ndarray
    scale: float
    a: np.ndarray


def test_fields_are_those_of_the_class():
    """Records of other classes have doors of their own, also where the kinds of their fields are the same."""
    a = np.zeros(3)
    assert by_name(Pair(a, 1.0)) == by_name(Other(1.0, a)) == -2.0
    assert by_name(Same(np.zeros(9), 1.0, a)) == -2.0
    assert by_name(Pair(a[:2], 1.0)) == -1.0
