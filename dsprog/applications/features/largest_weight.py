"""The largest weight of a penalty that matters, and why an optimum cannot be proved."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from dsprog.applications.features.arguments import as_size, centred
from dsprog.applications.features.penalties import penalty_function
from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality, Constraint
from dsprog.core.problem import as_problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats
from dsprog.exact.regression.losses import loss_of
from dsprog.exact.regression.perspective_branch_and_bound import has_definite_loss
from dsprog.exact.regression.relaxation import SMALLEST
from dsprog.functions.logistic import LogisticLoss
from dsprog.functions.regression import LeastSquares
from dsprog.solve.minimize import minimize

SMALL = 20  # features up to which bounds that need no conditioning prove optimality
LAM_STEPS = 50  # of the search for the largest weight that matters; it takes three or four
TIES = 1e-9  # what a weight is raised by, relatively


def lam_max(
    X: ArrayLike,
    y: ArrayLike,
    penalty: str | SetFunction = "nuclear",
    ridge: float = 0.0,
    time_limit: float | None = None,
    *,
    most: int | None = None,
    fit_intercept: bool = False,
) -> float:
    """The least weight of the penalty at which no feature is worth its price, proved: fractions of it make a path.

    It is the largest (loss(∅) - loss(S)) / penalty(S) over all sets S, or those of at most ``most`` features. From a
    weight λ below it, the best set has a larger ratio, which is the next λ (Dinkelbach); once ∅ is proved optimal, λ is
    the answer. Should a time limit leave a bound LB below loss(∅), every S has loss(S) + λ penalty(S) >= LB, and the
    weight returned is larger by (loss(∅) - LB) / p, p the least penalty of a single feature, which is enough for all.
    It is rounded up by a part in 10⁹, so that ∅ is alone with its value.

    X and y are taken as they are; with ``fit_intercept`` they are centred first, as the selectors do.

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import feature_path, lam_max
    >>> X = np.random.default_rng(0).normal(size=(40, 8))
    >>> y = 2 * X[:, 2] + X[:, 5]
    >>> largest = lam_max(X, y, "cardinality")
    >>> [len(result.S) for result in feature_path(X, y, [1.001 * largest, 0.999 * largest], "cardinality")]
    [0, 1]
    """
    X, y = centred(X, y, fit_intercept)
    loss = LeastSquares(X, y, ridge)
    return largest_weight(loss, penalty_function(loss.X, penalty), time_limit, most)


def largest_weight(
    loss: LeastSquares | LogisticLoss, function: SetFunction, time_limit: float | None, most: int | None
) -> float:
    """:func:`lam_max` of a loss and a penalty."""
    n, nothing = loss.n, loss([])
    if n == 0:
        return 0.0
    prices = function.marginals([[False] * n])[0]
    if not prices.min() > 0.0:
        raise ValueError(why_free(loss.X, int(prices.argmin())))
    constraints = () if most is None else (Cardinality(max=as_size(most, n, "most")),)
    if most == 0:
        return 0.0
    lam = max(0.0, max((nothing - loss([j])) / float(prices[j]) for j in range(n)))
    for _ in range(LAM_STEPS):
        objective = Difference(loss + lam * function)
        obstacle = why_not_certifiable(objective, constraints)
        if obstacle is not None:
            raise ValueError(f"the largest weight cannot be proved here: {obstacle}")
        result = minimize(objective, constraints=constraints, time_limit=time_limit, initial=())
        if result.status == "interrupted":
            raise KeyboardInterrupt
        ratio = (nothing - loss(result.S)) / (function(result.S) - function([])) if result.S else 0.0
        if not ratio > lam * (1 + 1e-12):
            break
        lam = ratio
    left = 0.0 if result.certified else max(0.0, nothing - result.lower_bound)
    return (lam + left / float(prices.min())) * (1.0 + TIES)


def why_free(X: Floats, feature: int) -> str:
    """What to do about a feature without a price."""
    if not X[:, feature].any():
        return f"column {feature} of X is constant: remove it, since no weight of the penalty matters to it"
    return f"feature {feature} costs nothing: give it a price, or no weight of the penalty keeps it out"


def why_not_certifiable(objective: Difference, constraints: Iterable[Constraint] = ()) -> str | None:
    """Why no search of reasonable length can prove an optimum of least squares; None if one can."""
    problem = as_problem(objective, constraints)
    loss = problem.derived(loss_of)
    if loss is None or objective.n <= SMALL or has_definite_loss(problem):
        return None
    return (
        "the columns of X are linearly dependent or nearly so (least eigenvalue of their correlations "
        f"{loss.least_eigenvalue:.1e}, at least {SMALLEST:g} is needed), so that their {objective.n} coefficients have "
        "no bound: pass ridge > 0, remove columns, ask for fewer features, or use an approximate method"
    )
