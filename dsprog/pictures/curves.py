"""Bound and value of a run over time, drawn with matplotlib, which is imported when something is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

VALUE, BOUND = "#D55E00", "#0072B2"


class Moment(Protocol):
    """What is drawn of an event."""

    @property
    def seconds(self) -> float:
        """Since the run began."""

    @property
    def value(self) -> float:
        """Of the best set."""

    @property
    def lower_bound(self) -> float:
        """What is proved."""


def new_axis(axis: Any) -> Any:
    """The axis given, or one of a new figure."""
    if axis is not None:
        return axis
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("drawing needs matplotlib, which is not there: pip install dsprog[plot]") from None
    return plt.figure(figsize=(6.0, 3.4), layout="constrained").add_subplot()


def draw_run(moments: Sequence[Moment], axis: Any = None, maximised: bool = False) -> Any:
    """Steps of the best value and of the bound, and the gap between them in grey; returns the axis."""
    axis, sign = new_axis(axis), -1.0 if maximised else 1.0
    curves = {
        ("best value", VALUE): [(m.seconds, sign * m.value) for m in moments if math.isfinite(m.value)],
        ("bound", BOUND): [(m.seconds, sign * m.lower_bound) for m in moments if math.isfinite(m.lower_bound)],
    }
    for (name, colour), points in curves.items():
        if points:
            axis.step(*zip(*points), where="post", color=colour, linewidth=1.6, label=name)
            axis.plot(*points[-1], "o", color=colour, markersize=4)
    both = [m for m in moments if math.isfinite(m.value) and math.isfinite(m.lower_bound)]
    if both:
        sides = [sign * m.lower_bound for m in both], [sign * m.value for m in both]
        axis.fill_between([m.seconds for m in both], *sides, step="post", color="0.5", alpha=0.15, linewidth=0)
    axis.set(xlabel="seconds", ylabel="objective")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="best")
    return axis
