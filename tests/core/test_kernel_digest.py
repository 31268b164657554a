"""Under which name compiled code is kept: whatever would make it stale changes the name."""

import types
from typing import NamedTuple

from dsprog.core.kernel import Kernel


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
