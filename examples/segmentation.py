"""
Segmentation by one maximum flow
================================

A scene with two shapes under noise. Neighbouring pixels prefer one label, so the energy of all 76,800 pixels is
submodular, and one maximum flow minimises and proves it.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import segment

rng = np.random.default_rng(0)
y, x = np.mgrid[:240, :320] / 240.0
disc = (y - 0.5) ** 2 + (x - 0.4) ** 2 < 0.06
wedge = (np.abs(y - 0.5) < 0.25) & (np.abs(x - 1.0) < 0.12 + 0.2 * (y - 0.4))
scene = disc | wedge
photo = 0.25 + 0.5 * scene + 0.25 * rng.normal(size=scene.shape)

segmented = segment(photo, smoothness=5.0, contrast=0.1)
print(f"{segmented.result.proof}; certified: {segmented.result.certified}")
print(f"{(segmented.mask == scene).mean():.2%} of the pixels right")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, picture, title in zip(axes, (photo, segmented.mask), ("noisy photo", "segmented")):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title, fontsize=10)
    axis.axis("off")
plt.show()
