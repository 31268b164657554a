"""The bound of monotone parts: v = p + q with p increasing and q decreasing gives v(S) >= p(I) + q(U) on [I, U].

It needs no submodularity. Mutual information with a class is increasing though neither submodular nor supermodular;
an objective that is written with such terms keeps this structure, which its split into submodular parts would lose.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.algebra import LinearCombination, Sum, Term
from dsprog.core.modular import Modular
from dsprog.core.validation import Floats, Masks
from dsprog.device.machine import HOST, Machine
from dsprog.exact.interval.bound import Bound, Tightened, close, free, least
from dsprog.run.driver import Bundle


def monotone_parts(objective: LinearCombination) -> tuple[Sum, Sum] | None:
    """The increasing and the decreasing terms; None if some term is neither."""
    increasing: list[Term] = []
    decreasing: list[Term] = []
    for term in objective.terms:
        if isinstance(term.function, Modular):
            weights = term.coefficient * term.function.weights
            constant = term.coefficient * term.function.constant
            increasing.append(Term(1.0, Modular(np.maximum(weights, 0.0), constant)))
            decreasing.append(Term(1.0, Modular(np.minimum(weights, 0.0))))
        elif term.knows.increasing:
            increasing.append(term)
        elif term.knows.decreasing:
            decreasing.append(term)
        else:
            return None
    return Sum(objective.n, increasing), Sum(objective.n, decreasing)


class MonotoneBound(Bound):
    """p(I) + q(U), and fixing by the children's bounds.

    For a free j the sets that have it are >= p(I ∪ j) + q(U), those that omit it >= p(I) + q(U∖j).
    """

    name = "monotone"
    travels = ("p_I", "dp_I", "q_U", "dq_U")  # information is counted over all rows of the data

    def __init__(self, p: Sum, q: Sum, machine: Machine = HOST) -> None:
        self.p, self.q, self.machine = machine.function(p), machine.function(q), machine

    def prepare(self, nodes: Bundle) -> None:
        """p at I and q at U, with their marginals."""
        if all(key in nodes for key in self.travels):
            return
        every = self.machine.xp.arange(len(nodes["lower"]))
        for key in ("p_I", "q_U"):
            nodes[key], nodes[f"d{key}"] = self.machine.xp.empty(len(every)), self.machine.xp.empty(nodes["x"].shape)
        self._evaluate(nodes, every, every)

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """Again where an end moved."""
        self._evaluate(nodes, np.flatnonzero(include.any(axis=1)), np.flatnonzero(exclude.any(axis=1)))

    def _evaluate(self, nodes: Bundle, rows_I: np.ndarray, rows_U: np.ndarray) -> None:
        F = free(nodes)
        for function, end, key, rows in ((self.p, "I", "p_I", rows_I), (self.q, "U", "q_U", rows_U)):
            if len(rows):
                nodes[key][rows] = function.values(nodes[end][rows])
                nodes[f"d{key}"][rows] = np.abs(function.marginals(nodes[end][rows], F[rows]))

    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Raise ``lower`` to p(I) + q(U); fix j where one of its children reaches the cutoff."""
        bound = nodes["p_I"] + nodes["q_U"]
        nodes["lower"] = np.maximum(nodes["lower"], bound)
        nodes, _, closed = close(nodes, cutoff)
        F, bound = free(nodes), (nodes["p_I"] + nodes["q_U"])[:, None]
        with_j, without_j = bound + nodes["dp_I"], bound + nodes["dq_U"]
        exclude = F & (with_j >= cutoff)
        include = F & ~exclude & (without_j >= cutoff)
        closed = min(closed, least(with_j[exclude]), least(without_j[include]))
        return Tightened(nodes, include, exclude, closed)

    def scores(self, nodes: Bundle) -> Floats:
        """How far the lower of the two children's bounds rises, then the other."""
        rise, other = np.minimum(nodes["dp_I"], nodes["dq_U"]), np.maximum(nodes["dp_I"], nodes["dq_U"])
        return rise + 1e-3 * other
