"""
Stop, look, go on
=================

A run keeps its open nodes in a file. Whatever ends it, a limit, Ctrl-C or a power cut, the same call goes on from
there, and the bound never falls behind.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import dsprog as ds
from dsprog.generators import concave_difference

objective = concave_difference(40, seed=40)
file = Path(tempfile.mkdtemp()) / "run.npz"
bounds, values, nodes = [], [], []
for limit in range(1000, 40000, 1000):
    result = ds.minimize(objective, ds.BranchAndBound(unit=500), node_limit=limit, checkpoint=file)
    bounds.append(result.lower_bound)
    values.append(result.value)
    nodes.append(result.nodes)
    if result.certified:
        break
print(f"{len(nodes)} runs, one after the other: {result.status} after {result.nodes} nodes in all")
assert result.value == ds.minimize(objective).value

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.plot(nodes, values, "o-", color="#D55E00", label="best value")
axis.plot(nodes, bounds, "o-", color="#0072B2", label="bound")
axis.set(xlabel="nodes, all runs together", ylabel="objective")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
