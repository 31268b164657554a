"""A bound before any search: what a run that is stopped at once has proved."""

from __future__ import annotations

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import both_ends


def floor(problem: Problem) -> float:
    """A number below f - g, from marginals at both ends; -inf unless f and g are submodular.

    Since marginals fall as sets grow,

        f(S) - g(S) >= f(∅) - g(∅) + Σ_{j∈S} (f(j|V∖j) - g(j|∅))    >= f(∅) - g(∅) + Σ_j min(0, f(j|V∖j) - g(j|∅)),
        f(S) - g(S) >= f(V) - g(V) + Σ_{j∉S} (g(j|V∖j) - f(j|∅))    >= f(V) - g(V) + Σ_j min(0, g(j|V∖j) - f(j|∅)).
    """
    objective = problem.objective
    if not objective.is_certifiable or problem.n == 0:
        return -np.inf
    ends = both_ends(problem.n)
    (f_first, f_last), (g_first, g_last) = objective.f.marginals(ends), objective.g.marginals(ends)
    at_nothing, at_all = objective.values(ends)
    from_nothing = at_nothing + np.minimum(0.0, f_last - g_first).sum()
    from_all = at_all + np.minimum(0.0, g_last - f_first).sum()
    return float(max(from_nothing, from_all)) - problem.slack
