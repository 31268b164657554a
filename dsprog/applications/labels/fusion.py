"""Fusion moves: the best mixture of a labelling x and a proposal y, each site taking its label from one of both.

That is a quadratic problem in 0/1 variables z, z_i = 1 where site i takes y_i. For an edge with the four costs
A = c(x_i, x_j), B = c(x_i, y_j), C = c(y_i, x_j), D = c(y_i, y_j)

    c = A + (C - A) z_i + (B - A) z_j + (A + D - B - C) z_i z_j.

If no pair is positive, one maximum flow finds the best mixture (expansions and swaps of a metric are such). Otherwise
roof duality finds labels that some best mixture has; sites that get none keep x_i, and that raises no energy: putting
the labels of an autarky into z = 0 does not (:mod:`dsprog.presolve.roof`). See Lempitsky, Rother, Roth and Blake 2010.
"""

from __future__ import annotations

import numpy as np

from dsprog.applications.labels.label_problem import LabelProblem
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Ints, Masks
from dsprog.presolve.roof import roof_duality
from dsprog.submodular.max_flow import minimum_of_form

ROUNDING = 1e-13  # of the four costs: a pair below that is none


def fusion_form(problem: LabelProblem, x: Ints, y: Ints) -> tuple[QuadraticForm, Ints]:
    """E(mixture) - E(x) over z of the sites where x and y differ, and these sites."""
    import scipy.sparse as sparse

    sites = np.flatnonzero(x != y)
    place, n = np.full(problem.n, -1), len(sites)
    place[sites] = np.arange(n)
    u = problem.unary[sites, y[sites]] - problem.unary[sites, x[sites]]
    i, j = problem.first, problem.second
    near = np.flatnonzero((place[i] >= 0) | (place[j] >= 0))
    i, j, w, which = i[near], j[near], problem.weights[near], problem.which[near]
    A, B = w * problem.tables[which, x[i], x[j]], w * problem.tables[which, x[i], y[j]]
    C, D = w * problem.tables[which, y[i], x[j]], w * problem.tables[which, y[i], y[j]]
    one, two = place[i] >= 0, place[j] >= 0
    u = u + np.bincount(place[i[one]], (C - A)[one], n) + np.bincount(place[j[two]], (B - A)[two], n)
    pairs = A + D - B - C
    real = one & two & (np.abs(pairs) > ROUNDING * (np.abs(A) + np.abs(B) + np.abs(C) + np.abs(D)))
    upper = sparse.coo_array((pairs[real], (place[i[real]], place[j[real]])), shape=(n, n)).tocsr()
    return QuadraticForm.sparse(u, upper + upper.T), sites


def fusion_mask(form: QuadraticForm) -> Masks:
    """Variables that take 1 in a mixture that is no worse than z = 0, and best if no pair is positive."""
    if form.submodular:
        return minimum_of_form(form)[1]
    return roof_duality(form).labels == 1


def fuse(problem: LabelProblem, x: Ints, energy: float, y: Ints) -> tuple[Ints, float]:
    """A mixture of x and y with an energy below that of x, and its energy; x and its own if none was found."""
    form, sites = fusion_form(problem, x, y)
    mask = fusion_mask(form)
    if not mask.any():
        return x, energy
    mixed = x.copy()
    mixed[sites[mask]] = y[sites[mask]]
    lower = problem.energy(mixed)
    return (mixed, lower) if lower < energy - problem.slack else (x, energy)
