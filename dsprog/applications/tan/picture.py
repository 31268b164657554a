"""A picture of a network: the class on top, every level of the tree a row, parents above their children."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.validation import Floats, Ints


def positions(parents: Ints) -> Floats:
    """A place (x, y) for each attribute: leaves side by side, y = -depth."""
    n = len(parents)
    children: list[list[int]] = [[] for _ in range(n)]
    for j, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(j)
    places, used = np.zeros((n, 2)), 0
    stack = [(int(root), 0, False) for root in np.flatnonzero(parents < 0)[::-1]]
    while stack:
        j, depth, seen = stack.pop()
        if children[j] and not seen:
            stack.append((j, depth, True))
            stack += [(child, depth + 1, False) for child in reversed(children[j])]
        elif children[j]:
            places[j] = places[children[j], 0].mean(), -depth
        else:
            places[j] = used, -depth
            used += 1
    return places


def draw_tree(parents: Ints, names: list[str], axis: Any = None) -> Any:
    """Draw a tree; a new figure if no axis is given."""
    import matplotlib.pyplot as plt

    places = positions(parents)
    if axis is None:
        width = (places[:, 0].max(initial=0) + 1) * (0.25 + 0.065 * max(map(len, names), default=0))
        height = (2 - places[:, 1].min(initial=0)) * 0.6
        axis = plt.subplots(figsize=(max(3.0, width), max(2.0, height)), layout="constrained")[1]
    top = np.array([places[:, 0].mean() if len(places) else 0.0, 1.0])
    for j, parent in enumerate(parents):
        arrow(axis, top, places[j], "0.85")
        if parent >= 0:
            arrow(axis, places[parent], places[j], "#0072B2")
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "#0072B2", "linewidth": 0.8}
    for (x, y), name in zip(places, names):
        axis.text(x, y, name, ha="center", va="center", fontsize=7, bbox=box, zorder=2)
    axis.text(*top, "class", ha="center", va="center", fontsize=8, bbox=box | {"edgecolor": "#D55E00"}, zorder=2)
    axis.set_xlim(-0.6, places[:, 0].max(initial=0) + 0.6)
    axis.set_ylim(places[:, 1].min(initial=0) - 0.5, 1.5)
    axis.axis("off")
    return axis


def arrow(axis: Any, start: Floats, end: Floats, colour: str) -> None:
    """An arrow that ends before the box of its target."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.9, "shrinkA": 6, "shrinkB": 8, "mutation_scale": 7}
    axis.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style, zorder=1)
