"""The exact solver for quadratic functions of 0/1 variables: energies, QUBO, max-cut.

A submodular one is one maximum flow. Otherwise it is reduced (roof duality, elimination, components), and each part
goes through bounds of growing strength and cost until one closes it:

1. tabu search for a good set, and a short depth-first search with roof duality at every node;
2. if it is sparse, the odd-cycle linear programme;
3. branch and bound with the semidefinite bound, or, if the part is large and sparse, with the odd-cycle bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.core.problem import Problem, as_problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Masks
from dsprog.exact.quadratic.odd_cycle_search import OddCycleSearch
from dsprog.exact.quadratic.roof_search import roof_search
from dsprog.exact.quadratic.semidefinite_bound import InteriorPoint
from dsprog.exact.quadratic.semidefinite_search import SemidefiniteSearch
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.functions.graph import Pairwise, upper_triangle
from dsprog.functions.table import all_masks
from dsprog.presolve.quadratic import Reduced, reduce_form
from dsprog.presolve.roof import probe, roof_duality
from dsprog.run.checkpoint import Checkpoint
from dsprog.run.driver import Bundle, Expansion, Method, branch_and_bound
from dsprog.run.run import Limits, Monitor, Verdict
from dsprog.run.solver import Solver
from dsprog.submodular.max_flow import minimum_of_form

ROUNDING = 1e-12  # of the scale of the coefficients: what the sums of a flow may lose
SMALL = 12  # variables of a part that are enumerated
NEARLY_CLOSED = 0.01  # of the gap of the bounds before: what the odd-cycle bound leaves at a root that it keeps
Lift = Callable[[Masks], Masks]


@dataclass(frozen=True)
class QuadraticBranchAndBound(Solver):
    """Exact minimisation of quadratic functions, the default of :func:`dsprog.minimize` for them.

    Parameters
    ----------
    trial : int
        Nodes of the depth-first search with roof duality that comes first; 0 leaves it out.
    sparse : float
        Density of a part up to which the odd-cycle linear programme is tried.
    large : int
        Variables of a part beyond which the semidefinite bound is left out.
    starts : int
        Tabu searches for the first incumbent.
    probing : bool
        Try both values of every variable against the incumbent before the search, by roof duality. Off by default: on
        the published instances it fixes nothing but what the short search closes faster.

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.generators import pairwise_energy
    >>> result = ds.minimize(pairwise_energy(30, seed=0), ds.QuadraticBranchAndBound())
    >>> result.value, result.certified
    (-242.0, True)
    """

    trial: int = 1000
    sparse: float = 0.05
    large: int = 250
    starts: int = 10
    probing: bool = False

    keeps_checkpoints: ClassVar[bool] = True

    def solve(self, problem: Problem, monitor: Monitor, checkpoint: Checkpoint | None = None) -> Verdict:
        """One maximum flow if that is all; else reduce, solve the small parts, then search the largest."""
        form = form_of(problem)
        if form is None:
            raise ValueError(
                f"{type(self).__name__} does not work with this problem: it needs a sum of cuts, Pairwise and modular "
                "functions without constraints"
            )
        steps = Steps.of(form)
        if form.submodular:
            lower, minimal, _ = minimum_of_form(form)
            monitor.offer(minimal[None], form.values(minimal[None]), "max-flow")
            monitor.raise_bound(min(steps.rounded(lower - ROUNDING * form.scale), monitor.value))
            if monitor.value - monitor.lower_bound <= 2 * ROUNDING * form.scale:
                return Verdict("optimal", "one maximum flow")
        monitor.raise_bound(min(steps.rounded(roof_duality(form).lower), monitor.value))
        reduced = reduce_form(form)
        return PartByPart(self, form, reduced, monitor).run(checkpoint)


def form_of(problem: Problem) -> QuadraticForm | None:
    """The quadratic form of an unconstrained problem, if it has one."""
    return None if problem.constraints else QuadraticForm.of(problem.objective)


class PartByPart:
    """Parts from the smallest to the largest; the last one is searched under the monitor of the whole.

    Its constant holds the minima of all others, so that its values and bounds are those of the whole problem.
    """

    def __init__(
        self, options: QuadraticBranchAndBound, form: QuadraticForm, reduced: Reduced, monitor: Monitor
    ) -> None:
        self.options, self.form, self.reduced, self.monitor = options, form, reduced, monitor
        self.steps = Steps.of(form)
        self.rng = np.random.default_rng(monitor.seed or 0)

    def run(self, checkpoint: Checkpoint | None) -> Verdict:
        """Solve all parts."""
        parts, masks, total = self.reduced.parts, [], self.reduced.constant
        starts = [self.tabu(part) for part, _ in parts]
        self.offer(self.reduced.lifted([mask for mask, _ in starts]), "tabu search")
        if not parts:
            self.proved(self.monitor)
            return Verdict("optimal", "roof duality and elimination of variables with few neighbours")
        for k, (part, _) in enumerate(parts[:-1]):
            local = self.local_monitor(part, *starts[k])
            verdict = self.close(part, local, lambda found: found, starts[k][0], None)
            self.monitor.nodes += local.nodes
            assert local.mask is not None
            masks.append(local.mask[None])
            self.offer(self.reduced.lifted([*masks, *(mask for mask, _ in starts[k + 1 :])]), "parts")
            if verdict.status != "optimal":
                return verdict
            total += local.lower_bound  # the value, less rounding

        def lift(found: Masks) -> Masks:
            return self.reduced.lifted([*(np.repeat(mask, len(found), axis=0) for mask in masks), found])

        last = parts[-1][0]
        return self.close(QuadraticForm(last.u, last.pairs, total), self.monitor, lift, starts[-1][0], checkpoint)

    def tabu(self, part: QuadraticForm) -> tuple[Masks, float]:
        """A good set of a part, and its value."""
        masks, values = tabu_search(part, random_starts(part.n, self.options.starts, self.rng), self.rng)
        return masks[[values.argmin()]], float(values.min())

    def proved(self, monitor: Monitor) -> None:
        """No set is better than the incumbent, up to rounding where values are not whole."""
        monitor.raise_bound(monitor.value - (0.0 if self.steps.size else monitor.problem.slack))

    def offer(self, masks: Masks, source: str) -> None:
        """Enter sets of the whole."""
        self.monitor.offer(masks, self.form.values(masks), source)

    def local_monitor(self, part: QuadraticForm, mask: Masks, value: float) -> Monitor:
        """A monitor of a part alone, with what is left of the limits."""
        limits = self.monitor.limits
        seconds = None if limits.time_limit is None else max(0.0, limits.time_limit - self.monitor.seconds)
        nodes = None if limits.node_limit is None else max(0, limits.node_limit - self.monitor.nodes)
        local = Monitor(problem_of(part), Limits(seconds, nodes), self.monitor.seed)
        local.offer(mask, np.array([value]), "tabu search")
        return local

    def close(
        self, part: QuadraticForm, monitor: Monitor, lift: Lift, start: Masks, checkpoint: Checkpoint | None
    ) -> Verdict:
        """Bounds of growing strength, then a search, under a monitor whose sets are ``lift`` of the part's."""
        if part.n <= SMALL:
            return enumerated(part, monitor, lift, self.proved)
        resuming = checkpoint is not None and checkpoint.path.exists()
        if self.options.trial and not resuming:
            verdict = self.trial(part, monitor, lift, start)
            if verdict is not None:
                return verdict
        if self.options.probing and not resuming:
            part, lift = self.probed(part, monitor, lift)
            if part.n <= SMALL:
                return enumerated(part, monitor, lift, self.proved)
        search = PartSearch(part, Steps(part.constant, self.steps.size), self.rng, self.options)
        search.lift, search.gap_before = lift, monitor.value - roof_duality(part).lower
        search.odd_cycles.stop = lambda: monitor.stop_reason() is not None
        return branch_and_bound(search, monitor, checkpoint)

    def probed(self, part: QuadraticForm, monitor: Monitor, lift: Lift) -> tuple[QuadraticForm, Lift]:
        """What probing leaves of a part, and how its sets become sets of the whole."""
        rest, labels = probe(part, monitor.value - monitor.problem.slack, lambda: monitor.stop_reason() is not None)

        def lift_rest(found: Masks) -> Masks:
            masks = np.repeat((labels == 1)[None], len(found), axis=0)
            masks[:, labels < 0] = found
            return lift(masks)

        return rest, lift_rest

    def trial(self, part: QuadraticForm, monitor: Monitor, lift: Lift, start: Masks) -> Verdict | None:
        """A short search with roof duality; a verdict if it was enough, or if a limit was met."""
        reason = monitor.stop_reason()
        if reason is not None:
            return Verdict(reason, "roof duality")
        left = math.inf if monitor.limits.node_limit is None else monitor.limits.node_limit - monitor.nodes
        mask, value, nodes, closed = roof_search(
            part,
            start[0],
            Steps(part.constant, self.steps.size),
            monitor.problem.slack,
            int(min(left, self.options.trial)),
        )
        monitor.offer(lift(mask[None]), np.array([value]), "roof duality")
        monitor.nodes += nodes
        if closed:
            self.proved(monitor)
            return Verdict("optimal", "depth-first search with roof duality")
        return None


