"""
Depth from two pictures, with a proof
=====================================

A point that is near moves further from the left picture to the right one. Each pixel takes one of twelve shifts, and
neighbours with different shifts pay; the dual bound meets the energy of the labelling.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import minimize_labels
from dsprog.applications.vision import grid_pairs

rng = np.random.default_rng(0)
shape, shifts = (90, 130), 12
y, x = np.mgrid[: shape[0], : shape[1]]
truth = 1 + (y // 30)  # a floor that comes nearer
truth[12:60, 20:55] = 6
truth[(x - 92) ** 2 + (y - 48) ** 2 < 26**2] = 10

texture = rng.random((shape[0], shape[1] + shifts))
right = texture[:, :-shifts]
left = texture[y, np.clip(x - truth, 0, None)] + 0.15 * rng.normal(size=shape)
differences = [np.abs(left - texture[y, np.clip(x - d, 0, None)]) for d in range(shifts)]
unary = np.minimum(np.stack(differences, axis=-1), 0.5).reshape(-1, shifts)

distance = np.minimum(np.abs(np.subtract.outer(range(shifts), range(shifts))), 3)
found = minimize_labels(unary, grid_pairs(shape, 0.1), distance, time_limit=30)
depth = found.labels.reshape(shape)
print(found)
alone = unary.argmin(axis=1).reshape(shape)
print(f"{(depth == truth).mean():.1%} of the pixels right, {(alone == truth).mean():.1%} if each is alone")

figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.9), layout="constrained")
pictures = [(left, "gray", "left picture"), (alone, "viridis", "each pixel alone")]
pictures.append((depth, "viridis", "least energy, proved" if found.certified else f"gap {found.gap:.1g}"))
for axis, (picture, colours, title) in zip(axes, pictures):
    axis.imshow(picture, cmap=colours, interpolation="nearest")
    axis.set_title(title, fontsize=10)
    axis.axis("off")
plt.show()
