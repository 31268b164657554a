"""The prismatic algorithm of Kawahara and Washio (2011), the first exact method for min f - g.

The cube is enclosed in a simplex, and min t - ĝ(x) over {f̂(x) <= t} is searched by branch and bound: branching
subdivides the simplex, bounding replaces ĝ by its interpolation at the vertices and f̂ by cutting planes and solves a
small programme with x binary. :mod:`dsprog.exact.prismatic.prism` has the five operations; this file puts them
together, one
iteration a call of :meth:`PrismSearch.expand`.

It is here because it came first and because its bounds are a yardstick. With bisection n = 6 can be hard already
where f and g are strongly curved; subdivision at the optimum gains an order of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from dsprog.core.problem import Problem
from dsprog.core.validation import as_number
from dsprog.exact.prismatic.prism_search import PrismSearch
from dsprog.exact.prismatic.records import PrismIteration
from dsprog.milp import BACKENDS
from dsprog.run.needs import Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

NO_CONSTRAINTS_WITH_LP = Need(
    "a problem without constraints where bound='lp'", lambda problem: not problem.constraints, "use bound='bilp'"
)


@dataclass(frozen=True)
class Prismatic(SearchSolver):
    """Branch and bound on prisms; as it stands, the algorithm of the paper.

    Parameters
    ----------
    bound : {"bilp", "lp"}
        "bilp" is the paper's bound. "lp" drops the condition that x is binary: an iteration is two to three
        times cheaper, the bound is weaker, and the sets on the chain of each optimum are tried.
    subdivision : {"bisection", "optimum"}
        "bisection" halves the longest edge, as in the paper, and converges in the limit only: ``tolerance`` ends it.
        "optimum" subdivides at the optimum of the programme. A binary optimum becomes a vertex, where the bound is
        exact, so that every set is met once and the search is finite, with several times fewer iterations.
    no_goods : bool
        Exclude each set that was evaluated by a row of its own. This makes bisection finite, too, and bounds rise past
        the values of known sets; the programmes grow by a row a set. It is the departure that saves most iterations.
    start_vertex : set
        The corner of the cube that is a corner of the first simplex.
    tolerance : float
        A prism is closed if its bound is this close to the best value, relative to the larger of that value and the
        largest marginal of f and g. What is reported as lower bound counts such a prism with its own bound.
    backend : {"highs", "scipy", "scip"}, optional
        Solver of the programmes; see :func:`dsprog.milp.programme`.
    watch : callable, optional
        Called with a :class:`PrismIteration` for the first simplex and after every iteration.

    Examples
    --------
    >>> import dsprog as ds
    >>> objective = ds.CardinalityConcave(4, "sqrt") - ds.Coverage([[1, 1, 0, 0], [0, 1, 1, 1]])
    >>> result = ds.minimize(objective, ds.Prismatic(subdivision="optimum"))
    >>> result.S, result.value, result.certified
    ((1,), -1.0, True)
    """

    bound: str = "bilp"
    subdivision: str = "bisection"
    no_goods: bool = False
    start_vertex: Iterable[int] = ()
    tolerance: float = 1e-6
    backend: str | None = None
    watch: Callable[[PrismIteration], object] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.bound not in ("bilp", "lp"):
            raise ValueError(f"bound must be 'bilp' or 'lp', got {self.bound!r}")
        if self.subdivision not in ("bisection", "optimum"):
            raise ValueError(f"subdivision must be 'bisection' or 'optimum', got {self.subdivision!r}")
        if self.backend is not None and self.backend not in BACKENDS:
            raise ValueError(f"backend must be {', '.join(BACKENDS)} or None, got {self.backend!r}")
        if not as_number(self.tolerance, "tolerance") >= 0:
            raise ValueError(f"tolerance must be at least 0, got {self.tolerance}")
        if self.watch is not None and not callable(self.watch):
            raise TypeError(f"watch must be a function of one PrismIteration, got {self.watch!r}")
        object.__setattr__(self, "start_vertex", tuple(self.start_vertex))

    def needs(self) -> tuple[Need, ...]:
        """Constraints are rows of binary programmes; without x binary they would bind fractional points only."""
        return (NO_CONSTRAINTS_WITH_LP,) if self.bound == "lp" else ()

    def method(self, problem: Problem, run: Run) -> PrismSearch:
        """The search of one problem."""
        return PrismSearch(problem, run, self)
