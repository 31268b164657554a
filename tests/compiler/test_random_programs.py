"""Random kernels do what Python does: nested loops and branches, variables of changing kinds, views, parts and records.

All floats are small multiples of a quarter, and integers are kept small, so that every sum is exact in any order.
"""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.interpreted import interpreted

HEAD = """
from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part

STEP, SHIFT = 3, 0.25


class Box(NamedTuple):
    a: object
    b: object
    k: int
    x: float


@part
def turned(box, k, y):
    if k > STEP:
        return box.x + y, k - 1
    box.b[0] = y
    return box.b[0] - box.x, box.a[k]


@part
def piled(n, y):
    out = np.empty(n)
    for q in range(n):
        out[q] = y + q
    return out


@kernel
def program(box, M, flags, i, j, x, y):
    k, m, n = 0, 1, len(box.a)
    z, v = 0.5, 0
    p, flag = piled(3, x), True
"""


class Author:
    """Writes programs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0

    def one(self, *choices):
        return self.random.choice(choices)

    def whole(self, depth=2):
        """An integer."""
        if depth == 0 or self.random.random() < 0.2:
            return self.one(
                "i", "j", "k", "m", "n", "STEP", "2", "-1", "7", "box.k", "box.a[1]", "len(flags)", "M.shape[1]"
            )
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // {self.one('3', '-4', '5')})",
            f"({a} % {self.one('3', '-4')})",
            f"max({a}, {b})", f"min({a}, {b}, 4)", f"abs({a})", f"-{a}", f"({a} if {self.test(0)} else {b})",
            f"box.a[{self.index()}]", f"int({self.number(0)})", f"({a} & 13)", f"({a} ^ {b})", f"({a} << 1)",
            f"({a} >> 2)",
        )  # fmt: skip

    def index(self):
        """A place in an array of five."""
        return self.one("0", "4", "-1", "-2", f"({self.whole(0)}) % 5", "k % 5")

    def number(self, depth=2):
        """A float."""
        if depth == 0 or self.random.random() < 0.2:
            return self.one(
                "x", "y", "z", "0.5", "-1.25", "SHIFT", "box.x", "box.b[3]", "M[1, 2]", "p[0]", "v", "float(i)"
            )
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {self.one('2', '-3', 'STEP')})", f"max({a}, {b})",
            f"min({a}, {b})",
            f"abs({a})", f"-{a}", f"({a} if {self.test(0)} else {b})", f"({a} % 4.0)", f"box.b[{self.index()}]",
            f"M[{self.one('0', '1', '2', '-1')}, {self.index()}]", f"({self.whole(0)} + {a})",
            f"p[{self.one('0', '1', '-1')}]",
            f"np.floor({a})", f"np.ceil({b})", f"turned(box, 1, {self.number(0)})[0]", f"float({self.whole(0)})",
        )  # fmt: skip

    def test(self, depth=2):
        """A condition."""
        if depth == 0:
            return self.one(
                "i < j", "x < y", "k == 2", "flag", "flags[1]", "not flag", "bool(m)", "0 <= k < 3", "z != z"
            )
        a, b = self.test(depth - 1), self.test(depth - 1)
        return self.one(
            f"({a} and {b})", f"({a} or {b})", f"not {a}", f"{self.whole(1)} < {self.whole(1)}",
            f"{self.number(1)} >= {self.number(1)}",
            f"flags[{self.index()}]", f"({self.whole(0)} <= {self.whole(0)} < {self.whole(0)})",
        )  # fmt: skip

    def suite(self, indent, depth):
        for _ in range(self.random.randint(1, 4)):
            self.statement(indent, depth)

    def write(self, indent, line):
        self.lines.append("    " * indent + line)

    def statement(self, indent, depth):
        """One, or a few."""
        kind = self.random.random()
        if depth > 0 and kind < 0.25:
            self.write(indent, f"if {self.test()}:")
            self.suite(indent + 1, depth - 1)
            if self.random.random() < 0.3:
                self.write(indent, f"elif {self.test()}:")
                self.suite(indent + 1, depth - 1)
            if self.random.random() < 0.5:
                self.write(indent, "else:")
                self.suite(indent + 1, depth - 1)
        elif depth > 0 and kind < 0.45:
            self.loop(indent, depth)
        elif kind < 0.5 and self.loops:
            self.write(indent, f"if {self.test()}:")
            self.write(indent + 1, self.one("break", "continue"))
        elif kind < 0.53:
            self.write(indent, f"if {self.test()}:")
            self.write(indent + 1, "return k, m, z, v, flag")
        else:
            self.write(indent, self.simple())

    def loop(self, indent, depth):
        name = f"q{len(self.lines)}"
        head = self.one(
            f"for {name} in range({self.whole(0)} % 6):", f"for {name} in range(5, {self.one('-1', '1')}, -1):",
            f"for {name} in range({self.whole(0)} % 3, 7, {self.one('1', '2')}):", f"for {name} in box.a:",
            f"while {name} < 9:",
        )  # fmt: skip
        if head.startswith("while"):
            self.write(indent, f"{name} = m % 4")
        self.write(indent, head)
        if head.startswith("while"):
            self.write(indent + 1, f"{name} += 2")
        else:
            self.write(indent + 1, f"m = (m + {name}) % 50")
        self.loops += 1
        self.suite(indent + 1, depth - 1)
        self.loops -= 1
        if self.random.random() < 0.2:
            self.write(indent, "else:")
            self.suite(indent + 1, 0)

    def simple(self):
        """An assignment: nothing grows beyond some hundreds."""
        return self.one(
            f"k = ({self.whole()}) % 20", f"m = ({self.whole()}) % 30 - 10", f"z = ({self.number()}) % 32.0",
            f"v = {self.one(f'({self.whole()}) % 9', f'({self.number()}) % 8.0')}", f"flag = {self.test()}",
            f"box.a[{self.index()}] = ({self.whole()}) % 17", f"box.b[{self.index()}] = ({self.number()}) % 16.0",
            f"M[{self.one('0', '1', '2')}, {self.index()}] = ({self.number()}) % 16.0",
            f"flags[{self.index()}] = {self.test()}",
            f"k, m = ({self.whole(1)}) % 11, k", f"box.b[{self.index()}] += {self.one('0.25', '1', '-0.5')}",
            f"p = piled(({self.whole(0)}) % 3 + 2, ({self.number(1)}) % 8.0)", "z, k = turned(box, k % 5, 0.75)",
            "box.b[1:] = 2", "p = M[2]", "p = M[:, 1]", f"M[{self.one('0', '1')}] = z", "p = box.b[1:4].copy()",
            "k += 1", "z -= 0.25",
            "x, y = y, x", "p = box.b", "flag = k == m",
        )  # fmt: skip


def text_of(seed):
    author = Author(seed)
    for _ in range(author.random.randint(3, 9)):
        author.statement(1, 3)
    return HEAD + "\n".join([*author.lines, "    return k, m, z, v, flag", ""])


def arguments(module, seed):
    rng = np.random.default_rng(seed)
    box = module.Box(
        rng.integers(-3, 6, 5), rng.integers(-8, 9, 5) / 4, int(rng.integers(5)), float(rng.integers(9)) / 4
    )
    M, flags = rng.integers(-8, 9, (3, 5)) / 4, rng.random(5) < 0.5
    return box, M, flags, *(int(k) for k in rng.integers(-4, 9, 2)), *(float(x) for x in rng.integers(-9, 9, 2) / 4)


def differences(folder, seed):
    """What the compiled program says, where Python says something else."""
    file = Path(folder) / f"program_{seed}.py"
    file.write_text(text_of(seed))
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location(file.stem, file))
    spec.loader.exec_module(module)
    found = []
    for run in range(4):
        ours, theirs = arguments(module, run), arguments(module, run)
        with np.errstate(all="ignore"):
            expected = interpreted(module.program)(*theirs), *theirs[0][:2], *theirs[1:3]
        got = module.program(*ours), *ours[0][:2], *ours[1:3]
        if not all(
            np.array_equal(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b in zip(got, expected)
        ):
            found.append((seed, run, got, expected))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("DSPROG_CACHE_DIR", str(tmp_path))
    assert differences(tmp_path, seed) == []
