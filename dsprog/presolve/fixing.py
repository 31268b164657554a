"""Elements that are decided before anybody searches: by the constraints, or by marginals.

*By constraints*: every feasible set has the element, or omits it.

*By marginals*: for S in [I, U] and j free, with v = f - g and both sides submodular,

    f(j|U∖j) - g(j|I)  <=  v(S ∪ j) - v(S ∖ j)  <=  f(j|I) - g(j|U∖j).

If the left side is at least 0 some optimum omits j, if the right side is at most 0 some optimum has it, where the
constraints let one leave out, or add, j. Elements that change nothing, or change the value by a constant, are among
these. Repeated while I or U move.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.constraints import LinearRows
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Masks
from dsprog.presolve.exchange import moves
from dsprog.presolve.quadratic import free_form_of
from dsprog.presolve.step import Interval, Step, Wishes


class FixedByConstraints(Step):
    """Elements that every feasible set has, or omits."""

    keeps_all = True

    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether there are constraints."""
        return len(problem.rows) > 0

    def apply(self, problem: Problem) -> Interval | None:
        """Propagate the rows; a problem without feasible sets is left to the solver."""
        I, U, feasible = fixed_by_rows(problem.rows, *everything(problem.n))
        if not feasible or not (I.any() or not U.all()):
            return None
        return Interval(problem, I, U, f"{int(I.sum() + (~U).sum())} elements decided by constraints")


class FixedByMarginals(Step):
    """Elements that some optimum has, or omits."""

    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether marginals bound what an element changes; for a quadratic form roof duality has done more."""
        return free_form_of(problem) is None and problem.objective.is_certifiable

    def apply(self, problem: Problem) -> Interval | None:
        """Look at the marginals of both ends while the interval shrinks."""
        I, U, feasible = fixed(problem, *everything(problem.n))
        if not feasible or not (I.any() or not U.all()):
            return None
        return Interval(problem, I, U, f"{int(I.sum())} included, {int((~U).sum())} omitted")


def everything(n: int) -> tuple[Masks, Masks]:
    """The interval of all sets."""
    return np.zeros(n, dtype=bool), np.ones(n, dtype=bool)


def fixed(problem: Problem, I: Masks, U: Masks) -> tuple[Masks, Masks, bool]:
    """Ends of the interval that some optimum lies in, and whether it can hold a feasible set."""
    while True:
        I, U, feasible = fixed_by_rows(problem.rows, I, U)
        include, exclude = fixed_by_marginals(problem.objective, I, U)
        allowed = moves(problem.rows, I, U)
        include, exclude = include & allowed.addable, exclude & allowed.removable
        if not feasible or not (include.any() or exclude.any()):
            return I, U, feasible
        I, U = I | include, U & ~exclude


def fixed_by_rows(rows: LinearRows, I: Masks, U: Masks) -> tuple[Masks, Masks, bool]:
    """Ends of the interval that all feasible sets of [I, U] lie in, and whether it can hold one."""
    include, exclude, feasible = propagate(rows, {"I": I[None, :], "U": U[None, :]})
    return I | include[0], U & ~exclude[0], bool(feasible[0])


def fixed_by_marginals(objective: Difference, I: Masks, U: Masks) -> tuple[Masks, Masks]:
    """Elements to include and to exclude, if nothing but the objective counted."""
    ends, F = np.array([I, U]), U & ~I
    df, dg = objective.f.marginals(ends), objective.g.marginals(ends)
    exclude = F & (df[1] - dg[0] >= 0)
    return F & ~exclude & (df[0] - dg[1] <= 0), exclude
