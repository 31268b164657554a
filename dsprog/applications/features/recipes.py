"""Feature selection as minimisation of set functions.

Least squares with a penalty on the chosen features,

    min over S of  (1/2n) ‖y - X_S w‖² + (ridge/2) ‖w‖² + λ F(S),

with F increasing and submodular: the nuclear norm of the chosen columns, which asks less for features that repeat each
other, their Frobenius norm, or their number. The loss is not supermodular in general, and the certificate does not
need it: :class:`dsprog.PerspectiveBranchAndBound`.

For a class, information less costs,

    min over S of  Σ_{j∈S} cost_j - I(X_S; y),    I(X_S; y) = H(X_S) - H(X_S | y),

which is a difference of submodular functions as it stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.applications.features.arguments import as_weight
from dsprog.applications.features.largest_weight import lam_max
from dsprog.applications.features.penalties import penalty_function
from dsprog.core.algebra import Difference
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.functions.logistic import LogisticLoss
from dsprog.functions.mutual_information import MutualInformation
from dsprog.functions.regression import LeastSquares


def feature_selection_objective(
    X: ArrayLike, y: ArrayLike, lam: float | str, penalty: str | SetFunction = "nuclear", ridge: float = 0.0
) -> Difference:
    """(1/2n) ‖y - X_S w‖² + (ridge/2) ‖w‖² + lam · penalty(S), minimised over w, as a function of S.

    Parameters
    ----------
    X : (n, p) array
    y : (n,) array
    lam : float or "max"
        At least 0; "max" is :func:`lam_max`, the least weight at which the empty set is optimal. Fractions of it fit
        any penalty and any number of rows, and a tenth is a place to begin: with "cardinality" a feature costs 1, but
        with "nuclear" and "frobenius" the norm of its column, about √n if that has variance 1, but the loss is a mean.
    penalty : {"nuclear", "frobenius", "cardinality"} or SetFunction
        On the p features; increasing and submodular.
    ridge : float

    Examples
    --------
    >>> import numpy as np, dsprog as ds
    >>> from dsprog.applications import feature_selection_objective
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 12))
    >>> y = X[:, 2] + X[:, 5] + 0.1 * rng.normal(size=40)
    >>> result = ds.minimize(feature_selection_objective(X, y, lam=0.02))
    >>> result.S, result.certified
    ((2, 5), True)
    """
    loss = LeastSquares(X, y, ridge)
    weight = lam_max(loss.X, loss.y, penalty, loss.ridge) if isinstance(lam, str) and lam == "max" else as_weight(lam)
    return Difference(loss + weight * penalty_function(loss.X, penalty))


def logistic_selection_objective(
    X: ArrayLike,
    y: ArrayLike,
    lam: float,
    penalty: str | SetFunction = "cardinality",
    ridge: float = 0.01,
    intercept: bool = True,
) -> Difference:
    """(1/n) Σ_i log(1 + exp(-y_i (x_i·w_S + c))) + (ridge/2) (‖w‖² + c²) + lam · penalty(S), minimised over w and c.

    Parameters
    ----------
    X : (n, p) array
    y : (n,) array of -1 and 1
    lam : float
        At least 0. The loss of no features is at most log 2, so that no feature is worth more.
    penalty : {"nuclear", "frobenius", "cardinality"} or SetFunction
        On the p features; increasing and submodular.
    ridge : float
        Positive: the bounds rest on it.
    intercept : bool
        Whether there is a c. The ridge is on c, too, so that columns should be centred: where they have means, c would
        be large, and pay for it. :class:`SubmodularFeatureSelector` centres them.

    Examples
    --------
    >>> import numpy as np, dsprog as ds
    >>> from dsprog.applications import logistic_selection_objective
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 10))
    >>> y = np.sign(X[:, 2] - X[:, 5] + 0.3 * rng.normal(size=80))
    >>> result = ds.minimize(logistic_selection_objective(X, y, lam=0.02))
    >>> result.S, result.certified
    ((2, 5), True)
    """
    weight = as_weight(lam)
    loss = LogisticLoss(X, y, ridge, intercept)
    return Difference(loss + weight * penalty_function(loss.X, penalty))


def information_selection_objective(X: Any, y: Any, costs: ArrayLike) -> Difference:
    """Σ_{j∈S} costs_j - I(X_S; y) in nats, for discrete columns X and a class y.

    Parameters
    ----------
    X : (rows, n) array of discrete values
    y : (rows,) array of classes
    costs : (n,) array, or one number for all

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.applications import information_selection_objective
    >>> X, y = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]], [0, 1, 1, 0]  # y is the parity of the first two
    >>> ds.minimize(information_selection_objective(X, y, costs=0.1)).S
    (0, 1)
    """
    information = MutualInformation(X, y)
    weights = np.asarray(costs, dtype=float)
    return Difference(Modular(np.full(information.n, weights) if weights.ndim == 0 else weights), information)
