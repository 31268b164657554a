"""Maximising is minimising the negative."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dsprog.core.algebra import Difference
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.run.result import Result
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

# what the messages of a minimum say, in the words of a maximum
WORDS_TURNED = {
    "a smaller value": "a larger value",
    "a value smaller by": "a value larger by",
    "that lower_bound leaves": "that upper_bound leaves",
}


def maximize(objective: SetFunction | Problem, solver: Solver | None = None, **options: Any) -> Result:
    """Maximise a difference of submodular functions.

    max h = -min (-h), and -(f - g) = g - f is a difference of submodular functions, too. The result speaks of the
    maximum: ``value``, ``upper_bound``, ``gap``. The log, the callback and the trace speak of the minimum of -h.

    Parameters
    ----------
    objective : SetFunction or Problem
        Such as ``g - f``, rewards less costs.
    solver, **options
        As in :func:`dsprog.minimize`.

    Returns
    -------
    Result

    Examples
    --------
    >>> import dsprog as ds
    >>> rewards = ds.Coverage([[1, 0, 0], [0, 1, 1], [0, 0, 1]], weights=[2.0, 1.0, 2.0])
    >>> result = ds.maximize(rewards, constraints=[ds.Cardinality(exactly=2)])
    >>> result.S, result.value, result.upper_bound, result.certified
    ((0, 2), 5.0, 5.0, True)
    """
    if isinstance(objective, Problem):
        negative: Any = Problem(Difference(-objective.objective), objective.constraints, objective.labels)
    elif isinstance(objective, SetFunction):
        negative = -objective
    else:
        negative = objective  # minimize says what is wrong with it
    found = minimize(negative, solver, **options)
    value, message = -found.value, found.message
    for of_minimum, of_maximum in WORDS_TURNED.items():
        message = message.replace(of_minimum, of_maximum)
    upper = -found.lower_bound
    return replace(found, value=value, lower_bound=value, upper_bound=upper, message=message, maximised=True)
