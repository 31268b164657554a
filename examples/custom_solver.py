"""
A solver of your own
====================

A solver has one method, `solve(problem, run)`: it offers sets to the run and asks it when to stop. Limits, log,
presolve, checkpoints and the result come from the library. Here: random sets, improved by single changes, beside the
exact answer.
"""

import matplotlib.pyplot as plt
import numpy as np

import dsprog as ds
from dsprog.generators import concave_difference


class RandomDescent(ds.Solver):
    """Steepest single changes from random sets."""

    def __init__(self, starts=1):
        self.starts = starts

    def solve(self, problem, run):
        for start in range(self.starts):
            sets = run.rng.random((1, problem.n)) < 0.5
            while True:
                change = np.where(sets, -1, 1) * problem.objective.marginals(sets)
                if change.min(initial=0.0) >= 0:
                    break
                sets[0, change[0].argmin()] ^= True
            run.offer(sets, problem.objective.values(sets), "descent")
            run.progress(start + 1, 0)
            if run.stop_reason() is not None:
                return ds.Verdict(run.stop_reason())
        return ds.Verdict("local", reason="no single change improves the set")


objective = concave_difference(40, seed=2)
ds.testing.check_solver(RandomDescent(3), families=["concave", "cut"], largest=5)  # it never claims too much
exact = ds.minimize(objective)
values = [ds.minimize(objective, RandomDescent(), seed=seed).value for seed in range(60)]
print(f"optimum {exact.value:.4f}, best of 60 descents {min(values):.4f}")

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.hist(values, bins=20, color="#56B4E9")
axis.axvline(exact.value, color="#D55E00", label="proved optimum")
axis.set(xlabel="value of a descent", ylabel="how often")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
