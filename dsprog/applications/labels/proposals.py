"""Labellings that are worth fusing with the present one: families of moves, by name.

A family yields proposals for a labelling x; where a label is not allowed at a site, the site keeps its own. x is asked
for anew at each proposal, since a fusion may have changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from dsprog.applications.labels.label_problem import LabelProblem
from dsprog.core.validation import Ints

Family = Callable[[LabelProblem, Callable[[], Ints], np.random.Generator], Iterator[Ints]]


def expansions(problem: LabelProblem, present: Callable[[], Ints], rng: np.random.Generator) -> Iterator[Ints]:
    """All sites take α, for each label α."""
    for alpha in range(problem.count):
        yield np.full(problem.n, alpha)


def swaps(problem: LabelProblem, present: Callable[[], Ints], rng: np.random.Generator) -> Iterator[Ints]:
    """Sites with α take β and the other way round, for each pair of labels in use."""
    for alpha, beta in combinations(np.unique(present()).tolist(), 2):
        x = present()
        yield np.where(x == alpha, beta, np.where(x == beta, alpha, x))


def jumps(problem: LabelProblem, present: Callable[[], Ints], rng: np.random.Generator) -> Iterator[Ints]:
    """All sites move by 1, 2, 4, ... labels, up and down: for labels in an order, such as grey levels."""
    step = 1
    while step < problem.count:
        for by in (step, -step):
            yield np.clip(present() + by, 0, problem.count - 1)
        step *= 2


def responses(problem: LabelProblem, present: Callable[[], Ints], rng: np.random.Generator) -> Iterator[Ints]:
    """Every site takes the label that is best if its neighbours keep theirs."""
    yield problem.response(present()).argmin(axis=1)


def wanderings(problem: LabelProblem, present: Callable[[], Ints], rng: np.random.Generator) -> Iterator[Ints]:
    """Every site takes the label of a random neighbour: labels spread at random."""
    links = problem.links
    degrees = np.diff(links.indptr)
    drawn = links.indptr[:-1] + (rng.random(problem.n) * degrees).astype(np.int64)
    x = present()
    if len(links.other):
        x = np.where(degrees > 0, x[links.other[np.minimum(drawn, len(links.other) - 1)]], x)
    yield x


FAMILIES: dict[str, Family] = {
    "expansion": expansions,
    "swap": swaps,
    "jump": jumps,
    "response": responses,
    "random": wanderings,
}
