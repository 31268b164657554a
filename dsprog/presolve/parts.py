"""Run a solver on the parts of a reduced problem, and let the monitor of the whole see it all.

With v(I) the value of what is included, the whole is v(S) = v(I) + Σ_k (v_k(S_k) - v(I)), so the bounds of the parts
add up in the same way; a part that has none yet leaves the whole without one.
"""

from __future__ import annotations

import numpy as np

from dsprog.approximate.starts import feasible_sets
from dsprog.core.problem import Problem
from dsprog.core.validation import Masks
from dsprog.functions.mutual_information import joined
from dsprog.presolve.reduce import Reduction, reduce
from dsprog.run.result import Event
from dsprog.run.run import Limits, Monitor, Verdict
from dsprog.run.solver import Solver


def solve_reduced(problem: Problem, solver: Solver, monitor: Monitor) -> Verdict:
    """Reduce, and solve what is left; without anything to gain, solve the problem as it is."""
    reduction = reduce(problem, split=monitor.limits.gap == 0)
    if not reduction.worthwhile:
        return solver.solve(Problem(joined(problem.objective), problem.constraints), monitor)
    monitor.note(reduction.sentence())
    return Parts(reduction, monitor).solve(solver)


class Parts:
    """The parts of a problem, solved one after the other, the smallest first."""

    def __init__(self, reduction: Reduction, monitor: Monitor) -> None:
        self.reduction, self.monitor = reduction, monitor
        self.components = sorted(reduction.components, key=len)
        problem, incumbent = reduction.problem, monitor.mask
        if incumbent is None and len(problem.rows):  # what is included may not be feasible by itself
            starts = feasible_sets(problem, None, np.random.default_rng(monitor.seed or 0), 1)
            monitor.offer(starts, problem.objective._values(starts), "start")
            incumbent = monitor.mask
        self.base = reduction.include if incumbent is None else reduction.include | incumbent & reduction.free
        self.at_include = float(problem.objective._values(reduction.include[None, :])[0])
        self.lower = np.full(len(self.components), -np.inf)
        self.nodes = 0

    def solve(self, solver: Solver) -> Verdict:
        """Each part to its end; those after a limit are bounded at their root only, so that the whole has a bound."""
        self._offer(self.base)
        proof = f"{self.reduction.sentence()}; "
        verdict = Verdict("optimal", proof + "nothing was left to search")
        for k in range(len(self.components)):
            ended = self._solve_part(k, solver)
            if verdict.status == "optimal":
                verdict = Verdict(ended.status, proof + ended.proof, ended.reason)
            if ended.status not in ("optimal", "time_limit", "node_limit"):
                return verdict
        if not self.components:
            self.monitor.raise_bound(self.at_include)
        return verdict

    def _solve_part(self, k: int, solver: Solver) -> Verdict:
        component, limits = self.components[k], self.monitor.limits
        seconds = None if limits.time_limit is None else max(0.0, limits.time_limit - self.monitor.seconds)
        nodes = None if limits.node_limit is None else max(0, limits.node_limit - self.nodes)
        part = self.reduction.part(component)

        def see(event: Event) -> bool:
            self._take(k, inner)
            self.monitor.progress(self.nodes + event.nodes, event.open, event.source)
            return self.monitor.stop_reason() == "callback"

        inner = Monitor(part, Limits(seconds, nodes, limits.gap), self.monitor.seed, callback=see)
        start = self.base[component][None, :]
        if part.feasible(start)[0]:
            inner.offer(start, part.objective._values(start), "start")
        try:
            return solver.solve(part, inner)
        finally:
            self._take(k, inner)
            self.nodes += inner.nodes
            self.monitor.progress(self.nodes, inner.open)

    def _take(self, k: int, inner: Monitor) -> None:
        """Let the whole have the best set and the bound of a part."""
        if inner.mask is not None:
            self.base = self.reduction.lifted(self.components[k], inner.mask, self.base)
            self._offer(self.base)
        self.lower[k] = max(self.lower[k], inner.lower_bound)
        self.monitor.raise_bound(self.at_include + float((self.lower - self.at_include).sum()))

    def _offer(self, mask: Masks) -> None:
        problem = self.reduction.problem
        if problem.feasible(mask[None, :])[0]:
            self.monitor.offer(mask[None, :], problem.objective._values(mask[None, :]), "parts")
