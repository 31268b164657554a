"""Best bipartitions of attributes: the cuts that a tree is built from.

A discriminative cut minimises EAR(A) = I(A; B | C) - I(A; B) over the proper parts A of a block, B the rest; a
generative one minimises I(A; B | C), a symmetric submodular function, by Queyranne's algorithm. Given a separator s
every information is conditional on s too.

Ties. Often many cuts have the same residual (constant columns, few rows). An optimal cut is therefore *settled*:
single attributes change sides as long as the residual stays the same to 1e-9 nats and I(A; B | C) falls, or stays and
the parts get more equal in size. So parts that are independent given the class are preferred, then balanced ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.applications.tan.explaining_away import explaining_away
from dsprog.approximate.ssp import SSP
from dsprog.core.algebra import Difference
from dsprog.core.constraints import Cardinality
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_mask, elements
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.functions.mutual_information import MutualInformation
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize
from dsprog.solve.rules.number_of_sets import has_few_sets
from dsprog.submodular import minimize_submodular

SAME = 1e-9  # nats
SMALL = 8  # attributes up to which the exact method enumerates, however many rows there are
CUT_SOLVERS: dict[str, Callable[[], Solver]] = {
    "exact": lambda: BranchAndBound(starts=4),
    "prism": Prismatic,
    "ssp": lambda: SSP(restarts=5),
}


@dataclass(frozen=True)
class AttributeCut:
    """A block of attributes and the part that a cut takes out of it.

    ``value`` is the residual (or the information, if generative) of the cut, ``lower_bound`` what no cut of the block
    falls below; ``certified`` says that they meet.
    """

    block: tuple[int, ...]
    part: tuple[int, ...]
    value: float
    lower_bound: float
    certified: bool
    nodes: int
    seconds: float

    @property
    def rest(self) -> tuple[int, ...]:
        """The other part."""
        return tuple(j for j in self.block if j not in self.part)


@dataclass(frozen=True)
class Cutter:
    """Finds the best cut of a block of columns.

    Parameters
    ----------
    codes, y : coded attributes (rows, n) and classes (rows,)
    generative : bool
    method : {"exact", "prism", "ssp"}
        How a residual is minimised; the generative measure is always minimised exactly.
    time_limit : float, optional
        Seconds for each cut.
    workers : int
        Processes that share the search of an exact cut.
    """

    codes: Ints
    y: Ints
    generative: bool = False
    method: str = "exact"
    time_limit: float | None = None
    workers: int = 1

    def __call__(self, block: tuple[int, ...], given: int | None = None) -> AttributeCut:
        """The best cut of a block, given another attribute as a separator if there is one."""
        X = self.codes[:, list(block)]
        separator = None if given is None else self.codes[:, given]
        return self._generative(block, X, separator) if self.generative else self._discriminative(block, X, separator)

    def _generative(self, block: tuple[int, ...], X: Ints, separator: Ints | None) -> AttributeCut:
        found = minimize_submodular(dependence(X, self.y, separator), method="queyranne")
        part = tuple(block[k] for k in found.S)
        return AttributeCut(block, part, found.value, found.lower_bound, found.certified, found.iterations, 0.0)

    def _discriminative(self, block: tuple[int, ...], X: Ints, separator: Ints | None) -> AttributeCut:
        residual = explaining_away(X, self.y, separator)
        proper = Cardinality(1, len(block) - 1)
        enumerated = len(block) <= (SMALL if self.method == "exact" else 2)
        if self.method == "exact" and has_few_sets(Problem(residual, (proper,))):
            enumerated = True
        solver = BruteForce() if enumerated else CUT_SOLVERS[self.method]()
        constraints = () if isinstance(solver, SSP) else (proper,)
        limits: dict[str, Any] = {"time_limit": self.time_limit, "seed": 0, "workers": self.workers}
        found = minimize(residual, solver, constraints=constraints, **limits)
        mask = proper_mask(residual, found.S)
        mask = settled(residual, dependence(X, self.y, separator), mask)
        value = float(residual.values(mask[None, :])[0])
        part = tuple(block[k] for k in elements(mask))
        lower = min(found.lower_bound, value)
        return AttributeCut(block, part, value, lower, found.certified, found.nodes, found.seconds)


def dependence(X: Ints, y: Ints, separator: Ints | None) -> SetFunction:
    """I(A; B | C), or I(A; B | s, C)."""
    return MutualInformation(X, given=y if separator is None else separator * (y.max() + 1) + y)


def proper_mask(residual: Difference, S: tuple[int, ...]) -> Masks:
    """A set as a mask; the best single attribute instead of ∅ or V, where a method came to rest at one."""
    if 0 < len(S) < residual.n:
        return as_mask(S, residual.n)
    singles = np.eye(residual.n, dtype=bool)
    return singles[int(residual.values(singles).argmin())]


def settled(residual: Difference, dependence: SetFunction, mask: Masks) -> Masks:
    """Apply the rule for ties."""
    flips = np.eye(len(mask), dtype=bool)
    here = tie_order(residual, dependence, mask[None, :])[0]
    while True:
        neighbours = mask ^ flips
        neighbours = neighbours[(neighbours.any(axis=1)) & ~neighbours.all(axis=1)]
        residuals = residual.values(neighbours)
        neighbours = neighbours[residuals <= residual.values(mask[None, :])[0] + SAME]
        if len(neighbours) == 0:
            return mask
        there = tie_order(residual, dependence, neighbours)
        best = min(range(len(there)), key=lambda k: tuple(there[k]))
        if not tuple(there[best]) < tuple(here):
            return mask
        mask, here = neighbours[best], there[best]


def tie_order(residual: Difference, dependence: SetFunction, masks: Masks) -> Floats:
    """What decides between cuts of one residual, the lesser first: I(A; B | C) in steps of 1e-9, unequal sizes."""
    unequal = np.abs(2 * masks.sum(axis=1) - residual.n)
    return np.column_stack([np.round(dependence.values(masks) / SAME), unequal])


def bipartition(cut: Cutter, block: tuple[int, ...], given: int | None = None) -> list[AttributeCut]:
    """All cuts of the recursive bipartition of a block, the whole block first."""
    if len(block) < 2:
        return []
    first = cut(block, given)
    return [first, *bipartition(cut, first.part, given), *bipartition(cut, first.rest, given)]
