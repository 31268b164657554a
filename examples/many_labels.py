"""
Four labels by α-expansion
==========================

More than two labels: each move lets every pixel keep its label or take the label α, and is a binary problem.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import alpha_expansion
from dsprog.applications.vision import grid_pairs

rng = np.random.default_rng(0)
y, x = np.mgrid[:120, :160] / 240.0
levels = np.array([0.1, 0.4, 0.65, 0.95])
steps = np.digitize(x + 0.25 * np.sin(6 * y), [0.15, 0.3, 0.5])
noisy = levels[steps] + 0.2 * rng.normal(size=steps.shape)
unary = ((noisy.ravel()[:, None] - levels) ** 2) / 0.08
distance = np.minimum(np.abs(np.subtract.outer(range(4), range(4))), 2)
cleaned = alpha_expansion(unary, grid_pairs(steps.shape, 1.2), distance)
labels = cleaned.labels.reshape(steps.shape)
print(f"energy {cleaned.energy:.1f} after {cleaned.rounds} rounds, {(labels == steps).mean():.2%} of the pixels right")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, picture, title in zip(axes, (noisy, levels[labels]), ("noisy levels", "four labels")):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axis.set_title(title, fontsize=10)
    axis.axis("off")
plt.show()
