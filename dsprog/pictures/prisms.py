"""The prismatic algorithm as a picture: the simplices below its prisms, in two and in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from dsprog.pictures.curves import new_axis

OPEN, DELETED, BEST = "#0072B2", "0.75", "#D55E00"
BOX = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def open_and_deleted(records: Sequence[Any]) -> tuple[list[tuple[np.ndarray, float]], list[np.ndarray]]:
    """The simplices that are open after these iterations, with their bounds, and those that were deleted."""
    standing: dict[bytes, tuple[np.ndarray, float]] = {}
    gone = []
    for record in records:
        if record.vertices is not None:
            standing.pop(record.vertices.tobytes(), None)
        for part, bound, is_open in zip(record.parts, record.bounds, record.open):
            if is_open:
                standing[part.tobytes()] = part, float(bound)
            else:
                gone.append(part)
    return list(standing.values()), gone


def draw_prisms(records: Sequence[Any], axis: Any = None, best: Sequence[int] = ()) -> Any:
    """Draw what the given :class:`dsprog.PrismIteration` records lead to; two or three elements. Returns the axis.

    Open simplices are blue and carry their bounds in two dimensions, deleted ones grey, the set ``best`` orange.
    """
    n = records[0].parts.shape[2]
    if n not in (2, 3):
        raise ValueError(f"records must be of 2 or 3 elements to be drawn, got {n}")
    standing, gone = open_and_deleted(records)
    return (draw_plane if n == 2 else draw_space)(standing, gone, axis, set(best))


def draw_plane(standing: list[tuple[np.ndarray, float]], gone: list[np.ndarray], axis: Any, best: set[int]) -> Any:
    """Triangles around the square."""
    axis = new_axis(axis)
    for vertices in gone:
        axis.fill(*vertices.T, facecolor="0.93", edgecolor=DELETED, linewidth=0.7)
    for vertices, bound in standing:
        axis.fill(*vertices.T, facecolor="#cfe3f3", edgecolor=OPEN, linewidth=1.0)
        words = {"ha": "center", "va": "center", "color": "#004a73", "fontsize": 9, "zorder": 4, "bbox": BOX}
        axis.text(*vertices.mean(axis=0), f"{bound:.2f}", **words)
    axis.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="black", linewidth=1.4)
    for corner in product((0, 1), repeat=2):
        is_best = {j for j in range(2) if corner[j]} == best
        style = {"color": BEST if is_best else "black", "markersize": 8 if is_best else 4}
        axis.plot(*corner, "o", zorder=3, **style)
    axis.set_aspect("equal")
    axis.spines[["top", "right"]].set_visible(False)
    return axis


def draw_space(standing: list[tuple[np.ndarray, float]], gone: list[np.ndarray], axis: Any, best: set[int]) -> Any:
    """Edges of tetrahedra around the cube."""
    if axis is None:
        axis = new_axis(None).figure
        axis.clear()
        axis = axis.add_subplot(projection="3d")
    for vertices, colour, width in [(v, DELETED, 0.4) for v in gone] + [(v, OPEN, 1.2) for v, _ in standing]:
        for i, j in combinations(range(4), 2):
            axis.plot(*vertices[[i, j]].T, color=colour, linewidth=width)
    corners = np.array(list(product((0, 1), repeat=3)))
    for a, b in combinations(corners, 2):
        if np.abs(a - b).sum() == 1:
            axis.plot(*np.array([a, b]).T, color="black", linewidth=1.4)
    for corner in corners:
        is_best = {j for j in range(3) if corner[j]} == best
        axis.plot(*[[c] for c in corner], "o", color=BEST if is_best else "black", markersize=8 if is_best else 4)
    axis.set(xlabel="x₀", ylabel="x₁", zlabel="x₂")
    return axis
