"""Solvers by name, as the command line and the experiments have them.

>>> solver_named("forward")
Greedy(direction='forward', restarts=1, seeds=0)
"""

from __future__ import annotations

from collections.abc import Callable

from dsprog.approximate.dca import DCA
from dsprog.approximate.double_greedy import DoubleGreedy
from dsprog.approximate.greedy import Greedy
from dsprog.approximate.local_search import LocalSearch
from dsprog.approximate.mod_mod import ModMod
from dsprog.approximate.ssp import SSP
from dsprog.approximate.sup_sub import SupSub
from dsprog.core.problem import Problem
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.exact.race import Race
from dsprog.exact.regression.perspective_branch_and_bound import (
    PerspectiveBranchAndBound,
    has_definite_least_squares,
)
from dsprog.exact.scip import Scip
from dsprog.run.solver import Solver

SOLVERS: dict[str, Callable[[], Solver | None]] = {
    "ssp": SSP,
    "supsub": SupSub,
    "modmod": ModMod,
    "dca": DCA,
    "cdca": lambda: DCA(complete=True),
    "forward": lambda: Greedy("forward"),
    "backward": lambda: Greedy("backward"),
    "bidirectional": lambda: Greedy("bidirectional"),
    "double": DoubleGreedy,
    "flip": LocalSearch,
    "swap": lambda: LocalSearch("swap"),
    "tabu": lambda: LocalSearch("tabu"),
    "brute": BruteForce,
    "interval": BranchAndBound,
    "compact": CompactModel,
    "prism": lambda: Prismatic(subdivision="optimum"),
    "race": Race,
    "scip": Scip,
    "exact": lambda: None,  # the default of minimize
}


def solver_named(name: str) -> Solver | None:
    """The solver of a name; None stands for the one that :func:`dsprog.minimize` chooses."""
    return SOLVERS[checked_names(name)[0]]()


def solver_on(device: str, name: str = "exact", problem: Problem | None = None) -> Solver:
    """The solver that runs on a device: of penalised least squares its own, of all else interval branch and bound.

    >>> solver_on("cuda").device
    'cuda'
    """
    if name == "exact" and problem is not None and not problem.constraints and has_definite_least_squares(problem):
        return PerspectiveBranchAndBound(device=device)
    if checked_names(name)[0] not in ("exact", "interval"):
        raise ValueError(f"device={device!r} is for the solver interval, got {name}")
    return BranchAndBound(device=device)


def checked_names(names: str) -> list[str]:
    """The names in a list with commas."""
    listed = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in listed if name not in SOLVERS]
    if unknown or not listed:
        raise ValueError(f"solvers must be among {', '.join(SOLVERS)}, got {', '.join(unknown) or 'none'}")
    return listed
