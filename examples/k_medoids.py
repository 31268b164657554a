"""
Medoids, proved
===============

Eight of 300 points such that all others are near one of them. Heuristics find good sets; here the best one is proved
in a fraction of a second.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import k_medoids

rng = np.random.default_rng(3)
centres = rng.uniform(0, 10, (8, 2))
points = np.vstack([centre + 0.9 * rng.normal(size=(38, 2)) for centre in centres])[:300]
found = k_medoids(points, 8)
print(f"total distance {found.cost:.3f}; certified: {found.result.certified}, {found.result.nodes} nodes")

figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
for medoid in found.medoids:
    for point in points[found.labels == list(found.medoids).index(medoid)]:
        axis.plot(*np.array([points[medoid], point]).T, color="0.85", linewidth=0.8, zorder=0)
axis.scatter(*points.T, c=found.labels, cmap="tab10", s=10)
axis.plot(*points[list(found.medoids)].T, "s", color="black", markersize=6)
axis.set_aspect("equal")
axis.axis("off")
plt.show()
