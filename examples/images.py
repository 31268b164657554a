"""Segmentation, restoration and many labels: energies of pixels, minimised with a proof; pictures in images.png."""

import os
import tempfile
from pathlib import Path

import numpy as np

from dsprog.applications.expansion import alpha_expansion
from dsprog.applications.vision import grid_pairs, learned_potentials, restore, segment

rng = np.random.default_rng(0)
y, x = np.mgrid[:240, :320] / 240.0

# A scene with two shapes, under noise: one maximum flow of 76,800 pixels.
scene = ((y - 0.5) ** 2 + (x - 0.4) ** 2 < 0.06) | (
    (np.abs(y - 0.5) < 0.25) & (np.abs(x - 1.0) < 0.12 + 0.2 * (y - 0.4))
)
photo = 0.25 + 0.5 * scene + 0.25 * rng.normal(size=scene.shape)
segmented = segment(photo, smoothness=5.0, contrast=0.1)
print(f"segmentation: {segmented.result.proof}, certified {segmented.result.certified}, ", end="")
print(f"{(segmented.mask == scene).mean():.2%} of the pixels right")

# Weave flipped at random: neighbours prefer to differ, so the learned terms are not submodular.
rows, columns = np.mgrid[:24, :32]
weave = ((rows // 2 + columns // 2) % 2).astype(int)
flipped = weave ^ (rng.random(weave.shape) < 0.15)
offsets = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 1), (1, -1)]
restored = restore(flipped, noise=0.15, potentials=learned_potentials(weave, offsets, strength=0.5), time_limit=60)
print(f"restoration: {restored.result.proof}, certified {restored.result.certified}, ", end="")
print(f"{(restored.mask == weave).mean():.2%} of the pixels right, {(flipped == weave).mean():.2%} before")

# Four grey levels under noise, by alpha-expansion.
levels = np.array([0.1, 0.4, 0.65, 0.95])
steps = np.digitize(x[:120, :160] + 0.25 * np.sin(6 * y[:120, :160]), [0.15, 0.3, 0.5])
noisy = levels[steps] + 0.2 * rng.normal(size=steps.shape)
unary = ((noisy.ravel()[:, None] - levels) ** 2) / 0.08
cleaned = alpha_expansion(
    unary, grid_pairs(steps.shape, 1.2), np.minimum(np.abs(np.subtract.outer(range(4), range(4))), 2)
)
print(f"four levels: energy {cleaned.energy:.1f} after {cleaned.rounds} rounds, ", end="")
print(f"{(cleaned.labels.reshape(steps.shape) == steps).mean():.2%} of the pixels right")

try:
    import matplotlib
except ImportError:
    print("no matplotlib, no picture: pip install dsprog[plot]")
else:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 2, figsize=(6.4, 8.4), layout="constrained")
    pictures = [photo, segmented.mask, flipped, restored.mask, noisy, levels[cleaned.labels].reshape(steps.shape)]
    titles = ["noisy photo", "segmented", "flipped weave", "restored", "noisy levels", "four labels"]
    for axis, picture, title in zip(axes.ravel(), pictures, titles):
        axis.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(title, fontsize=10)
        axis.axis("off")
    path = Path(os.environ.get("DSPROG_PICTURES", tempfile.mkdtemp())) / "images.png"
    figure.savefig(path, dpi=110)
    print(path)
