"""SupSub: f replaced by a modular upper bound, then a submodular function maximised (Iyer and Bilmes 2012).

With m above f and tight at S, v(T) <= m(T) - g(T) for all T, with equality at S. Minimising m - g is maximising the
submodular g - m, which is hard; one-flip local search begins at S and so never ends higher. "grow" is tight at every
S + j and "shrink" at every S - i: where neither improves, no single flip does.
"""

from __future__ import annotations

from dataclasses import dataclass

from dsprog.approximate.local_search import descend
from dsprog.approximate.majorants import MajorantDescent
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks
from dsprog.run.run import Run


@dataclass(frozen=True)
class SupSub(MajorantDescent):
    """Search m - g locally, m a modular function above f that is tight at S, again and again.

    Its options are those of :class:`MajorantDescent`.

    >>> import dsprog as ds
    >>> ds.minimize(ds.Modular([0.3, 0.3, 0.3]) - ds.Coverage([[1, 0, 1], [0, 1, 1]]), ds.SupSub(), seed=0).S
    (2,)
    """

    def proposals(self, problem: Problem, run: Run, masks: Masks, majorants: list[Floats]) -> list[Masks]:
        """Sets that no single flip improves for m - g, from S on."""
        gains, feasible = -problem.objective.g, problem.feasible if problem.constraints else None
        return [descend(gains, masks, problem.slack, feasible, tilt=m)[0] for m in majorants]
