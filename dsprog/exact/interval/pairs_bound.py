"""The bound of pairs, for information with a class that is rewarded and columns that cost something.

Let v = p - a I(X_S; y) + q with p increasing, q decreasing and p(S) >= p(I) + c(S∖I), c >= 0 the costs of columns.
Take pairs of rows, disjoint in their rows and in the free columns D ∩ F, none of which I tells apart. Each must either
be told apart, which costs at least the cheapest of D ∩ F and needs no column of another pair, or stay together, which
leaves ``price`` more open (:mod:`dsprog.exact.pair_pool`). So for all S in [I, U], summed over the pairs,

    v(S) >= p(I) + q(U) - a H(y) + Σ min(min_{j ∈ D ∩ F} c_j, a · price).
"""

from __future__ import annotations

import numpy as np

from dsprog.core.algebra import Sum
from dsprog.core.kernel import kernel
from dsprog.core.modular import Modular
from dsprog.core.validation import Floats, Masks
from dsprog.exact.interval.bound import Bound, Tightened, close, free
from dsprog.exact.pair_pool import PairPool
from dsprog.functions.mutual_information import MutualInformation
from dsprog.run.driver import Bundle


@kernel
def packing_kernel(first, second, differ, costs, price, taken, included, unfixed, out):
    """A packing of pairs for each node, taken greedily in the order of the pool; ``taken`` is room for all rows."""
    used = np.empty(differ.shape[1], dtype=np.bool_)
    for b in range(len(out)):
        for p in range(len(first)):
            taken[first[p]] = taken[second[p]] = False
        for j in range(len(used)):
            used[j] = included[b, j]  # a column of I tells the pair apart already
        total = 0.0
        for p in range(len(first)):
            if taken[first[p]] or taken[second[p]]:
                continue
            least, clear = price, True
            for j in range(differ.shape[1]):
                if differ[p, j]:
                    if used[j]:
                        clear = False
                        break
                    if unfixed[b, j]:
                        least = min(least, costs[j])
            if clear:
                total += least
                taken[first[p]] = taken[second[p]] = True
                for j in range(differ.shape[1]):
                    used[j] = used[j] or (differ[p, j] and unfixed[b, j])
        out[b] = total


class PairsBound(Bound):
    """p(I) + q(U) - a H(y) and a packing of pairs."""

    name = "pairs"

    def __init__(self, p: Sum, q: Sum) -> None:
        rewarded = [(a, h) for a, h in q.terms if isinstance(h, MutualInformation) and h.y is not None]
        (a, information), *_ = rewarded
        self.p, self.q = p, Sum(q.n, [(b, h) for b, h in q.terms if h is not information])
        self.most, self.price = -a * information.class_entropy, -a
        self.costs = costs(p)
        assert information.y is not None
        pool = PairPool(information.X, information.y)
        pool.enlarge(np.zeros(p.n, dtype=bool))
        order = np.argsort(pool.differ.sum(axis=1), kind="stable")
        self.pairs = pool.first[order], pool.second[order], pool.differ[order]
        self.rows = len(information.y)
        self.price *= pool.price

    def prepare(self, nodes: Bundle) -> None:
        """It keeps nothing."""

    def moved(self, nodes: Bundle, include: Masks, exclude: Masks) -> None:
        """It keeps nothing."""

    def tighten(self, nodes: Bundle, cutoff: float) -> Tightened:
        """Raise ``lower``."""
        packed, taken = np.empty(len(nodes["lower"])), np.empty(self.rows, dtype=bool)
        packing_kernel(*self.pairs, self.costs, self.price, taken, nodes["I"], free(nodes), packed)
        bound = self.p.values(nodes["I"]) + self.q.values(nodes["U"]) - self.most + packed
        nodes["lower"] = np.maximum(nodes["lower"], bound)
        nodes, _, closed = close(nodes, cutoff)
        nothing = np.zeros_like(nodes["I"])
        return Tightened(nodes, nothing, nothing, closed)

    def scores(self, nodes: Bundle) -> Floats:
        """It has no opinion."""
        return np.zeros(nodes["I"].shape)


def costs(p: Sum) -> Floats:
    """What the modular terms ask for each column."""
    return sum((b * h.weights for b, h in p.terms if isinstance(h, Modular)), np.zeros(p.n))


def has_pairs(p: Sum, q: Sum) -> bool:
    """Whether information with a class is among the decreasing terms and columns cost something: else it adds 0."""
    return any(isinstance(h, MutualInformation) and h.y is not None for _, h in q.terms) and bool(costs(p).any())
