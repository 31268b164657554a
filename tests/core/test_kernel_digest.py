"""Under which name compiled code is kept: whatever would make it stale changes the name."""

import types
from typing import NamedTuple

from dsprog.core.kernel import Kernel, kernel, part, part_for


class Box(NamedTuple):
    low: float


class Crate(NamedTuple):
    low: float


def area(box):
    return box.low


def kept(**names):
    """The fingerprint of a kernel in a module that knows these names."""
    return Kernel(types.FunctionType(area.__code__, names)).digest


def test_a_structure_that_is_renamed_or_gone_changes_the_name():
    """Code kept for the old type could not be read back: the class is looked up by its name."""
    assert len({kept(), kept(Box=Box), kept(Box=Crate), kept(Box=Box, Crate=Crate)}) == 4
    assert kept(Box=Box) == kept(Box=Box, other=1.0)


@part_for("threes", lambda x: 0.0)
def three_times(x):
    return 3.0 * x


@part
def sum_of(x):
    return x + three_times(x)


@kernel
def asks(x):
    return sum_of(x)


def test_parts_that_call_others_have_another_name():
    """Two kernels on disk bring their parts along, and the linker keeps the first of each name."""
    whole, smaller = asks, asks.without(frozenset({"threes"}))
    names = [one.called["sum_of"].linked.py_func.__qualname__ for one in (whole, smaller)]
    assert names[0] != names[1]
    assert (whole(2.0), smaller(2.0)) == (8.0, 2.0)
