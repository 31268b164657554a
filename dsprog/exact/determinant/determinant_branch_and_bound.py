"""Modular costs minus log determinants, exactly: maximum-entropy sampling, sensors, design.

    min over S of  c(S) - Σ_k a_k log det (C_k)_S,   with or without a <= |S| <= b

A node fixes some elements in and some out. Those that are in become a Schur complement; the spectral bound Γ with a
diagonal that was optimised at the root bounds the rest, fixes more, and says where to branch. Either S or V∖S is
looked at (log det C_S = log det C + log det (C⁻¹)_{V∖S}), whichever has the better bound at the root; where the bound
of all sizes together is weak, each range of sizes has a tree of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count, as_number
from dsprog.exact.determinant.determinant_problem import SINGULAR, rewards_definite_determinants, rewards_determinants
from dsprog.exact.determinant.determinant_search import DeterminantSearch
from dsprog.run.needs import FRAME_CONSTRAINTS, Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

DETERMINANTS = Need(
    "an objective of modular terms minus LogDet or GaussianEntropy terms, seen as they are or through "
    "restrictions and complements",
    rewards_determinants,
)
DEFINITE = Need(
    f"matrices that are far from singular, their condition with the diagonal scaled to 1 below {SINGULAR:g}",
    rewards_definite_determinants,
    "add a little to the diagonal, or use the default solver",
)


@dataclass(frozen=True)
class DeterminantBranchAndBound(SearchSolver):
    """Exact selection by log determinants, the default of :func:`dsprog.minimize` for it.

    Parameters
    ----------
    steps : int
        Tangents of the bound at each node.
    wide : float
        A gap at the root, in units of the largest factor of a log det, from which on sizes are split into ranges.

    Examples
    --------
    >>> import numpy as np, dsprog as ds
    >>> points = np.random.default_rng(0).random((30, 2))
    >>> cov = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 0.1) + 0.1 * np.eye(30)
    >>> objective = ds.Modular(np.zeros(30)) - ds.GaussianEntropy(cov)
    >>> result = ds.minimize(objective, ds.DeterminantBranchAndBound(), constraints=[ds.Cardinality(5, 5)])
    >>> len(result.S), result.certified
    (5, True)
    """

    steps: int = 10
    wide: float = 0.2

    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_count(self.steps, "steps", least=1)
        as_number(self.wide, "wide")

    def needs(self) -> tuple[Need, ...]:
        """Log determinants against modular costs, and no constraints but sizes and fixed elements."""
        return DETERMINANTS, DEFINITE, FRAME_CONSTRAINTS

    def method(self, problem: Problem, run: Run) -> DeterminantSearch:
        """The search of one problem."""
        return DeterminantSearch(problem, run, self)
