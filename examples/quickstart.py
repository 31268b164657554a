"""
A first problem, and its proof
==============================

Costs that grow slower and slower, minus rewards that do, too: a difference of submodular functions. The result says
which set is best, and how it is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds

rng = np.random.default_rng(0)
f = ds.ConcaveOfModular(rng.random((8, 12)))
g = ds.Coverage(rng.random((30, 12)) < 0.3, rng.random(30))

objective = f - g
result = ds.minimize(objective)
print(result)

# %%
# The certificate can be looked at by hand: no single change improves the set, and, with twelve elements, all 4,096
# values can be computed and sorted. The one that was found is the first.

every = (np.arange(1 << 12)[:, None] >> np.arange(12) & 1).astype(bool)
values = np.sort(objective.values(every))
losses = np.where(result.mask, -1, 1) * objective.marginals(result.mask[None, :])[0]
assert result.certified
assert losses.min() >= 0
assert np.isclose(values[0], result.value)

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.plot(values, color="#0072B2")
axis.plot(0, result.value, "o", color="#D55E00", label="the proved minimum")
axis.set(xlabel="sets, sorted by value", ylabel="f(S) - g(S)")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
