"""
Features in groups
==================

Sensors report three readings each, and what costs money is a sensor, not a reading. A coverage of groups says just
that: the first feature of a group pays for the group, further ones are free. On ten small data sets, in each of which
two of eight sensors matter, least squares with this penalty, every set proved optimal, is compared with the lasso. Both
choose their weight on the same validation rows, and their errors are those on rows that neither has seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import lasso_path

from dsprog.applications import feature_path, group_penalty

ROWS, SENSORS, READINGS = 40, 8, 3
groups = np.arange(SENSORS * READINGS).reshape(SENSORS, READINGS)
penalty = group_penalty(groups)


def draw(seed):
    """Rows to fit, to choose the weight, and to test: the readings of a sensor are alike, the noise has variance 1."""
    rng = np.random.default_rng(seed)
    rows = 2 * ROWS + 2000
    common = np.repeat(rng.normal(size=(rows, SENSORS)), READINGS, axis=1)
    X = 0.6 * common + 0.8 * rng.normal(size=(rows, SENSORS * READINGS))
    w = np.zeros(SENSORS * READINGS)
    matter = groups[rng.choice(SENSORS, 2, replace=False)].ravel()
    w[matter] = rng.choice([-1, 1], len(matter)) * rng.uniform(0.4, 0.9, len(matter))
    y = X @ w + rng.normal(size=rows)
    return [(X[part], y[part]) for part in (slice(ROWS), slice(ROWS, 2 * ROWS), slice(2 * ROWS, None))]


def error(rows, coefficients):
    """Mean squared error."""
    X, y = rows
    return float(np.mean((y - X @ coefficients) ** 2))


def fitted(rows, S):
    """Least squares on a set of features."""
    X, y = rows
    coefficients = np.zeros(X.shape[1])
    coefficients[list(S)] = np.linalg.lstsq(X[:, list(S)], y, rcond=None)[0]
    return coefficients


# %%
# On each data set: the sets of eight falling weights, each proved, and the lasso at sixty weights, with its own
# coefficients. Of each method the model of least error on the validation rows is taken.
found = []
for seed in range(10):
    train, validation, test = draw(seed)
    path = feature_path(*train, np.geomspace(0.5, 0.02, 8), penalty)
    assert all(result.certified for result in path)
    lasso = lasso_path(*train, alphas=np.geomspace(2.0, 0.005, 60))[1].T
    for models in ([fitted(train, result.S) for result in path], lasso):
        best = min(models, key=lambda coefficients: error(validation, coefficients))
        found.append((error(test, best), int(penalty(np.flatnonzero(best)))))
errors, sensors = np.array(found).reshape(10, 2, 2).transpose(2, 0, 1)  # by data set and method
for name, k in (("groups", 0), ("lasso", 1)):
    print(f"{name}: mean test error {errors[:, k].mean():.2f}, mean number of sensors {sensors[:, k].mean():.1f}")
print("noise alone: 1.00, sensors that matter: 2")
assert errors[:, 0].mean() < errors[:, 1].mean()

# %%
# A line is a data set, a bar the mean.
figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
panels = (
    (axes[0], errors, 1.0, "noise alone", "test error", "{:.2f}"),
    (axes[1], sensors, 2.0, "sensors that matter", "sensors used", "{:.1f}"),
)
for axis, values, floor, words, title, number in panels:
    axis.plot([0, 1], values.T, "-", color="0.8", linewidth=1, zorder=1)
    axis.axhline(floor, color="0.4", linewidth=1, linestyle="--", zorder=0)
    axis.text(0.5, floor, words, color="0.4", ha="center", va="top")
    for k, color in enumerate(("#0072B2", "#D55E00")):
        axis.plot(np.full(10, k), values[:, k], "o", color=color, markersize=5, alpha=0.6)
        mean = values[:, k].mean()
        axis.plot([k - 0.08, k + 0.08], [mean, mean], color=color, linewidth=4, solid_capstyle="butt")
        label = axis.text(k + (0.12 if k else -0.12), mean, number.format(mean), color=color, va="center")
        label.set(ha="left" if k else "right", bbox={"color": "white", "pad": 1})
    axis.set(xlim=(-0.45, 1.45), title=title)
    axis.set_xticks([0, 1], ["groups paid once,\nproved optimal", "lasso"])
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylim(bottom=0.8)
axes[1].set_ylim(0, 9)
plt.show()
