"""
Matching points by their distances
==================================

Two noisy copies of a constellation, one turned and moved, each with points that the other lacks. Which points belong
together is a quadratic problem with a proof.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import match_points

rng = np.random.default_rng(2)
stars = rng.random((7, 2))
angle = 0.8
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
first = np.vstack([stars[:6], rng.random((1, 2))])
second = np.vstack([stars[:6] + 0.01 * rng.normal(size=(6, 2)), rng.random((1, 2))]) @ turn.T + [1.6, 0.1]
matching = match_points(first, second)
print(f"pairs {matching.pairs}; certified: {matching.result.certified}")

figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(*first.T, "o", color="#0072B2", label="first")
axis.plot(*second.T, "s", color="#D55E00", label="second")
for i, a in matching.pairs:
    axis.plot(*np.array([first[i], second[a]]).T, color="0.7", linewidth=1, zorder=0)
axis.set_aspect("equal")
axis.legend(frameon=False)
axis.axis("off")
plt.show()
