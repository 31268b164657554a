"""That a search which closes nodes by a cutoff loses no set below it."""

import numpy as np

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.run.run import Run
from tests.helpers.enumeration import between


def check_that_no_set_below_the_cutoff_is_lost(objective, constraints, masks, rank):
    """Expand all nodes with the value of a rank as the cutoff; ``masks`` are the feasible sets.

    Every bound lies below the sets of its node, and every set below the cutoff is met.
    """
    problem = as_problem(objective, constraints)
    method = PerspectiveSearch(problem, Run(problem), ds.PerspectiveBranchAndBound(unit=1))
    values = objective.values(masks)
    cutoff = float(np.sort(values)[rank])
    frontier, met = [method.root()], np.zeros(len(masks), dtype=bool)
    while frontier:
        expansion = method.expand(frontier.pop(), cutoff)
        frontier += expansion.bundles
        for mask in expansion.masks:
            met |= (masks == mask).all(axis=1)
        for bundle in expansion.bundles:
            inside = between(masks, bundle["I"], bundle["U"])
            assert bundle["lower"][0] <= values[inside].min() + 1e-9
    assert met[values < cutoff - 1e-9].all()
