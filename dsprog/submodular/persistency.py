"""Elements that every minimiser of a submodular function has, or none: they are fixed before anything is solved.

For I ⊆ S ⊆ U, submodularity gives f(j|I) >= f(j|S) >= f(j|U∖j). So within [I, U]

- f(j|I) < 0 puts j into every minimiser, since adding it always helps;
- f(j|U∖j) > 0 keeps j out of every minimiser, since removing it always helps,

and the interval shrinks, again and again. Two rows of marginals a round often leave a handful of free elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks


@dataclass(frozen=True)
class Persistency:
    """Elements ``inside`` and ``outside`` all minimisers, in the order in which they were fixed, and the ``free``."""

    inside: Ints
    outside: Ints
    free: Ints

    def restrict(self, f: SetFunction) -> SetFunction:
        """The function on the free elements."""
        return f.restrict(self.inside, np.concatenate([self.inside, self.free])) if len(self.free) < f.n else f

    def lift_sets(self, masks: Masks, n: int) -> Masks:
        """Sets of free elements as sets of the ground set, with what is inside."""
        full = np.zeros((len(masks), n), dtype=bool)
        full[:, self.inside] = True
        full[:, self.free] = masks
        return full

    def lift_base(self, f: SetFunction, base: Floats) -> Floats:
        """A point of the base polytope of f from one of f restricted to [I, U].

        Points of the base polytopes of f on I, of f on [I, U] and of f beyond U make one of f together. The increments
        of elements in the order of fixing are negative on I, and in reverse order positive beyond U, so that Σ min(0,
        s_j) loses nothing.
        """
        start = np.zeros((2, f.n), dtype=bool)
        start[1, np.concatenate([self.inside, self.free])] = True
        lifted = np.empty(f.n)
        lifted[self.free] = base
        for order, begin in ((self.inside, start[:1]), (self.outside[::-1], start[1:])):
            lifted[order] = f.chains(order[None, :], begin)[0]
        return lifted


def persistency(f: SetFunction, rise: float = 0.0) -> Persistency:
    """Fix what marginals at both ends of the interval decide beyond rounding; nothing if f may not be submodular.

    With ``rise`` > 0, what is inside all minimisers of f(S) + rise |S|, and what is outside all minimisers of f: then
    also of all the functions between, whose minimisers shrink as the slope rises.
    """
    n = f.n
    lower, upper = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    inside: list[int] = []
    outside: list[int] = []
    while f.knows.submodular is True:
        ends = np.array([lower, upper])
        at_lower, at_upper = f.marginals(ends)
        slack = 1e-12 * np.abs(f.values(ends)).max(initial=1e-300)
        enter = upper & ~lower & (at_lower + rise < -slack)
        leave = upper & ~lower & ~enter & (at_upper > slack)
        if not (enter | leave).any():
            break
        inside += np.flatnonzero(enter).tolist()
        outside += np.flatnonzero(leave).tolist()
        lower |= enter
        upper &= ~leave
    free = np.flatnonzero(upper & ~lower)
    return Persistency(np.array(inside, dtype=np.int64), np.array(outside, dtype=np.int64), free)
