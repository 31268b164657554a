"""Sizes that kernels are compiled for."""

from __future__ import annotations

from typing import Any


def per_lane(machine: Any, count: int) -> int:
    """How many of ``count`` things each lane of a team has, rounded up to a power of 2: few sizes are compiled."""
    return 1 << max(0, -(-count // machine.lanes) - 1).bit_length()


def aligned(size: int) -> int:
    """Bytes of a team's shared memory such that the next team's doubles begin where doubles may.

    >>> aligned(12)
    16
    """
    return -(-size // 8) * 8
