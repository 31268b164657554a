"""Where to put 1 to 12 sensors in a field: the best places for each number, with a proof; a map in sensors.png."""

import os
import tempfile
from pathlib import Path

import numpy as np

from dsprog.applications import budget_path, draw_sensors, field_covariance, sensor_objective

points = np.random.default_rng(1).random((36, 2)) * [8.0, 6.0]
cov = field_covariance(points, length=1.5, noise=0.2)

for criterion, sizes in (("information", [1, 2, 3, 4]), ("entropy", [2, 4, 6, 8, 10, 12])):
    path = budget_path(sensor_objective(cov, criterion), sizes, time_limit=60, seed=0)
    print(f"{criterion}: certified {path.certified}")
    for size, result in zip(path.sizes, path.results):
        print(
            f"  {size:2d} places: {-result.value:8.4f} nats, at most {-result.lower_bound:8.4f}, {result.nodes} nodes"
        )

try:
    figure = draw_sensors(points, path.results)
except ImportError as error:
    print(error)
else:
    where = Path(os.environ.get("DSPROG_PICTURES", tempfile.mkdtemp())) / "sensors.png"
    figure.savefig(where, dpi=110)
    print(f"drawn in {where.name}")
