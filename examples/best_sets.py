"""
The K best sets
===============

The best set is one answer. How far behind are the others, and on what do they agree? All listed sets are proved: no
other set is better than the last one.
"""

import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds
from dsprog.generators import concave_difference

objective = concave_difference(24, seed=5)
best = ds.enumerate_best(objective, k=12)
print(best)

masks = np.array([[j in S for j in range(24)] for S in best.sets])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", width_ratios=[2, 1], sharey=True)
left.imshow(masks, cmap="Blues", aspect="auto", vmin=0, vmax=1.3)
left.set(xlabel="element", ylabel="rank", yticks=range(12), yticklabels=range(1, 13))
right.plot(best.values, range(12), "o-", color="#D55E00")
right.set(xlabel="value")
right.spines[["top", "right"]].set_visible(False)
plt.show()
