"""Which bounds fit an objective: each with what it needs, and the sets of bounds that a search may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dsprog.core.algebra import Sum
from dsprog.core.problem import Problem
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import Bound
from dsprog.exact.interval.dual_bound import DualBound
from dsprog.exact.interval.ends import Ends
from dsprog.exact.interval.majorant import Majorant
from dsprog.exact.interval.modular_bound import ModularBound
from dsprog.exact.interval.monotone_bound import MonotoneBound, monotone_parts
from dsprog.exact.interval.pairs_bound import PairsBound, has_pairs
from dsprog.exact.interval.shared_curvature import share_curvature
from dsprog.run.needs import Need, check_needs


@dataclass(frozen=True)
class Material:
    """What bounds are made of: the sides of a problem without the curvature that they share, and options.

    ``keep_all`` says that several sets are wanted, so that nothing may be fixed for the sake of one optimum, and
    ``machine`` where the nodes are.
    """

    problem: Problem
    extensions: bool = True
    steps: int = 4
    keep_all: bool = False
    machine: Machine = HOST

    @cached_property
    def sides(self) -> tuple[Sum, Sum]:
        """f and g."""
        return share_curvature(self.problem.objective.f, self.problem.objective.g)

    @property
    def monotone(self) -> tuple[Sum, Sum]:
        """The increasing and the decreasing terms, for bounds that need them."""
        sides = self.problem.derived(monotone_sides)
        if sides is None:
            raise ValueError("the terms of the objective are not all known to be monotone")
        return sides

    @cached_property
    def ends(self) -> Ends:
        """f and g at both ends of intervals."""
        return Ends(*self.sides, self.machine)

    @cached_property
    def majorant(self) -> Majorant:
        """Modular upper bounds of g."""
        return Majorant(self.sides[1], self.extensions, self.machine)


def has_monotone_terms(problem: Problem) -> bool:
    """Whether every term is known to be monotone."""
    return problem.derived(monotone_sides) is not None


def monotone_sides(problem: Problem) -> tuple[Sum, Sum] | None:
    """The increasing and the decreasing terms of the objective."""
    return monotone_parts(problem.objective)


def charges_columns(problem: Problem) -> bool:
    """Whether information with a class is rewarded and columns cost something."""
    sides = problem.derived(monotone_sides)
    return sides is not None and has_pairs(*sides)


MONOTONE_TERMS = Need(
    "an objective whose terms are all known to be monotone", has_monotone_terms, "leave bounds out, or name others"
)
CLASS_INFORMATION = Need(
    "an objective that rewards information with a class and charges columns",
    charges_columns,
    "leave bounds out, or name others",
)


@dataclass(frozen=True)
class Kind:
    """A bound by name: what it needs, whether it rests on submodular sides, and how it is made."""

    needs: tuple[Need, ...]
    submodular: bool
    make: Callable[[Material], Bound]


def modular_bound(made_of: Material) -> Bound:
    """With persistency where one optimum is enough and no row stands against it."""
    rows = made_of.problem.rows
    return ModularBound(made_of.ends, not made_of.keep_all and len(rows) == 0, rows, made_of.machine)


def dual_bound(made_of: Material) -> Bound:
    """With the rows in its minimisation."""
    rows = made_of.problem.rows
    ends = made_of.ends if len(rows) else None
    return DualBound(made_of.sides[0], made_of.majorant, rows, made_of.steps, ends, made_of.machine)


def pairs_bound(made_of: Material) -> Bound:
    """On the host only."""
    if made_of.machine is not HOST:
        raise ValueError(f"bounds: pairs has no code for device={made_of.machine.name!r}: leave bounds or device out")
    return PairsBound(*made_of.monotone)


KINDS: dict[str, Kind] = {
    "modular": Kind((), True, modular_bound),
    "dual": Kind((), True, dual_bound),
    "monotone": Kind((MONOTONE_TERMS,), False, lambda made_of: MonotoneBound(*made_of.monotone, made_of.machine)),
    "pairs": Kind((MONOTONE_TERMS, CLASS_INFORMATION), False, pairs_bound),
}


def check_named(names: tuple[str, ...], problem: Problem) -> None:
    """Refuse bounds that the user named and that the problem has no ground for."""
    for name in names:
        check_needs(f"bounds: {name}", KINDS[name].needs, problem)


def fitting(problem: Problem, majorant: Majorant, machine: Machine = HOST) -> list[tuple[str, ...]]:
    """Sets of bounds that fit an objective, by name; the best one at the root is to be taken, the first of equals.

    Where tangents are all that it needs, the dual bound goes first: it closes half of all nodes, and only the others
    need marginals at both ends. The monotone bounds compete where splitting a term lost the structure they rest on.
    """
    submodular = ("dual", "modular") if majorant.all_tangible else ("modular", "dual")
    if not has_monotone_terms(problem):
        return [submodular]
    pairs = machine is HOST and charges_columns(problem)  # packings are made on the host only
    monotone = ("monotone", "pairs") if pairs else ("monotone",)
    if not problem.objective.is_certifiable:
        return [monotone]
    lost_by_splitting = any(term.function.split() is not None for term in problem.objective.terms)
    return [submodular, monotone] if lost_by_splitting else [submodular]


def rests_on_submodularity(names: tuple[str, ...]) -> bool:
    """Whether any of some bounds needs f and g to be submodular."""
    return any(KINDS[name].submodular for name in names)
