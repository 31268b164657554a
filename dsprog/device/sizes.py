"""Sizes that kernels are compiled for."""

from __future__ import annotations

from typing import Any


def per_lane(machine: Any, count: int) -> int:
    """How many of ``count`` things each lane of a team has."""
    return max(1, -(-count // machine.lanes))


def aligned(size: int) -> int:
    """Bytes of a team's shared memory such that the next team's doubles begin where doubles may.

    >>> aligned(12)
    16
    """
    return -(-size // 8) * 8
