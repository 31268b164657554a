"""
Certified feature paths
=======================

Least squares plus λ times a submodular penalty, here the number of features, for a falling λ: each set is proved
optimal for its λ, so the path shows what the data say and not where a heuristic got stuck.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import feature_path
from dsprog.generators import sparse_linear_model

rng = np.random.default_rng(3)
X, y, w, _ = sparse_linear_model(rng, 80, 30, 6)
lams = np.geomspace(0.3, 0.003, 12)
path = feature_path(X, y, lams, penalty="cardinality")

true = np.flatnonzero(w)
chosen = np.array([result.mask for result in path])
assert all(result.certified for result in path)
print("true features:", true)
for lam, result in zip(lams, path):
    print(f"λ = {lam:.4f}: {len(result.S)} features, certified")

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for j in np.flatnonzero(chosen.any(axis=0)):
    colour = "#0072B2" if j in true else "0.7"
    axis.plot(lams[chosen[:, j]], np.full(chosen[:, j].sum(), j), "s", color=colour, markersize=6)
axis.set(xscale="log", xlabel="λ", ylabel="feature", title="chosen features; blue ones are in the true model")
axis.invert_xaxis()
axis.spines[["top", "right"]].set_visible(False)
plt.show()
