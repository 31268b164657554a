"""
Bound and value over time
=========================

A search has two curves: the value of the best set so far falls, the bound below all sets rises. Where they meet the
set is proved optimal; where a limit stops the run, the distance between them is what is not known.
"""

import matplotlib.pyplot as plt

import dsprog as ds
from dsprog.generators import concave_difference

objective = concave_difference(40, seed=40)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
for axis, limit in zip(axes, (1500, None)):
    result = ds.minimize(objective, ds.BranchAndBound(unit=500), node_limit=limit)
    result.plot(axis)
    axis.set_title(f"{result.status}: gap {100 * result.gap:.3g} %", fontsize=10)
    print(f"{result.status}: {result.lower_bound:.4f} <= optimum <= {result.value:.4f} after {result.nodes} nodes")
plt.show()
