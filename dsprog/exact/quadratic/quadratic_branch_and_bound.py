"""The exact solver for quadratic functions of 0/1 variables: energies, QUBO, max-cut.

A submodular one is one maximum flow. Any other goes through bounds of growing strength and cost until one closes it:

1. tabu search for a good set, a short depth-first search with roof duality at every node, and path relinking;
2. if it is sparse, the odd-cycle linear programme;
3. branch and bound with the semidefinite bound or, if it is sparse and the odd-cycle bound is higher, with that.

With limits on |S|, and where the K best sets are wanted, it is the semidefinite bound alone
(:mod:`dsprog.exact.quadratic.sized_search`).

Presolve (:mod:`dsprog.presolve`) has taken out what roof duality and small degrees decide, and hands over one connected
component at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Floats, Ints, Masks, all_masks, as_count
from dsprog.exact.quadratic.form_search import FormSearch, Lift
from dsprog.exact.quadratic.path_relinking import path_relinking
from dsprog.exact.quadratic.roof_search import roof_search
from dsprog.exact.quadratic.sized_search import SizedSearch, sizes_of
from dsprog.exact.quadratic.tabu import random_starts, tabu_search
from dsprog.presolve.quadratic import form_of
from dsprog.presolve.roof import probe, roof_duality
from dsprog.run.driver import branch_and_bound
from dsprog.run.needs import Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.submodular.max_flow import minimum_of_form

ROUNDING = 1e-12  # of the scale of the coefficients: what the sums of a flow may lose
ROOF = 1e-5  # seconds that roof duality may take for an entry of the form
SHARE = 0.1  # of the time that is left: what path relinking may take
TRIAL = 5_000_000  # entries of the form that the short search may look at, nodes times entries: a third of a second
TRIAL_STEP = 1e-7  # seconds that it may take for one
FIELDS = 3.0  # times the fields that one fixed vertex makes
SMALL = 12  # variables that are enumerated
QUADRATIC = Need("a sum of cuts, Pairwise and modular functions", lambda problem: problem.derived(form_of) is not None)
SIZES = Need(
    "no constraints but on the size of S",
    lambda problem: problem.derived(sizes_of) is not None,
    "use LocalSearch or the default solver",
)


@dataclass(frozen=True)
class QuadraticBranchAndBound(Solver):
    """Exact minimisation of quadratic functions, the default of :func:`dsprog.minimize` for them.

    Parameters
    ----------
    trial : int
        Nodes of the depth-first search with roof duality that comes first, at most; 0 leaves it out.
    sparse : float
        Density up to which the odd-cycle linear programme is tried first.
    large : int
        Variables beyond which the semidefinite bound is left out.
    starts : int
        Tabu searches for the first incumbent.
    relinks : int
        Walks between good sets without a better one that end the search for incumbents; it takes at most a tenth of
        the time that is left.
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
    sparse: float = 0.25
    large: int = 250
    starts: int = 10
    relinks: int = 40
    probing: bool = False

    resumes: ClassVar[bool] = True
    lists: ClassVar[bool] = True
    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("trial", "large", "starts", "relinks"):
            as_count(getattr(self, name), name)

    def needs(self) -> tuple[Need, ...]:
        """A form, and no rows beside it but on sizes."""
        return QUADRATIC, SIZES

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """One maximum flow if that is all; else tabu search, a short search, then the long one."""
        form = problem.derived(form_of)
        if form is None:
            raise ValueError("the objective must be a sum of cuts, Pairwise and modular functions")
        steps, sizes = Steps.of(form), problem.derived(sizes_of)
        if sizes is None:
            raise ValueError("constraints must be on the size of S alone")
        if run.lists or sizes != (0, form.n):
            first_bound(form, steps, run)
            rng = np.random.default_rng(run.seed or 0)
            return branch_and_bound(SizedSearch(problem, run, form, steps, rng, sizes), run)
        if form.submodular and flow_proves(form, steps, run):
            return Verdict("optimal", "one maximum flow")
        first_bound(form, steps, run)
        return Closing(self, form, steps, run).verdict()


def is_nearly_symmetric(form: QuadraticForm) -> bool:
    """Whether E(x) and E(1 - x) hardly differ, as in max-cut with one vertex fixed.

    With x = (1 + s)/2 the fields are h_i = ½ u_i + ¼ Σ_j P_ij: 0 in a symmetric form, and ¼ P_iv once v is fixed, in
    all a quarter of the mean Σ_j |P_ij|. Without fields roof duality fixes nothing and says nothing; measured, its
    short search closed 1 of 29 max-cut problems, and 8 of 17 others.
    """
    weights = np.abs(form.pairs).sum()  # of each pair twice
    fields = np.abs(0.5 * form.u + 0.25 * np.asarray(form.pairs.sum(axis=1)).ravel()).sum()
    return bool(fields <= FIELDS * 0.25 * weights / max(1, form.n))


def first_bound(form: QuadraticForm, steps: Steps, run: Run) -> None:
    """What costs little, over all sets."""
    bounded = np.isfinite(run.lower_bound)  # by presolve
    run.raise_bound(min(form.least, run.value))
    if not bounded and run.seconds_left > ROOF * form.pairs.nnz:
        run.raise_bound(min(steps.rounded(roof_duality(form).lower), run.value))


