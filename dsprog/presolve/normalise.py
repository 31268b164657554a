"""One way to write an objective, before anything else looks at it.

a H(X_S | y) - a H(X_S) is written as -a I(X_S; y), which every bound loses less on; where a solver needs submodular
sides, the term splits itself again.
"""

from __future__ import annotations

from dsprog.core.problem import Problem
from dsprog.functions.mutual_information import joined


def normalised(problem: Problem) -> Problem:
    """The same problem, its entropies joined; called once in a run."""
    objective = joined(problem.objective)
    return problem if objective is problem.objective else Problem(objective, problem.constraints)
