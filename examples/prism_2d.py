"""The prismatic algorithm in two dimensions: the cube, the first simplex, its subdivision, the bounds.

Two elements make a square of four sets. The first simplex is a triangle around it, with a corner at the set {1}; each
iteration takes the prism of least bound, adds a cutting plane, and halves the longest edge. A prism is deleted (grey)
when it contains no set, or none that can improve on the best (orange). The numbers are the bounds of the open prisms
(blue). The picture goes to the folder named in DSPROG_PICTURES, or to a temporary one.
"""

import heapq
import os
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.run.driver import Frontier
from dsprog.run.run import Monitor

PANELS = 8
BOX = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}

f = ds.Table([0.0, 0.5, 2.0, -0.5])  # f(∅), f({0}), f({1}), f({0, 1})
g = ds.Table([0.0, 1.5, 2.5, 1.0])
objective = f - g
solver = ds.Prismatic(start_vertex=[1])

problem = as_problem(objective, ())
monitor = Monitor(problem)
method = solver.method(problem, monitor)
method.offer_start(monitor)

deleted: list[np.ndarray] = []


def draw(axis, frontier, title):
    """Open prisms with their bounds, deleted ones in grey, the cube and its four sets on top."""
    for vertices in deleted:
        axis.fill(*vertices.T, facecolor="0.93", edgecolor="0.75", linewidth=0.7)
    for _, _, bundle in frontier.heap:
        vertices, lower = bundle["vertices"][0], bundle["lower"][0]
        axis.fill(*vertices.T, facecolor="#cfe3f3", edgecolor="#0072B2", linewidth=1.0)
        axis.text(
            *vertices.mean(axis=0),
            f"{lower:.2f}",
            ha="center",
            va="center",
            color="#004a73",
            fontsize=9,
            zorder=4,
            bbox=BOX,
        )
    axis.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="black", linewidth=1.4)
    for mask in np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool):
        best = monitor.mask is not None and (mask == monitor.mask).all()
        axis.plot(*mask, "o", color="#D55E00" if best else "black", markersize=8 if best else 4, zorder=3)
    axis.set(xlim=(-0.15, 2.1), ylim=(-1.1, 1.15), aspect="equal", xticks=[0, 1, 2], yticks=[-1, 0, 1])
    axis.set_title(title, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)


figure, axes = plt.subplots(2, PANELS // 2, figsize=(12, 6.4), layout="constrained")
frontier = Frontier()
frontier.push(method.root())
for iteration, axis in enumerate(axes.flat):
    lower = min(frontier.lower, monitor.value)
    words = f"{iteration}:  {lower:.2f} ≤ optimum ≤ {monitor.value:.2f}"
    print(f"iteration {words}, prisms open {len(frontier.heap)}, cutting planes {len(method.slopes)}")
    draw(axis, frontier, words)
    if frontier.heap:
        _, _, parent = heapq.heappop(frontier.heap)
        expansion = method.expand(parent, monitor.cutoff)
        monitor.offer(expansion.masks, expansion.values, expansion.source)
        deleted.append(parent["vertices"][0])
        for child in expansion.bundles:
            frontier.push(child)

path = Path(os.environ.get("DSPROG_PICTURES", tempfile.mkdtemp())) / "prism_2d.png"
figure.savefig(path, dpi=110)
plt.close(figure)
print("the picture is", path)
assert ds.minimize(objective, solver).S == ds.minimize(objective).S
