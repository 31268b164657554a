"""
A set function of your own
==========================

A family needs its values on a batch of sets, and what it knows. The test kit then tries to refute every claim. Here:
a road is lit by lamps, and each metre counts once, however many lamps reach it.
"""

import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds


class LitRoad(ds.SetFunction):
    """Metres of a road that lie within ``reach`` of a chosen lamp."""

    def __init__(self, places, reach, length):
        self.places, self.reach, self.length = np.asarray(places, dtype=float), reach, length
        self.n = len(self.places)
        self.knows = ds.Knowledge(submodular=True, increasing=True)
        metres = np.arange(length) + 0.5
        self.reaches = np.abs(metres[:, None] - self.places) <= reach

    def _values(self, masks):
        return (masks @ self.reaches.T.astype(float) > 0).sum(axis=1).astype(float)


rng = np.random.default_rng(4)
places = np.sort(rng.uniform(0, 200, 18))
light = LitRoad(places, reach=14, length=200)
ds.testing.check_set_function(light)  # raises a sentence if a promise is broken

costs = ds.Modular(rng.uniform(8, 20, 18))
result = ds.minimize(costs - light)
print(result)

# %%
# A family of a user's own is sampled before it is believed: one that claims too much is refused with the sets that
# show it.

figure, axis = plt.subplots(figsize=(8, 1.8), layout="constrained")
for j, place in enumerate(places):
    chosen = j in result.S
    style = {"color": "#D55E00", "linewidth": 6} if chosen else {"color": "0.85", "linewidth": 3}
    axis.plot([place - 14, place + 14], [j % 4] * 2, **style)
    axis.plot(place, j % 4, "o", color="black", markersize=4)
axis.set(xlabel="metres", yticks=[], title="lamps to light, chosen ones in orange")
axis.title.set_fontsize(10)
axis.spines[["top", "right", "left"]].set_visible(False)
plt.show()
