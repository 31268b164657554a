"""
Sensors on a map, with a budget
===============================

Where to put 2 to 12 sensors in a field so that they tell most: the best places for each number, each proved. One call
solves the whole path.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import budget_path, draw_sensors, field_covariance, sensor_objective

points = np.random.default_rng(1).random((36, 2)) * [8.0, 6.0]
cov = field_covariance(points, length=1.5, noise=0.2)
path = budget_path(sensor_objective(cov, "entropy"), [2, 4, 6, 8, 10, 12], time_limit=60, seed=0)
for size, result in zip(path.sizes, path.results):
    print(f"{size:2d} places: {-result.value:8.4f} nats, at most {-result.lower_bound:8.4f}, {result.nodes} nodes")
assert path.certified
draw_sensors(points, path.results)
plt.show()
