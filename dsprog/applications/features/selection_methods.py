"""The methods of feature selection that minimise an objective, by name: what a method solves, and how.

"exact" and "greedy" take the objective as it is. "prism" and "ssp" need its two sides apart, which least squares has
only in the paper's reading, see :func:`supermodular_reading`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.approximate.greedy import Greedy
from dsprog.approximate.ssp import SSP
from dsprog.core.algebra import Difference
from dsprog.core.modular import Modular
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound
from dsprog.functions.regression import LeastSquares
from dsprog.run.result import Result
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

SELECTION_SOLVERS: dict[str, Solver | None] = {
    "exact": None,  # the default of minimize
    "prism": Prismatic(),  # steps of bisection are short, so that a time limit is kept
    "ssp": SSP(restarts=1),
    "greedy": Greedy(),
}
TWO_SIDED = ("prism", "ssp")


def select_by(
    method: str, objective: Difference, initial: tuple[int, ...] | None = None, device: str = "cpu", **limits: Any
) -> Result:
    """Minimise by a method of that name; only the exact one makes use of a set to start from, and of a device.

    >>> from dsprog.generators import sparse_linear_model
    >>> from dsprog.applications import feature_selection_objective
    >>> X, y, *_ = sparse_linear_model(np.random.default_rng(0), 30, 6, 2)
    >>> objective = feature_selection_objective(X, y, lam=0.05)
    >>> [select_by(method, objective).certified for method in ("exact", "ssp")]
    [True, False]
    """
    given = supermodular_reading(objective) if method in TWO_SIDED else objective
    start = initial if method == "exact" else None
    there = method == "exact" and device != "cpu"
    solver = PerspectiveBranchAndBound(device=device) if there else SELECTION_SOLVERS[method]
    return minimize(given, solver, initial=start, **limits)


def supermodular_reading(objective: Difference) -> Difference:
    """The objective as the paper has it: f the penalty, g minus the loss, as if g were submodular.

    For :class:`Prismatic` and :class:`SSP`, which need the two sides apart. As g is not known to be submodular, nothing
    that they find is certified. An objective without least squares is left as it is.
    """
    losses = [(a, h) for a, h in objective.terms if isinstance(h, LeastSquares)]
    if not losses:
        return objective
    penalty = objective - sum((a * h for a, h in losses), Modular(np.zeros(objective.n)))
    explained = sum((-a * h for a, h in losses), Modular(np.zeros(objective.n)))
    return Difference(penalty, explained.declare())
