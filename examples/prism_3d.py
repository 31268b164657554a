"""
The prismatic algorithm in space
================================

With three elements the sets are the corners of a cube, inside a tetrahedron that is halved again and again. Blue
edges belong to prisms that are still open. `watch` gets a record of every iteration: simplices, bounds, sets.
"""

import matplotlib.pyplot as plt

import dsprog as ds
from dsprog.generators import coverage_difference
from dsprog.pictures.prisms import draw_prisms

iterations: list[ds.PrismIteration] = []
result = ds.minimize(coverage_difference(3, seed=1), ds.Prismatic(watch=iterations.append))
print(f"{len(iterations) - 1} iterations, optimum {result.S} with value {result.value:.4f}")

figure = plt.figure(figsize=(10, 3.6), layout="constrained")
steps = [0, 4, 12]
for place, step in enumerate(steps, 1):
    axis = figure.add_subplot(1, 3, place, projection="3d")
    draw_prisms(iterations[: step + 1], axis, best=result.S)
    axis.set_title(f"after {step} iterations", fontsize=9)
    axis.set(xticks=[0, 1, 2, 3], yticks=[0, 1, 2, 3], zticks=[0, 1, 2, 3])
plt.show()
