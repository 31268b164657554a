"""
Denoising with edges that repel
===============================

In a weave neighbours prefer to differ. Such terms are not submodular, one maximum flow does not do, and roof duality
with a semidefinite or linear bound has to prove the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import restore
from dsprog.applications.vision import learned_potentials

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:24, :32]
weave = ((rows // 2 + columns // 2) % 2).astype(int)
flipped = weave ^ (rng.random(weave.shape) < 0.15)
offsets = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 1), (1, -1)]
potentials = learned_potentials(weave, offsets, strength=0.5)
restored = restore(flipped, noise=0.15, potentials=potentials, time_limit=60)
print(f"{restored.result.proof}; certified: {restored.result.certified}")
print(f"{(restored.mask == weave).mean():.2%} of the pixels right, {(flipped == weave).mean():.2%} before")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, picture, title in zip(axes, (flipped, restored.mask), ("15 % of the pixels flipped", "restored")):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axis.set_title(title, fontsize=10)
    axis.axis("off")
plt.show()
