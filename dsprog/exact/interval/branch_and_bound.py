"""Interval branch and bound: the exact solver that users run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count
from dsprog.device.machine import check_device
from dsprog.exact.interval.applicable_bounds import KINDS
from dsprog.exact.interval.interval_search import IntervalSearch
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver

LARGEST_LEAF = 16  # 65,536 sets for each node of a batch


@dataclass(frozen=True)
class BranchAndBound(SearchSolver):
    """Interval branch and bound, the default of :func:`dsprog.minimize` where no other solver knows more.

    Parameters
    ----------
    bounds : tuple of {"modular", "dual", "monotone", "pairs"}, optional
        Which bounds to use. By default what the functions know decides: "modular" and "dual" where f and g are
        submodular, "monotone" where the objective is a sum of monotone terms and that bound is better at the root,
        with "pairs" where information with a class is rewarded and columns cost something.
    extensions : bool
        Whether the dual bound uses concave extensions of g.
    steps : int
        Subgradient steps of the dual bound at each node.
    batch : int, optional
        Nodes bounded at once; 512 on the processor and 65,536 on a card by default.
    leaf : int
        Free elements up to which a node is enumerated.
    unit : int, optional
        Nodes in a unit of work; by default some seconds of it.
    starts : int, optional
        Local searches before the search; 20 on the processor and 5 on a card by default.
    device : str
        Where nodes are bounded: "cpu", or "cuda" for a CUDA card (``pip install dsprog[cuda]``), "cuda:1" for the
        second one. Every term of the objective needs code for it; a term without is refused by name.

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.generators import concave_difference
    >>> result = ds.minimize(concave_difference(20, seed=0), ds.BranchAndBound())
    >>> result.certified
    True
    """

    bounds: tuple[str, ...] | None = None
    extensions: bool = True
    steps: int = 4
    batch: int | None = None
    leaf: int = 2
    unit: int | None = None
    starts: int | None = None
    device: str = "cpu"

    lists: ClassVar[bool] = True
    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.bounds is not None:
            names = (self.bounds,) if isinstance(self.bounds, str) else tuple(self.bounds)
            object.__setattr__(self, "bounds", names)
            for name in names or ("",):
                if name not in KINDS:
                    raise ValueError(f"bounds must be among {', '.join(KINDS)}, got {name!r}")
        check_device(self.device)
        as_count(self.steps, "steps", least=1)
        for name, least in (("batch", 1), ("unit", 1), ("starts", 0)):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), name, least=least)
        if as_count(self.leaf, "leaf") > LARGEST_LEAF:
            raise ValueError(f"leaf must be at most {LARGEST_LEAF}, got {self.leaf}: a leaf is enumerated")

    def method(self, problem: Problem, run: Run) -> IntervalSearch:
        """The search of one problem."""
        return IntervalSearch(problem, run, self)
