"""A smaller problem with the same optimum.

- *Elements fixed by constraints*, which every feasible set has or omits.
- *Elements fixed by marginals.* For S in [I, U] and j free, f(j|U∖j) - g(j|I) <= v(S ∪ j) - v(S ∖ j) <= f(j|I) -
  g(j|U∖j), v = f - g: if the left side is at least 0 some optimum omits j, if the right side is at most 0 some optimum
  has it, where the constraints let one leave out, or add, j. Elements that change nothing, or change the value by a
  constant, are among these. Repeated while I or U move.
- *Dominated elements and duplicates*: :mod:`dsprog.presolve.domination`.
- *Components*: :mod:`dsprog.presolve.components`.
- *Information.* a H(X_S | y) - a H(X_S) is written as -a I(X_S; y), which solvers bound better.

What the constraints allow is the subject of :mod:`dsprog.presolve.exchange`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.constraints import LinearRows
from dsprog.core.problem import Problem
from dsprog.core.rows import propagate
from dsprog.core.validation import Ints, Masks
from dsprog.core.views import as_difference, restriction
from dsprog.functions.mutual_information import joined
from dsprog.presolve.components import connected
from dsprog.presolve.domination import dominated
from dsprog.presolve.exchange import moves, restricted

WORTH = 0.9  # a problem is replaced if this part of its elements is left, or less


@dataclass(frozen=True)
class Reduction:
    """Which elements some optimum has, which are left to choose, in components, and how the others went."""

    problem: Problem
    include: Masks
    components: tuple[Ints, ...]
    omitted: int = 0
    dominated: int = 0

    @property
    def worthwhile(self) -> bool:
        """Whether the parts are so much smaller that looking at the functions through them pays."""
        left = sum(map(len, self.components))
        return len(self.components) > 1 or left <= WORTH * self.problem.n - 1

    @property
    def free(self) -> Masks:
        """The elements that are left to choose."""
        free = np.zeros(self.problem.n, dtype=bool)
        for component in self.components:
            free[component] = True
        return free

    def part(self, component: Ints) -> Problem:
        """The problem on one component, the included elements being there and all others not."""
        inside = np.flatnonzero(self.include)
        within = np.concatenate([inside, component])
        objective = as_difference(restriction(joined(self.problem.objective), inside, within))
        binding = moves(self.problem.rows, self.include, self.include | self.free).rows
        return Problem(objective, restricted(binding, self.include, component))

    def lifted(self, component: Ints, mask: Masks, base: Masks) -> Masks:
        """A set of one component as a set of the whole problem, elsewhere as ``base``."""
        full = base | self.include
        full[component] = mask
        return full

    def sentence(self) -> str:
        """What was found, for the log."""
        left = sum(map(len, self.components))
        found = f"{int(self.include.sum())} included, {self.omitted} omitted, {self.dominated} dominated or duplicate"
        return f"{left} of {self.problem.n} elements left ({found}) in {len(self.components)} parts"


def reduce(problem: Problem, split: bool = True) -> Reduction:
    """Fix elements, drop dominated ones, find components; a problem of unknown functions is left as it is."""
    n, objective, rows = problem.n, problem.objective, problem.rows
    I, U = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    as_it_is = Reduction(problem, I, (np.arange(n),))
    if not objective.is_certifiable or n == 0:
        return as_it_is
    I, U, feasible = fixed_by_rows(rows, I, U)
    worse = dominated(objective, I, U, moves(rows, I, U))
    I, U, still_feasible = fixed(problem, I, U & ~worse)
    if not (feasible and still_feasible):
        return as_it_is
    free = np.flatnonzero(U & ~I)
    groups = [np.flatnonzero(a) for a in moves(rows, I, U).rows.A]
    components = connected(objective, free, groups) if split else (free,)
    return Reduction(problem, I, components, int((~U & ~worse).sum()), int(worse.sum()))


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
    df, dg = objective.f._marginals(ends), objective.g._marginals(ends)
    exclude = F & (df[1] - dg[0] >= 0)
    return F & ~exclude & (df[0] - dg[1] <= 0), exclude
