"""
Features in groups
==================

Sensors report several readings each, and what costs money is a sensor, not a reading. A coverage of groups says just
that: the first feature of a group pays for the group, further ones are free. Least squares with this penalty is solved
exactly for every number of sensors, and predicts better than the lasso, which spreads over many groups.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import lasso_path

import dsprog as ds
from dsprog.applications import feature_selection_objective, group_penalty

rng = np.random.default_rng(1)
rows, count, size = 40, 10, 3
groups = [list(range(size * g, size * g + size)) for g in range(count)]
common = np.repeat(rng.normal(size=(4 * rows, count)), size, axis=1)
X = 0.6 * common + 0.8 * rng.normal(size=(4 * rows, count * size))
w = np.zeros(count * size)
w[groups[2] + groups[7]] = rng.choice([-1, 1], 2 * size) * rng.uniform(0.4, 0.9, 2 * size)
y = X @ w + 1.0 * rng.normal(size=4 * rows)
X_train, y_train, X_test, y_test = X[:rows], y[:rows], X[rows:], y[rows:]


def test_error(coefficients):
    """Mean squared error on rows that were not used."""
    return float(np.mean((y_test - X_test @ coefficients) ** 2))


def fitted(S):
    """Least squares on a set of features."""
    coefficients = np.zeros(X.shape[1])
    coefficients[list(S)] = np.linalg.lstsq(X_train[:, list(S)], y_train, rcond=None)[0]
    return coefficients


# %%
# A falling weight of the penalty buys one sensor after the other; every set is proved optimal.
penalty = group_penalty(groups, n=X.shape[1])
sensors, errors = [], []
for lam in (0.5, 0.3, 0.2):
    result = ds.minimize(feature_selection_objective(X_train, y_train, lam, penalty))
    assert result.certified
    sensors.append(int(penalty(result.S)))
    errors.append(test_error(fitted(result.S)))
    print(f"λ = {lam}: {sensors[-1]} sensors, {len(result.S)} readings, test error {errors[-1]:.2f}, certified")

# %%
# The lasso at every weight: how many sensors its features belong to, and its error, with its own coefficients.
_, path, _ = lasso_path(X_train, y_train, alphas=np.geomspace(2.0, 0.005, 60))
lasso_sensors = [int(penalty(np.flatnonzero(coefficients))) for coefficients in path.T]
lasso_errors = [test_error(coefficients) for coefficients in path.T]
best, lasso_best = min(errors), min(lasso_errors)
print(f"best test error: groups {best:.2f}, lasso {lasso_best:.2f}, noise alone 1.00")
assert best < lasso_best

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(lasso_sensors, lasso_errors, ".", color="0.6", label="lasso, every weight")
axis.plot(sensors, errors, "o-", color="#0072B2", label="least squares, groups paid once, proved optimal")
axis.set(xlabel="sensors used", ylabel="test error", title="two of ten sensors matter")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