def flow_proves(form: QuadraticForm, steps: Steps, run: Run) -> bool:
    """Offer the minimiser that a maximum flow finds; whether the flow proves it."""
    lower, minimal, _ = minimum_of_form(form)
    run.offer(minimal[None], form.values(minimal[None]), "max-flow")
    run.raise_bound(min(steps.rounded(lower - ROUNDING * form.scale), run.value))
    return run.value - run.lower_bound <= 2 * ROUNDING * form.scale


class Closing:
    """Bounds of growing strength for one form, then a search."""

    def __init__(self, options: QuadraticBranchAndBound, form: QuadraticForm, steps: Steps, run: Run) -> None:
        self.options, self.form, self.steps, self.run = options, form, steps, run
        self.rng = np.random.default_rng(run.seed or 0)
        self.elite = np.zeros((0, form.n), dtype=bool)  # what tabu search has found

    def verdict(self) -> Verdict:
        """Until one closes it, or the run says stop."""
        resuming = self.run.checkpoint is not None and self.run.checkpoint.load() is not None
        if self.form.n <= SMALL:
            return self.enumerated(self.form, as_it_is)
        form = self.form
        lift: Lift = as_it_is
        if not resuming:
            start = self.good_set()
            closed = self.short_search(start)
            if closed is not None:
                return closed
            self.relink()
            if self.options.probing:
                form, lift = self.probed()
                if form.n <= SMALL:
                    return self.enumerated(form, lift)
        steps = Steps(form.constant, self.steps.size)
        return branch_and_bound(FormSearch(self.run, form, steps, self.rng, self.options, lift), self.run)

    def good_set(self) -> Masks:
        """A set by tabu search, offered to the run."""
        starts = random_starts(self.form.n, max(1, self.options.starts), self.rng)
        if self.run.mask is not None:
            starts[0] = self.run.mask
        self.run.offer(starts[:1], self.form.values(starts[:1]), "start")
        best = starts[0]
        for first in range(0, len(starts), self._at_once):
            if self.run.stop_reason() is not None:
                break
            masks, values = tabu_search(self.form, starts[first : first + self._at_once], self.rng)
            self.elite = np.vstack([self.elite, masks])
            k = [int(values.argmin())]
            if self.run.offer(masks[k], values[k], "tabu search"):
                best = masks[k[0]]
        return best

    def relink(self) -> None:
        """Better sets by path relinking, within a tenth of the time that is left."""
        run, ends = self.run, self.run.seconds + SHARE * self.run.seconds_left

        def offer(masks: Masks, values: Floats) -> bool:
            run.offer(masks, values, "path relinking")
            return run.seconds > ends or run.stop_reason() is not None

        path_relinking(self.form, self.elite, self.rng, self.options.relinks, offer)

    @property
    def _at_once(self) -> int:
        """Tabu searches between two looks at the clock; one of 500 variables takes some milliseconds."""
        return max(1, 5000 // self.form.n)

    def short_search(self, start: Masks) -> Verdict | None:
        """A short search with roof duality; a verdict if it was enough, or if a limit was met."""
        run, entries = self.run, self.form.n + self.form.pairs.nnz
        affordable = min(TRIAL // entries, run.seconds_left / (TRIAL_STEP * entries))
        nodes = int(min(run.nodes_left, self.options.trial, affordable))
        reason = run.stop_reason()
        if reason is not None:
            return Verdict(reason, "roof duality")
        if nodes == 0 or is_nearly_symmetric(self.form):
            return None
        mask, value, used, closed = roof_search(self.form, start, self.steps, run.problem.slack, nodes)
        run.offer(mask[None], np.array([value]), "roof duality")
        run.nodes += used
        if not closed:
            return None
        self.proved()
        return Verdict("optimal", "depth-first search with roof duality")

    def probed(self) -> tuple[QuadraticForm, Lift]:
        """What probing leaves, and how its sets become sets of the whole."""
        run = self.run
        rest, labels = probe(self.form, run.value - run.problem.slack, lambda: run.stop_reason() is not None)

        return rest, partial(lifted, labels)

    def enumerated(self, form: QuadraticForm, lift: Lift) -> Verdict:
        """All sets of a small form."""
        masks = all_masks(form.n)
        values = form.values(masks)
        best = [int(values.argmin())]
        self.run.offer(lift(masks[best]), values[best], "enumeration")
        self.run.nodes += 1
        self.proved()
        return Verdict("optimal", "enumeration of a small form")

    def proved(self) -> None:
        """No set is better than the incumbent, up to rounding where values are not whole."""
        self.run.raise_bound(self.run.value - (0.0 if self.steps.size else self.run.problem.slack))


def lifted(labels: Ints, found: Masks) -> Masks:
    """Sets of the free variables as sets of all."""
    masks = np.repeat((labels == 1)[None], len(found), axis=0)
    masks[:, labels < 0] = found
    return masks


def as_it_is(found: Masks) -> Masks:
    """Sets of a form that is the whole."""
    return found
