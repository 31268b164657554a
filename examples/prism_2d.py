"""
The prismatic algorithm in the plane
====================================

Two elements make a square of four sets. The first simplex is a triangle around it, with a corner at the set {1}; each
iteration takes the prism of least bound, adds a cutting plane, and halves the longest edge. A prism is deleted (grey)
when it contains no set, or none that can improve on the best (orange). The numbers are the bounds of the open prisms
(blue).
"""

import matplotlib.pyplot as plt

import dsprog as ds
from dsprog.pictures.prisms import draw_prisms

f = ds.Table([0.0, 0.5, 2.0, -0.5])  # f(∅), f({0}), f({1}), f({0, 1})
g = ds.Table([0.0, 1.5, 2.5, 1.0])

iterations: list[ds.PrismIteration] = []
result = ds.minimize(f - g, ds.Prismatic(start_vertex=[1], watch=iterations.append))

figure, axes = plt.subplots(2, 4, figsize=(12, 6.4), layout="constrained", sharex=True, sharey=True)
for record, axis in zip(iterations, axes.flat):
    draw_prisms(iterations[: record.number + 1], axis, best=result.S)
    axis.set(title=f"after {record.number} iterations, {record.planes} planes", xticks=[0, 1, 2], yticks=[-1, 0, 1])
    axis.title.set_fontsize(9)
    print(f"iteration {record.number}: bounds {record.bounds.round(2)}, open {record.open}, best value {record.value}")
plt.show()

assert result.S == ds.minimize(f - g).S
