"""
A field, and where to measure it
================================

A random field over a lake, with a depth that varies slowly. Mutual information between the places that are measured
and all others is a difference of submodular functions; five stations are chosen with a proof, and the field is
predicted from them.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import budget_path, field_covariance, sensor_objective

rng = np.random.default_rng(5)
grid = np.array([(x, y) for y in np.linspace(0, 6, 13) for x in np.linspace(0, 10, 21)])
lake = grid[((grid[:, 0] - 5) / 5) ** 2 + ((grid[:, 1] - 3) / 3) ** 2 < 1]
places = lake[rng.choice(len(lake), 30, replace=False)]
cov = field_covariance(places, length=2.0, noise=0.05)
path = budget_path(sensor_objective(cov, "information"), [5], time_limit=60, seed=0)
chosen = list(path.results[0].S)
print(f"stations {chosen}, {-path.results[0].value:.3f} nats with the other places; certified: {path.certified}")

# %%
# The field at the stations, and what they say about the lake.

everywhere = field_covariance(np.vstack([places[chosen], lake]), length=2.0, noise=1e-6)
k = len(chosen)
field = rng.multivariate_normal(np.zeros(len(everywhere)), everywhere, method="cholesky")
predicted = everywhere[k:, :k] @ np.linalg.solve(everywhere[:k, :k] + 0.05 * np.eye(k), field[:k])

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for axis, colours, title in zip(axes, (field[k:], predicted), ("the field", "as predicted from five stations")):
    axis.scatter(*lake.T, c=colours, cmap="viridis", vmin=field.min(), vmax=field.max(), s=60, marker="s")
    axis.plot(*places[chosen].T, "o", color="#D55E00", markeredgecolor="white", markersize=9)
    axis.set_title(title, fontsize=10)
    axis.set_aspect("equal")
    axis.axis("off")
plt.show()
