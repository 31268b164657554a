"""The prismatic algorithm in two dimensions: the cube, the first simplex, its subdivision, the bounds.

Two elements make a square of four sets. The first simplex is a triangle around it, with a corner at the set {1}; each
iteration takes the prism of least bound, adds a cutting plane, and halves the longest edge. A prism is deleted (grey)
when it contains no set, or none that can improve on the best (orange). The numbers are the bounds of the open prisms
(blue). The search is stopped after every iteration and goes on from its checkpoint, which holds the open prisms. The
picture goes to the folder named in DSPROG_PICTURES, or to a temporary one.
"""

import os
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds

PANELS = 8
BOX = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}

f = ds.Table([0.0, 0.5, 2.0, -0.5])  # f(∅), f({0}), f({1}), f({0, 1})
g = ds.Table([0.0, 1.5, 2.5, 1.0])
objective = f - g
solver = ds.Prismatic(start_vertex=[1])

checkpoint = Path(tempfile.mkdtemp()) / "prisms.npz"


def saved_prisms():
    """The vertices and the bound of each open prism, and the number of cutting planes."""
    with np.load(checkpoint) as saved:
        count = sum(name.endswith("/vertices") for name in saved)
        prisms = [(saved[f"whole:bundle/{k}/vertices"][0], saved[f"whole:bundle/{k}/lower"][0]) for k in range(count)]
        return prisms, len(saved["whole:state/slopes"])


def draw(axis, prisms, deleted, S, title):
    """Open prisms with their bounds, deleted ones in grey, the cube and its four sets on top."""
    for vertices in deleted:
        axis.fill(*vertices.T, facecolor="0.93", edgecolor="0.75", linewidth=0.7)
    for vertices, lower in prisms:
        axis.fill(*vertices.T, facecolor="#cfe3f3", edgecolor="#0072B2", linewidth=1.0)
        centre = {"ha": "center", "va": "center", "color": "#004a73", "fontsize": 9, "zorder": 4, "bbox": BOX}
        axis.text(*vertices.mean(axis=0), f"{lower:.2f}", **centre)
    axis.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="black", linewidth=1.4)
    for T in ((), (0,), (1,), (0, 1)):
        best = T == S
        axis.plot(0 in T, 1 in T, "o", color="#D55E00" if best else "black", markersize=8 if best else 4, zorder=3)
    axis.set(xlim=(-0.15, 2.1), ylim=(-1.1, 1.15), aspect="equal", xticks=[0, 1, 2], yticks=[-1, 0, 1])
    axis.set_title(title, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)


figure, axes = plt.subplots(2, PANELS // 2, figsize=(12, 6.4), layout="constrained")
deleted, before = [], []
for iteration, axis in enumerate(axes.flat):
    result = ds.minimize(objective, solver, node_limit=iteration, checkpoint=checkpoint)
    prisms, planes = saved_prisms()
    deleted += [old for old, _ in before if not any(np.array_equal(old, vertices) for vertices, _ in prisms)]
    words = f"{iteration}:  {result.lower_bound:.2f} ≤ optimum ≤ {result.value:.2f}"
    print(f"iteration {words}, prisms open {len(prisms)}, cutting planes {planes}")
    draw(axis, prisms, deleted, result.S, words)
    before = prisms

path = Path(os.environ.get("DSPROG_PICTURES", tempfile.mkdtemp())) / "prism_2d.png"
figure.savefig(path, dpi=110)
plt.close(figure)
print("the picture is", path)
assert ds.minimize(objective, solver).S == ds.minimize(objective).S
