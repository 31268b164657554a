"""
The best experiments to run
===========================

Of 60 possible experiments with a quadratic model, which ten determine its coefficients best? A D-optimal design
maximises the determinant of the information matrix; the bound says how far any other choice could be ahead.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsprog.applications import d_optimal_design

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (60, 2))
rows = np.column_stack([np.ones(60), x, x**2, x[:, :1] * x[:, 1:]])
design = d_optimal_design(rows, 10, time_limit=30, seed=0)
print(f"experiments {design.rows}")
print(f"log det {design.log_det:.5f}, no design exceeds {design.upper:.5f}")

figure, axis = plt.subplots(figsize=(4.4, 4), layout="constrained")
axis.plot(*x.T, "o", color="0.8", label="possible")
axis.plot(*x[list(design.rows)].T, "o", color="#D55E00", label="chosen")
axis.set(xlabel="first setting", ylabel="second setting")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.12))
plt.show()
