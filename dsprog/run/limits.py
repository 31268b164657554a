"""When a run stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import as_count


@dataclass(frozen=True)
class Limits:
    """Seconds, nodes, and the relative gap to accept."""

    time_limit: float | None = None
    node_limit: int | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        if self.time_limit is not None and not (is_number(self.time_limit) and self.time_limit >= 0):
            raise ValueError(f"time_limit must be a number of seconds at least 0, got {self.time_limit!r}")
        if self.node_limit is not None:
            as_count(self.node_limit, "node_limit")
        if not (is_number(self.gap) and 0 <= self.gap < np.inf):
            raise ValueError(f"gap must be a finite number at least 0, got {self.gap!r}")

    def after(self, seconds: float, nodes: int) -> Limits:
        """What is left of seconds and nodes; the gap belongs to the whole."""
        time_limit = None if self.time_limit is None else max(0.0, self.time_limit - seconds)
        return Limits(time_limit, None if self.node_limit is None else max(0, self.node_limit - nodes))


def is_number(value: object) -> bool:
    """Whether a value is a real number, NaN and infinity included."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