def enumerated(part: QuadraticForm, monitor: Monitor, lift: Lift, proved: Callable[[Monitor], None]) -> Verdict:
    """All sets of a small part."""
    masks = all_masks(part.n)
    values = part.values(masks)
    best = [int(values.argmin())]
    monitor.offer(lift(masks[best]), values[best], "enumeration")
    proved(monitor)
    monitor.nodes += 1
    return Verdict("optimal", "roof duality and enumeration of what it leaves")


class PartSearch(Method):
    """Branch and bound on a part: odd cycles while it is sparse and they do well, else the semidefinite bound.

    Nodes of the two are told apart by their arrays; sets are reported as ``lift`` makes them.
    """

    def __init__(
        self, part: QuadraticForm, steps: Steps, rng: np.random.Generator, options: QuadraticBranchAndBound
    ) -> None:
        self.odd_cycles = OddCycleSearch(part, steps, rng)
        self.semidefinite = SemidefiniteSearch(part, steps, rng, InteriorPoint())
        self.sparse, self.large = part.density <= options.sparse, part.n > options.large
        self.lift: Lift = lambda found: found
        self.gap_before = math.inf
        self.used: dict[str, int] = {}

    def root(self) -> Bundle:
        """Of the bound that comes first."""
        return self.odd_cycles.root() if self.sparse else self.semidefinite.root()

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """By the bound that the node belongs to; the semidefinite one takes over a root that odd cycles leave open."""
        inner = self.semidefinite if "y" in bundle else self.odd_cycles
        found = inner.expand(bundle, cutoff)
        self.used[inner.name] = self.used.get(inner.name, 0) + 1
        bundles = found.bundles
        if inner is self.odd_cycles and bundles and (bundle["labels"] < 0).all() and not self.large:
            lower = float(bundles[0]["lower"][0])
            if float(found.values.min()) - lower > NEARLY_CLOSED * self.gap_before:
                bundles = [{**self.semidefinite.root(), "lower": np.array([lower])}]
        return Expansion(bundles, found.nodes, self.lift(found.masks), found.values, found.closed, found.source)

    def proof(self) -> str:
        """Which bounds closed the nodes."""
        names = " and ".join(self.used)
        return names if sum(self.used.values()) == 1 else f"branch and bound with {names}"


def problem_of(part: QuadraticForm) -> Problem:
    """A part as a problem of its own."""
    return as_problem(Pairwise(upper_triangle(part.pairs), part.u, part.constant), ())
