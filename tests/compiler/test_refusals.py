"""What is no kernel is refused, with the reason and the place."""

import importlib.util
from typing import NamedTuple

import numpy as np
import pytest

from dsprog.compiler.kinds import NotAKernel
from dsprog.core.kernel import kernel

REFUSED = {
    "return [1, 2]": "kernels know no List",
    "return {1: 2}": "no Dict",
    "return [x for x in a]": "no ListComp",
    "return (lambda y: y)(n)": "do not know lambda",
    "raise ValueError": "no Raise",
    "assert n": "no Assert",
    "with n:\n        pass": "no With",
    "del n": "no Delete",
    "n: int = 3": "no AnnAssign",
    "return n if (m := n) else 0": "no NamedExpr",
    "return n is None": "None is no number",
    "return n in a": "is no number",
    "return a + a": "a is no number",
    "a += 1": "float64[:]",
    "a[:] += 1": "whole arrays are changed in loops",
    "a[:] = a": "float64[:]",
    "a[0] = a": "float64[:]",
    "a.x = 1": "nothing can be assigned to a.x",
    "return a[::2]": "slices have no steps",
    "return a[:-1][0]": "do not count from the end",
    "return a[x]": "x is no integer",
    "return a[0, 1]": "2 indices for 1 dimensions",
    "for i in range(x):\n        pass": "x is no integer",
    "return a.sum()": "do not know a.sum",
    "return a.T": "has no T",
    "return np.dot(a, a)": "np.dot of float64[:]",
    "return np.sin(x)": "do not know np.sin",
    "return np.empty(a)": "no array that kernels know",
    "return np.empty(3, dtype='complex')": "no array that kernels know",
    "return np.empty(3, 1, 2)": "all that kernels know",
    "return np.empty(3)": "Python cannot take",
    "return print(n)": "do not know print",
    "return max(n, key=n)": "have no names in kernels",
    "return max(a)": "max of float64[:]",
    "return other(n)": "nothing is called other",
    "return TABLE[n]": "is no value in a kernel",
    "return module.NUMBER": "needs a name in the module",
    "return plain(n)": "do not know plain",
    "return itself(a, n, x)": "itself calls itself",
    "return Two(n)": "Two has 2 fields",
    "return Two(n, x).z": "has no z",
    "return Two(n, x)[n]": "named by constants",
    "m = n if n else a": "is int here and float64[:] there",
    "if n:\n        m = 1\n    else:\n        m = a\n    return m[0] if n else 0": "there",
    "return m\n    m = n": "m is used before it is anything",
    "return n and 2": "n is no truth value",
    "return np.uint64(3) + n": "convert one of them",
    "return -np.uint64(3)": "without a sign",
    "return ~x": "~ of",
    "return x << 2": "LShift",
    "return x // 2.0": "FloorDiv",
    "return n ** n": "power of integers",
    "if n:\n        return 1\n    return a": "there",
    "if n:\n        return 1": "there",
    "return 'a'": "is no value",
    "x, y = n": "a tuple is needed",
    "x, y = n, x, 1": "(x, y): there are 3 items",
    "x, y = 1, (2, 3), 4": "there are 3 items",
    "x, y, n = a.shape": "there are 1 items",
    "return a.shape[1]": "has no item 1",
    "return Two(n, x)[-3]": "has no item -3",
    "return a[n > 1]": "is a truth value, and no index",
    "return a[True]": "is a truth value, and no index",
    "for i in range():\n        pass": "one, two or three ends",
    "for i in range(1, 2, 3, 4):\n        pass": "one, two or three ends",
    "for i in range(3, 9, 0):\n        pass": "steps of 0",
    "while True:\n        n += 1": "a loop without an end",
    "return n + 2 ** 64": "power of integers",
    "return n + 18446744073709551616": "no integer of 64 bits",
    "return n << -1": "a shift by less than nothing",
    "return np.nothing(n)": "NumPy has no nothing",
    "return TABLE(n)": "do not know TABLE",
    "return LIST(n)": "do not know LIST",
    "return NUMBERS(n)": "do not know NUMBERS",
    "return TEXT": "is no value",
    "global m\n    m = 1": "no Global",
    "import os": "no Import",
    "try:\n        n = 1\n    except ValueError:\n        pass": "no Try",
    "yield n": "no Yield",
    "match n:\n        case 1:\n            return 1": "no Match",
    "return a[...]": "is no value",
    "return a[None]": "None is no number",
    "return a[a]": "a is no number",
    "return len(n)": "an array is needed",
    "return len((1, 2))": "an array is needed",
    "return a[:, n]": "for 1 dimensions",
    "x, *y = n, 1": "nothing can be assigned to *y",
    "return max(*a)": "no Starred",
    "return np.sqrt(x, x)": "of 2 arguments",
    "return np.inf.real": "needs a name in the module",
    "return f'{n}'": "no JoinedStr",
    "return 1j": "is no value",
    "return 'a' + n": "is no value",
    "return x @ x": "MatMult",
    "return n is x": "Is of",
    "return Two(a=n, b=x)": "have no names in kernels",
    "return a.copy(1)": "do not know a.copy",
    "return np.zeros(3, dtype=DTYPE)": "no array that kernels know",
    "return np.zeros(x)": "x is no integer",
    "for i in (1, 2):\n        pass": "an array is needed",
    "for i, j in a:\n        pass": "a tuple is needed",
}

HEAD = """
from typing import NamedTuple
import numpy as np
from dsprog.core.kernel import kernel
import math as module

TABLE, LIST, TEXT, NUMBERS, DTYPE = {}, [], "a", np.zeros(3), "S3"


class Two(NamedTuple):
    a: int
    b: float


def plain(n):
    return n


@kernel
def itself(a, n, x):
    """


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body, tmp_path):
    file = tmp_path / "refused.py"
    file.write_text(HEAD + body + "\n")
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("refused", file))
    spec.loader.exec_module(module)
    with pytest.raises(NotAKernel) as caught:
        module.itself(np.zeros(3), 2, 0.5)
    assert REFUSED[body] in str(caught.value)
    if "Python cannot" not in REFUSED[body]:
        assert any(
            "refused.py" in note and "in itself(float64[:], int, float)" in note for note in caught.value.__notes__
        )


@kernel
def anything(value):
    return 0


class Holder(NamedTuple):
    what: object


@pytest.mark.parametrize(
    "value",
    ["a", {}, [1.0], 1j, object(), np.zeros(3, dtype=complex), np.array(1.0), np.zeros(2, dtype=object), Holder("a"),
     np.zeros(2, ">f8"), np.zeros(2, dtype="M8[s]"), (1, "a")],
)  # fmt: skip
def test_refused_arguments(value):
    with pytest.raises(NotAKernel, match="kernels take"):
        anything(value)


def test_the_number_of_arguments():
    with pytest.raises(NotAKernel, match="anything is called with 2 arguments"):
        anything(1, 2)


def test_a_kernel_without_its_text():
    names = {}
    exec("def hidden(x):\n    return x\n", names)
    with pytest.raises(NotAKernel, match="the text of hidden is not to be found"):
        kernel(names["hidden"])(1.0)
