"""The compact model: the objective as one mixed-integer programme, for large problems with structure.

Interval branch and bound needs only values of f and g and reaches dozens of dense elements. Where the terms of an
objective are sums of small parts (coverage, groups, pairs, clients), these parts as columns of a programme give bounds
that stay tight for hundreds of elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count, as_number
from dsprog.exact.compact.box_search import BoxSearch
from dsprog.exact.compact.maxima import maxima_of
from dsprog.exact.compact.threshold_search import ThresholdSearch
from dsprog.milp import BACKEND_PACKAGES
from dsprog.run.driver import Method
from dsprog.run.needs import Need, installed
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

BACKENDS = ("highs", "scip")


@dataclass(frozen=True)
class CompactModel(SearchSolver):
    """Each term as columns, rows and cuts of a programme in HiGHS; curves are branched on.

    Coverage, facility location, cuts and pairwise terms have columns of their own, large facility location threshold
    cuts; concave functions of an argument
    have tangents where they are subtracted, chords and branching on the argument where they are added. Terms without a
    model enter by their Lovász cuts (added) and Nemhauser–Wolsey cuts (subtracted).

    Parameters
    ----------
    tolerance : float
        A box is closed if its bound is this close to the best value, relative to the larger of that value and the
        largest marginal of f and g. What is reported as lower bound counts such a box with its own bound.
    starts : int
        Local searches before the programme.
    backend : {"highs", "scip"}
        What solves a box with integrality: HiGHS, again after each round of cuts, or SCIP, which takes the same cuts
        as lazy constraints while it searches (``pip install dsprog[scip]``). Relaxations are left to HiGHS.
    thresholds : bool
        Costs less best benefits (facility location, k-medoids, coverage) under rows that share no element are searched
        by threshold bounds, which come near the relaxation without a programme. False always makes the programme.

    Examples
    --------
    >>> import dsprog as ds
    >>> words = ds.Coverage([[1, 0, 1], [1, 1, 0], [0, 1, 0]])
    >>> result = ds.minimize(ds.ConcaveOf(words) - ds.Modular([0.9, 0.2, 0.8]), ds.CompactModel())
    >>> result.S, result.certified
    ((0, 2), True)
    """

    presolved: ClassVar[bool] = True

    tolerance: float = 1e-7
    starts: int = 20
    backend: str = "highs"
    thresholds: bool = True

    def __post_init__(self) -> None:
        if not as_number(self.tolerance, "tolerance") >= 0:
            raise ValueError(f"tolerance must be at least 0, got {self.tolerance}")
        as_count(self.starts, "starts")
        if not isinstance(self.thresholds, bool):
            raise TypeError(f"thresholds must be True or False, got {self.thresholds!r}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be {' or '.join(BACKENDS)}, got {self.backend!r}")

    def needs(self) -> tuple[Need, ...]:
        """What solves its programmes."""
        return tuple(installed(*BACKEND_PACKAGES[name]) for name in dict.fromkeys(("highs", self.backend)))

    def method(self, problem: Problem, run: Run) -> Method:
        """The search of one problem: by thresholds where the objective is a table and its rows are relaxed well."""
        maxima = problem.derived(maxima_of)
        if maxima is not None and self.thresholds and problem.rows.disjoint:
            return ThresholdSearch(problem, run, maxima, self.tolerance)
        return BoxSearch(problem, run, self)
